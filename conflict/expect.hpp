// The guard of a delta: what its writer expects the board to be, checked against the state before the delta.
#pragma once

#include <optional>

#include "common/model/receipt.hpp"
#include "common/model/rights.hpp"
#include "conflict/draft.hpp"

namespace tafel::conflict {

// The refusal when an expectation fails (`stale`, with what was found at every guarded path), or nullopt.
std::optional<ErrorInfo> check_expect(const Draft& before, const Expect& expect, const Rights& rights);

}  // namespace tafel::conflict
