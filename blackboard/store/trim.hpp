// Takes old events out of the log of a board. What its cells were at the new floor, and at older versions that a tag or
// a fork keeps, moves to the table `floors`; the events of such versions stay. Receipts stay for their own time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blackboard/store/event_log.hpp"
#include "blackboard/store/pins.hpp"
#include "blackboard/store/store.hpp"

namespace tafel::store {

// One step. Changes `board`, which the caller writes; events that go are dropped from `log`.
Result<Trimmed> trim(KvWrite& kv, EventLog& log, BoardRecord& board, const std::string& epoch, const TrimGoal& goal);

// After a tag or a fork has gone, what only it kept is left over: its event tells that. One step of taking it away,
// that goes on where `progress` says. False when nothing is left.
Result<bool> sweep_pins(KvWrite& kv, EventLog& log, BoardRecord& board, SweepProgress& progress, std::size_t count);

}  // namespace tafel::store
