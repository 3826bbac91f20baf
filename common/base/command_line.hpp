// What Boost.Program_options lets pass on a command line.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace tafel {

// Refuses "--at --server": an option whose value was forgotten would take the next option for it. `tokens` is one parsed
// option as it was typed (`option.original_tokens`). A value that begins so is given as "--at=--server".
Result<void> check_value_given(const std::vector<std::string>& tokens);

}  // namespace tafel
