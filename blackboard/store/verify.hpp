// Replays the log of a board and compares the outcome with what the store holds.
#pragma once

#include <string>

#include "blackboard/store/store.hpp"

namespace tafel::store {

// Damage is told as a defect; only a store that can not be read at all is a failure.
Result<VerifyReport> verify_board(KvRead& kv, const std::string& board);

}  // namespace tafel::store
