// The merge rules as one pure function: no I/O, clock, thread, random or global. The laws it obeys are in
// docs/semantics.md.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "common/model/completeness.hpp"
#include "common/model/receipt.hpp"
#include "common/model/rights.hpp"
#include "common/model/schema.hpp"
#include "conflict/board_view.hpp"

namespace tafel::conflict {

// What the judgement needs from outside the board.
struct Stamp {
  std::string actor;
  std::string epoch;  // of the store
  TimeMs now = 0;     // of the event; at or above the time of the event before it
  std::string salt;   // 16 random bytes, for this delta alone
};

struct Judgement {
  std::vector<OpResult> results;             // one per op
  std::vector<Change> changes;               // by cell key, each key once; empty: the delta takes no version
  Version base = 0;                          // the base it was judged at
  std::optional<Completeness> completeness;  // after the changes; the caller fills it in where a schema asks for it
};

// Judges `delta` on top of `board`. The caller has looked up the delta id already (idempotency) and applies the changes
// as version board.version() + 1. A dry run (`delta.check`) is judged like any other; it is the caller who leaves it at
// that.
tl::expected<Judgement, ErrorInfo> judge(const BoardView& board, const Schema& schema, const Rights& rights,
                                         const Delta& delta, const Stamp& stamp);

}  // namespace tafel::conflict
