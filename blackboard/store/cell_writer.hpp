// Puts the changes of one event in place: cells, field records, and the pointers that the log keeps.
#pragma once

#include <vector>

#include "blackboard/seal.hpp"
#include "blackboard/store/board_line.hpp"
#include "blackboard/store/record_cache.hpp"

namespace tafel::store {

// Applies `changes` (by cell key, each key once) as `version` of the board whose line it is, which reads `records`. The
// first change of a field that a fork inherits takes all its cells over.
Result<blackboard::Placed> write_changes(RecordCache& records, BoardLine& line, const std::vector<Change>& changes,
                                         Version version);
// The same where no records are kept: all is written when it returns, and the line reads `kv`.
Result<blackboard::Placed> write_changes(KvWrite& kv, BoardLine& line, const std::vector<Change>& changes,
                                         Version version);

}  // namespace tafel::store
