// Images that outlive their events: cells, and what is known of fields, as they were before the history of their board
// begins, or at an older version that a tag or a fork keeps. An image has the version of the change that made it.
#pragma once

#include <optional>
#include <vector>

#include "blackboard/store/layout.hpp"

namespace tafel::store {

// Keeps the cell, or the field without its leaf, as it is: at the newest version of its trail.
Result<void> keep_cell(KvWrite& kv, BoardNumber number, const CellKey& key, const StoredCell& cell);
Result<void> keep_field(KvWrite& kv, BoardNumber number, const Path& path, FieldRecord record);

// The newest image at or before `version`.
Result<std::optional<StoredCell>> kept_cell(KvRead& kv, BoardNumber number, const CellKey& key, Version version);
Result<std::optional<FieldRecord>> kept_field(KvRead& kv, BoardNumber number, const Path& path, Version version);

// The versions of the images of one cell, ascending.
Result<std::vector<Version>> kept_versions(KvRead& kv, BoardNumber number, const CellKey& key);
// The cells of a field, itself included, of which images are kept, from the given one on, at most `count`.
Result<std::vector<CellKey>> kept_cells(KvRead& kv, BoardNumber number, const Path& path, const CellKey& from,
                                        std::size_t count);

// Takes away the images of all cells of the field; those of the field itself stay.
Result<void> drop_kept_cells(KvWrite& kv, BoardNumber number, const Path& path);

}  // namespace tafel::store
