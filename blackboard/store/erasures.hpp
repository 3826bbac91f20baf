// The ledger of erasures and of deleted boards, and the work that each leaves behind. When the event of an erasure is
// committed, the cells are gone; then the log, the receipts and the index of expiry are gone through, a part at a time,
// until nothing of what was erased is left in them. Of a board that was deleted everything goes (purge.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blackboard/store/event_log.hpp"

namespace tafel::store {

struct Erasure {
  std::uint64_t sequence = 0;
  std::string board;
  Path path;            // `$board`: the whole board was deleted
  Version version = 0;  // of the event that took the cells
  std::string actor;
  TimeMs time = 0;
  bool is_done = false;  // nothing is left of it
};

// Enters an erasure whose event has just been appended.
Result<void> note_erasure(KvWrite& kv, const Erasure& erasure);

// Erasures from `sequence` on, at most `count`.
Result<std::vector<Erasure>> list_erasures(KvRead& kv, std::uint64_t sequence, std::size_t count);

// Whether some entry of the ledger is not done.
Result<bool> has_pending_erasures(KvRead& kv);

// Goes through at most `count` records for the oldest entry that is not done. False when all are done. Events that it
// rewrites are dropped from `log`.
Result<bool> scrub(KvWrite& kv, EventLog& log, std::size_t count);

}  // namespace tafel::store
