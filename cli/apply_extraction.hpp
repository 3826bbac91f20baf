// `apply --extraction`: one answer of a language model becomes one delta.
#pragma once

#include <string>

#include "cli/arguments.hpp"
#include "cli/output.hpp"

namespace tafel::cli {

Result<Exit> apply_extraction(const Arguments& arguments, const std::string& board, Output& output);

}  // namespace tafel::cli
