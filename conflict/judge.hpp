// The merge rules as one pure function: no I/O, clock, thread, random or global. The laws it obeys are in
// docs/semantics.md.
#pragma once

#include <functional>
#include <memory>
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

// The boards that a change of schema speaks of. Only the caller knows other boards, and how schemas add up.
class SchemaScope {
 public:
  struct Subject {
    std::string board;
    const BoardView& view;
    std::shared_ptr<const Schema> schema;  // as it would be
    Rights rights;                         // of the writer, on this board as it is
  };
  using Visitor = std::function<bool(const Subject&)>;  // false: stop

  virtual ~SchemaScope() = default;
  // The board itself, or the boards below it, with `document` (null: none) in that place. False when there are more
  // than limits::schema_checked_boards_max.
  virtual bool visit(bool below, const SchemaDocument* document, const Visitor& visit) const = 0;
};

struct Judgement {
  std::vector<OpResult> results;             // one per op
  std::vector<Change> changes;               // by cell key, each key once; empty: the delta takes no version
  Version base = 0;                          // the base it was judged at
  std::optional<Completeness> completeness;  // after the changes; the caller fills it in where a schema asks for it
};

// Judges `delta` on top of `board`. The caller has looked up the delta id already (idempotency) and applies the changes
// as version board.version() + 1. A dry run (`delta.check`) is judged like any other; it is the caller who leaves it at
// that. Without a `scope` a schema is held against the board alone, as the only one that speaks of it.
tl::expected<Judgement, ErrorInfo> judge(const BoardView& board, const Schema& schema, const Rights& rights,
                                         const Delta& delta, const Stamp& stamp, const SchemaScope* scope = nullptr);

}  // namespace tafel::conflict
