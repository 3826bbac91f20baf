// Holds one value against the rule of its field: type, enum, range, length, pattern, states. What a step of a state
// machine needs besides (the present state) is the judge's.
#pragma once

#include <optional>
#include <string>

#include "common/model/schema.hpp"

namespace tafel {

struct Violation {
  std::string rule;   // "type", "enum", "range", "max_length", "pattern", "transitions"
  std::string right;  // what would be right, to stand after "must be" or "must"
  Value expected;     // the same as data: {"range": [0, 4]}
};

std::optional<Violation> find_violation(const FieldRule& rule, const Value& value);

}  // namespace tafel
