// Replays the log of a board and compares the outcome with what the store holds.
#pragma once

#include <functional>
#include <string>

#include "blackboard/store/layout.hpp"
#include "blackboard/store/store.hpp"

namespace tafel::store {

// Damage is told as a defect; only a store that can not be read at all is a failure.
Result<VerifyReport> verify_board(KvRead& kv, const std::string& board);

// The same of a board that was deleted: what is left of its log is a chain that ends with its deletion, and when it is
// purged nothing else is left. Defects are given to `note`; Fault::bad_bytes is one more.
Result<void> verify_deleted(KvRead& kv, const BoardRecord& board, VerifyReport& report,
                            const std::function<void(std::string defect)>& note);

}  // namespace tafel::store
