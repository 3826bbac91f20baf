// Foreign data as text that can not be mistaken for anything else.
#pragma once

#include <string>

#include "common/model/value.hpp"

namespace tafel::context {

// `value` as JSON on one line in which `<` and `>`, line separators and invisible marks are \u escapes: it can neither
// end its line nor its frame, and a person sees all that a model sees. Reading it as JSON gives the value back.
std::string quoted(const Value& value);

}  // namespace tafel::context
