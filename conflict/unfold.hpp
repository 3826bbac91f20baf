// JSON Patch verbs that read the board: `copy` and `move` take the value at `from` as it stands at their turn, earlier
// ops of the same delta included, and become writes of that value.
#pragma once

#include <functional>
#include <tl/expected.hpp>
#include <vector>

#include "common/model/delta.hpp"
#include "common/model/receipt.hpp"
#include "common/model/rights.hpp"
#include "conflict/draft.hpp"

namespace tafel::conflict {

// True when the delta has ops to unfold, or pointers into lists to refuse.
bool needs_unfolding(const Delta& delta);

// Runs the ops before an index on a fresh draft, so that `copy` and `move` can read it; the ops given are unfolded
// already.
using RunBefore = std::function<Draft(const std::vector<Op>& ops)>;

// The ops with values filled in; an op that can not be is malformed.
std::vector<Op> unfold(const Delta& delta, const Rights& rights, const RunBefore& run_before);

}  // namespace tafel::conflict
