// What a board shows at a path while a delta is judged: for `expect`, for `copy` and `move`, and for `current` in
// receipts.
#pragma once

#include <optional>

#include "common/model/receipt.hpp"
#include "common/model/rights.hpp"
#include "conflict/draft.hpp"

namespace tafel::conflict {

// One present leaf. A set or log above limits::current_elements_max shows no list (nil) unless `whole`.
std::optional<Current> shown_leaf(const Draft& draft, const Path& path, bool whole);

// The value at a path: of the leaf, or nested maps of what lies below; nullopt when nothing is there, or more than
// limits::delta_leaves_max leaves are.
std::optional<Value> shown_value(const Draft& draft, const Path& path);

// The actor may read every leaf at or below the path: what shown_value shows, it may see.
bool may_read_all(const Draft& draft, const Rights& rights, const Path& path);

// The path is an index ("0", "-") below a leaf that shows a list: no field lies there.
bool is_inside_list(const Draft& draft, const Path& path);

// The version of the last change at or below the path, removed leaves included; 0 when nothing is there now.
Version last_change(const Draft& draft, const Path& path);

}  // namespace tafel::conflict
