// Reads the records of boards: heads, fields and the cells of fields.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "blackboard/store/layout.hpp"

namespace tafel::store {

// The record of a board; one with BoardNumber::none where nothing was ever written.
Result<BoardRecord> get_board(KvRead& kv, const std::string& board);

using FieldVisitor =
    std::function<Result<bool>(std::string_view key, const Path& path, FieldRecord record)>;  // false: stop

// Fields at and below `path` (nullopt: all), tombstones too, in store order, from the record key `from` on.
Result<void> scan_fields(KvRead& kv, BoardNumber number, const std::optional<Path>& path, std::string_view from,
                         const FieldVisitor& visit);

// Visits what `scan` tells strictly below `path` in path order; `scan` goes in store order.
Result<void> in_path_order(const Path& path, const FieldVisitor& visit,
                           const std::function<Result<void>(const FieldVisitor&)>& scan);

// The record of one field; nullopt where nothing was ever written.
Result<std::optional<FieldRecord>> get_field(KvRead& kv, BoardNumber number, const Path& path);

Result<std::optional<StoredCell>> get_part(KvRead& kv, BoardNumber number, const CellKey& key);

// A cell, be it the leaf in its field's record or a part.
Result<std::optional<StoredCell>> get_cell(KvRead& kv, BoardNumber number, const CellKey& key);

using PartVisitor = std::function<Result<bool>(const CellKey& key, StoredCell record)>;  // false: stop

// The cells of one part of one field, tombstones too, in the order of their ids.
Result<void> scan_parts(KvRead& kv, BoardNumber number, const Path& path, Part part, const PartVisitor& visit);
// Those of all its parts but the leaf, one part after the other, from the given one on.
Result<void> scan_all_parts(KvRead& kv, BoardNumber number, const Path& path, Part from_part, std::string_view from_id,
                            const PartVisitor& visit);

}  // namespace tafel::store
