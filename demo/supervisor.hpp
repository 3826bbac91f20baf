// Runs the demo: starts the server and the agents, shows what they report, evaluates, and ends everything that it
// started.
#pragma once

#include "demo/options.hpp"

namespace tafel::demo {

// The exit code of the program.
int run_demo(const Options& options);

}  // namespace tafel::demo
