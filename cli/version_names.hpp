// Versions on the command line: a number, or the name that `tag` gave.
#pragma once

#include <optional>
#include <string>

#include "cli/connection.hpp"
#include "common/model/delta.hpp"

namespace tafel::cli {

// The version that `text` stands for on the board; `what` names it in the message when it is none.
Result<Version> version_from(Connection& connection, const std::string& board, const std::string& text,
                             std::string_view what);
// An option that takes a version; nullopt when it is not given.
Result<std::optional<Version>> version_option(Connection& connection, const std::string& board,
                                              const Arguments& arguments, std::string_view name);

// The version with this name; nullopt when none has it.
Result<std::optional<Version>> tagged_version(Connection& connection, const std::string& board,
                                              const std::string& name);

}  // namespace tafel::cli
