// The help texts, made of the commands' own descriptions.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace tafel::cli {

std::string program_help(const std::vector<const Command*>& commands);
std::string command_help(const Command& command);
std::string usage_line(const Command& command);  // "tafel get BOARD [PATH] [--at V] …"

}  // namespace tafel::cli
