// First pass over a delta: the form of every op is checked, and maps are spread over their leaves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/receipt.hpp"
#include "common/model/schema.hpp"
#include "conflict/board_view.hpp"

namespace tafel::conflict {

// One leaf that an op speaks of. An `unset` or `revert` is one task for everything at and below its path.
struct Task {
  enum class Type : std::uint8_t {
    set,
    patch,
    add_item,
    incr,
    max,
    min,
    append,
    unset,
    unset_entry,
    accept,
    dismiss,
    schema,
    revert,
    blank
  };
  Task(Type task_type, Path task_path) : type(task_type), path(std::move(task_path)) {}

  Type type;
  Path path;
  Value value;             // set, add_item, incr (the amount), max, min, append; schema: the document
  std::vector<Value> add;  // patch, without blanks and duplicates
  std::vector<Value> remove;
  std::optional<std::vector<Value>> reset;
  Mark mark;              // unset_entry, accept, dismiss
  bool is_direct = true;  // the op names this leaf; false when spread from a map
  bool is_list = false;   // set: a list that says something; at a set field it speaks of every element
};

struct PlannedOp {
  const Op* op = nullptr;
  std::size_t index = 0;
  std::vector<Task> tasks;
  std::optional<std::int64_t> ttl_ms;
  bool speaks_of_register = false;  // accept: what it takes over is a value, or an unset, of the whole leaf
  std::optional<ErrorInfo> error;   // its form is wrong, or the judge has rejected it
};

// Plans one op; the error is in the result.
PlannedOp plan_op(const Op& op, std::size_t index, const Schema& schema);

ErrorInfo refusal(ErrorCode code, std::size_t op, std::string path, std::string message);

}  // namespace tafel::conflict
