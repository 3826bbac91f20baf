// `verify --deep`: of a data directory, without asking a server.
#pragma once

#include "cli/arguments.hpp"

namespace tafel::cli {

Result<Exit> run_deep_verify(const Arguments& arguments, Output& output);

}  // namespace tafel::cli
