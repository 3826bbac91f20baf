// The value at `$retention`: {"versions": n, "age_ms": n, "bytes": n}, each member 1 or more, each may be left out.
#pragma once

#include "common/base/result.hpp"
#include "common/model/retention.hpp"
#include "common/model/value.hpp"

namespace tafel::codec {

// The message of a failure says what would be right.
Result<Retention> retention_from_value(const Value& value);
Value retention_to_value(const Retention& retention);

}  // namespace tafel::codec
