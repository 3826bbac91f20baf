// What expires leaves the board by an event of the actor `system`, so that a replay agrees.
#pragma once

#include <vector>

#include "conflict/judge.hpp"

namespace tafel::blackboard {

inline constexpr const char* system_actor = "system";

// The changes that take away what has expired by `now` in these cells. A cell that was written to since, and expires
// later or never, stays as it is.
conflict::Judgement expire(const conflict::BoardView& board, const std::vector<CellKey>& cells, TimeMs now);

}  // namespace tafel::blackboard
