// Completeness → Value, as answers and receipts have it: {"score": 0.5, "missing": [{"path", "label"}, …]}.
#pragma once

#include "common/base/result.hpp"
#include "common/model/completeness.hpp"
#include "common/model/value.hpp"

namespace tafel::codec {

Value completeness_to_value(const Completeness& completeness);
Result<Completeness> completeness_from_value(const Value& value);

}  // namespace tafel::codec
