// Boards that were deleted: what is read of them.
#pragma once

#include <string>
#include <vector>

#include "blackboard/seal.hpp"
#include "blackboard/store/event_log.hpp"
#include "blackboard/store/store.hpp"

namespace tafel::store {

// How the board of this record was deleted; nullopt when it was not.
Result<std::optional<Deletion>> deletion_of(EventLog& log, const BoardRecord& board);

// The record of the last event, where it lies within the versions asked for.
Result<std::vector<std::string>> last_event_record(KvRead& kv, const BoardRecord& board, Version from, Version to);

// The change that takes the whole board, as seen by the one who seals it: it replaces every cell.
Result<blackboard::Placed> place_deletion(const Head& head);

}  // namespace tafel::store
