// What two states of a board differ in, as ops: a delta of them, with the first state as its base, says what was done
// between the two. So a fork is merged back.
#pragma once

#include <functional>
#include <vector>

#include "blackboard/board.hpp"
#include "common/model/rights.hpp"

namespace tafel::blackboard {

// The highest confidence that the writer may use on the path; ops claim what the second state has, at most this.
using CapOf = std::function<Confidence(const Path&)>;

// The ops that lead from `before` to `after` in the fields named by `paths` (in order). A register's other values and
// suggestions are left out: they are for the board where they came up. What has expired by `now` is absent.
std::vector<Op> net_changes(const Board& before, const Board& after, const std::vector<Path>& paths, TimeMs now,
                            const CapOf& cap_of);

}  // namespace tafel::blackboard
