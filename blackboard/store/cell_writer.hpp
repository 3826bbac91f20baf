// Puts the changes of one event in place: cells, field records, and the pointers that the log keeps.
#pragma once

#include <vector>

#include "blackboard/seal.hpp"
#include "blackboard/store/layout.hpp"

namespace tafel::store {

// Applies `changes` (by cell key, each key once) as `version` and gives what stood there before, one entry per change.
Result<std::vector<blackboard::CellBefore>> write_changes(KvWrite& kv, BoardNumber number,
                                                          const std::vector<Change>& changes, Version version);

}  // namespace tafel::store
