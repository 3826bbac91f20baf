// Which cells expire when. An entry that came true late, or not at all, does no harm: the cell itself is looked at.
#pragma once

#include <string>
#include <vector>

#include "blackboard/store/layout.hpp"

namespace tafel::store {

// Notes each time at which something of the cell expires.
Result<void> note_expiry(KvWrite& kv, const std::string& board, BoardNumber number, const CellKey& key,
                         const Cell& cell);

// Takes the entries up to `now` out of the index, the oldest first, at most `count`.
Result<std::vector<ExpiringCell>> take_due(KvWrite& kv, TimeMs now, std::size_t count);

// Looks at `count` entries after `cursor`, a key ("": from the first), and takes those out that name a cell at or below
// `path` which does not expire then any more: an element's id can be its value. True at the end of the index.
Result<bool> drop_stale(KvWrite& kv, BoardNumber number, const Path& path, std::string& cursor, std::size_t count);

// The time of the first entry; nullopt when there is none.
Result<std::optional<TimeMs>> next_due(KvRead& kv);

}  // namespace tafel::store
