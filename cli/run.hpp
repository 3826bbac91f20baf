// The program `tafel`: one command a call. Data goes to standard output, messages go to standard error.
#pragma once

#include <string>
#include <vector>

namespace tafel::cli {

// `arguments` without the name of the program. Returns the exit code (command.hpp).
int run(std::vector<std::string> arguments);

}  // namespace tafel::cli
