// The verbs that are about a whole board, or about its history: fork, merge, erase, tag, delete. Each is the only op of
// its delta. They write reserved paths, or take whole fields away, or the whole board, which no other op may.
#pragma once

#include <tl/expected.hpp>

#include "blackboard/store/store.hpp"
#include "broker/schema_scope.hpp"
#include "common/model/rights.hpp"

namespace tafel::broker {

// The verb of a delta that consists of one of them; nullopt for every other delta.
std::optional<Verb> board_verb_of(const Delta& delta);

struct VerbRequest {
  store::Batch& transaction;
  const RoleTable& roles;
  const std::shared_ptr<const Schema>& schema;  // of the delta's board
  const Delta& delta;
  const conflict::Stamp& stamp;
  StoredScope::SchemaOf schema_of;  // of any board
  store::Prepare prepare;           // for events on other boards than the delta's
};

struct VerbJudgement {
  std::optional<Delta> recorded;  // in place of the delta: a merge is recorded as the ops that it came to
  conflict::Judgement judgement;
};
using VerbVerdict = tl::expected<VerbJudgement, ErrorInfo>;

// Judges the delta. A fork is made in the transaction here (unless `delta.check`), so that its first event can be
// appended.
Result<VerbVerdict> judge_board_verb(const VerbRequest& request);

// Erases in the boards that were forked from the delta's board, the deepest first, before it is done there: what a fork
// inherits is known only as long as its parent has it. Gives their events.
Result<std::vector<EventPointer>> erase_in_forks(const VerbRequest& request);

}  // namespace tafel::broker
