#include "cli/run.hpp"

int main(int argc, char** argv) { return tafel::cli::run({argv + 1, argv + argc}); }
