#include "cli/run.hpp"
#include "common/base/descriptors.hpp"

int main(int argc, char** argv) {
  tafel::open_standard_descriptors();
  return tafel::cli::run({argv + 1, argv + argc});
}
