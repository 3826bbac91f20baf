// Carries out on a store what a ledger of erasures and deleted boards says and the store's own ledger does not: an
// older backup that was put back holds what was erased since.
#pragma once

#include <vector>

#include "blackboard/store/erasures.hpp"
#include "blackboard/store/store.hpp"

namespace tafel::broker {

struct ReplayedErasures {
  std::size_t carried_out = 0;
  std::size_t known = 0;    // the store has erased that, then or later
  std::size_t skipped = 0;  // of boards that are not there
};

// To be called before anybody reads. Each erasure becomes an event of its actor, with forks as ever; then the history
// is gone through to the end, also for erasures that were pending before. A failure means that something may still be
// there that was to go.
Result<ReplayedErasures> replay_erasures(store::Store& store, std::vector<store::Erasure> ledger, TimeMs now);

}  // namespace tafel::broker
