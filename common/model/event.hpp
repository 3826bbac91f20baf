// The record of one version of a board: who did what, what became of it, and the cells as they are afterwards.
#pragma once

#include <string>
#include <vector>

#include "common/base/hash.hpp"
#include "common/model/cell.hpp"
#include "common/model/delta.hpp"
#include "common/model/receipt.hpp"

namespace tafel {

// A change with its way back through the log: the version of the change of the same cell before it, and a jump further
// back (skew-binary jump pointers: any older version is found in O(log n) steps). 0 = none.
struct LoggedChange {
  Change change;
  Version previous = 0;
  Version jump = 0;
};

struct Event {
  std::string board;
  Version version = 0;
  TimeMs time = 0;  // never goes back within a board
  std::string actor;
  std::string delta_id;
  Version base = 0;
  bool atomic = true;
  Source source;
  std::vector<Op> ops;                // as submitted
  std::vector<OpResult> results;      // one per op
  std::vector<LoggedChange> changes;  // by cell key, each key once
  Sha256 payload_hash{};
  std::string salt;        // 16 random bytes: value hashes of the chain are salted with it
  Sha256 previous_hash{};  // zero for version 1
  Sum128 digest;           // of the state after this event
  Sha256 hash{};           // the chain: covers all of the above, each value by its salted hash
};

// The newest version of a board.
struct Head {
  Version version = 0;
  TimeMs time = 0;
  Sha256 hash{};
  Sum128 digest;
  Version floor = 0;  // oldest base that can be judged
};

}  // namespace tafel
