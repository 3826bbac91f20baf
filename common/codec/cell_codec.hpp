// Reads what model/cell.cpp writes (its grammar is there), and shows cells to people as maps.
#pragma once

#include "common/base/result.hpp"
#include "common/model/cell.hpp"

namespace tafel::codec {

Result<Cell> cell_from_value(const Value& value);
Result<CellKey> cell_key_from_value(const Value& value);
Result<Source> source_from_value(const Value& value);  // [kind, ref, [evidence…], trace]
Value source_to_map(const Source& source);             // {"kind","ref","evidence","trace"}, empty members left out
Result<Source> source_from_map(const Value& value);    // unknown members and wrong types are refused

}  // namespace tafel::codec
