#include <cstdio>

#include "demo/agent_process.hpp"
#include "demo/options.hpp"
#include "demo/supervisor.hpp"

int main(int argc, char** argv) {
  const auto options = tafel::demo::parse_options({argv + 1, argv + argc});
  if (!options) {
    std::fprintf(stderr, "tafel_demo: %s\nsee tafel_demo --help\n", options.error().message.c_str());
    return 2;
  }
  if (options->text) {
    std::fputs(options->text->c_str(), stdout);
    return 0;
  }
  if (options->agent) return tafel::demo::run_agent(*options->agent);
  return tafel::demo::run_demo(*options);
}
