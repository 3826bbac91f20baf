// One op ↔ its map, for deltas and for the ops that an event keeps.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/model/cell.hpp"
#include "common/model/delta.hpp"

namespace tafel::codec {

// Reads an op of the `ops` list: the verbs of SEMANTICS with dot paths, and those of JSON Patch (add, replace, remove,
// move, copy) with pointers; also a malformed op in the form that op_to_value writes. What is wrong with it goes to
// Op::malformed. `test` is no op: see delta_codec.cpp.
Op op_from_value(const Value& value);

Value op_to_value(const Op& op);
// The same, written at once; `values` writes it as a whole (exact or canonical).
void write_op(PackWriter& out, const Op& op, ValueSink& values);

// As op_from_value, for a map that op_to_value wrote: a malformed op is read back as it was. A failure when the map is
// no op.
Result<Op> recorded_op_from_value(const Value& value);

// The dot path of a pointer; a failure when it is no path (also for "", the whole document).
Result<std::string> path_from_pointer(std::string_view pointer);

// Names after each other for a message: "a, b and c".
std::string spoken_list(const std::vector<std::string_view>& names);

// Why `name` is not understood: "unknown confidence "sure"; it is one of guess, …".
std::string confidence_defect(const Value& name);

}  // namespace tafel::codec
