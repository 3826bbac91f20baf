// The record of one version of a board: who did what, what became of it, and the cells as they are afterwards.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/base/hash.hpp"
#include "common/model/completeness.hpp"
#include "common/model/field.hpp"
#include "common/model/receipt.hpp"

namespace tafel {

// A change with its way back through the log: the version of the change of the same cell before it, and a jump further
// back (skew-binary jump pointers: any older version is found in O(log n) steps). 0 = none.
struct LoggedChange {
  Change change;
  Version previous = 0;
  Version jump = 0;
};

// A field that the event changed, as it is afterwards, with its way back through the log as that of a change.
struct TouchedField {
  Path path;
  FieldInfo info;
  Version previous = 0;
  Version jump = 0;
};

// What of an event can be erased as one: the payload hash, an op with its result, or the content of a change. The chain
// hashes each by its own hash, salted with a salt of its own.
struct Piece {
  std::string salt;              // 16 bytes; empty: made from the event's
  std::optional<Sha256> erased;  // set: the content is gone, and the salt with it; this is the hash it had
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
  std::vector<Op> ops;                       // as submitted; of an erased one the verb and the path
  std::vector<OpResult> results;             // one per op; of an erased one the outcome and the reason
  std::vector<LoggedChange> changes;         // by cell key, each key once; of an erased one the path and the part
  std::vector<TouchedField> fields;          // by path, each path once
  std::optional<Completeness> completeness;  // where the schema requires fields
  Sha256 payload_hash{};                     // zero when it was erased
  std::string salt;  // 16 random bytes; empty once something was erased: it would tell the salt of that
  // The payload hash, then the ops, then the changes; empty: all are there, with salts made from the event's.
  std::vector<Piece> pieces;
  Sha256 previous_hash{};  // zero for version 1
  Sum128 digest;           // of the state after this event
  Sha256 hash{};           // the chain: covers all of the above, each piece by its hash
};

using EventPointer = std::shared_ptr<const Event>;

// The newest version of a board.
struct Head {
  Version version = 0;
  TimeMs time = 0;
  Sha256 hash{};
  Sum128 digest;
  Version floor = 0;   // oldest base that can be judged
  Version erased = 0;  // newest version at which something was erased: digests of older ones can not be remade
};

// A change that takes more than one cell, without naming them.
inline bool takes_more(const CellKey& key) { return key.part == Part::field || key.part == Part::board; }

// True when the event took all cells of some field, or of the board, so that nothing leads back to them.
inline bool takes_fields(const Event& event) {
  return std::any_of(event.changes.begin(), event.changes.end(),
                     [](const LoggedChange& logged) { return takes_more(logged.change.key); });
}

// The change by which a board is deleted stands alone in its event, which is the last one.
inline bool takes_board(const std::vector<Change>& changes) {
  return changes.size() == 1 && changes.front().key.part == Part::board;
}
inline bool takes_board(const Event& event) {
  return event.changes.size() == 1 && event.changes.front().change.key.part == Part::board;
}

// A copy of the board at this version, or a newer one, can be kept by applying events. Across an erasure it can not:
// the events before it lack what was erased, and no digest fits.
inline Version followable_from(const Head& head) { return std::max(head.floor, head.erased > 0 ? head.erased - 1 : 0); }

}  // namespace tafel
