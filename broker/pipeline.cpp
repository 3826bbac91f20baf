#include "broker/pipeline.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "blackboard/seal.hpp"
#include "broker/board_verbs.hpp"
#include "broker/deletion.hpp"
#include "broker/log.hpp"
#include "broker/schema_scope.hpp"
#include "common/base/limits.hpp"
#include "conflict/judge.hpp"

namespace tafel::broker {
namespace {

Result<VerbVerdict> judge_fields(const VerbRequest& request, const Rights& rights, const conflict::SchemaScope* scope) {
  auto judged = conflict::judge(request.transaction.view(request.delta.board), *request.schema, rights, request.delta,
                                request.stamp, scope);
  if (!judged) return VerbVerdict(tl::unexpected(std::move(judged.error())));
  return VerbJudgement{std::nullopt, std::move(*judged)};
}

Receipt blank_receipt(const Submission& submission, const std::string& epoch, Version version) {
  Receipt receipt;
  receipt.id = submission.delta.id;
  receipt.board = submission.delta.board;
  receipt.epoch = epoch;
  receipt.version = version;
  return receipt;
}

ErrorInfo error_of(ErrorCode code, std::string message) {
  ErrorInfo error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

// What is wrong with the names of a submission; nullopt when they are well-formed. They come before the store sees
// them.
std::optional<ErrorInfo> name_error(const Submission& submission) {
  if (auto defect = board_id_defect(submission.delta.board)) return error_of(ErrorCode::bad_path, "board: " + *defect);
  if (auto defect = name_defect(submission.actor)) return error_of(ErrorCode::bad_value, "actor: " + *defect);
  if (submission.delta.id.empty()) return std::nullopt;  // no idempotency wanted
  if (auto defect = name_defect(submission.delta.id)) return error_of(ErrorCode::bad_value, "id: " + *defect);
  return std::nullopt;
}

ErrorInfo id_reused(const Delta& delta) {
  return error_of(ErrorCode::id_reused, "the delta id \"" + delta.id +
                                            "\" was used for another delta on this board: send this one "
                                            "under a new id");
}

ErrorInfo wrong_epoch(const Delta& delta, const std::string& epoch) {
  ErrorInfo error = error_of(ErrorCode::wrong_epoch,
                             "the store was replaced or restored since this delta was made: read the board again "
                             "and make it anew from what you see");
  error.expected = Value(delta.epoch);
  error.found = Value(epoch);
  return error;
}

// Failures that concern single deltas: the others of the batch, and the server, can go on.
bool is_of_one_delta(const Failure& failure) {
  return failure.fault == Fault::full || failure.fault == Fault::bad_bytes;
}

ErrorInfo storage_error(const Failure& failure) {
  if (failure.fault == Fault::bad_bytes) {
    return error_of(ErrorCode::unavailable,
                    "the stored data of this board are damaged, so nothing is written to it: " + failure.message);
  }
  ErrorInfo error =
      error_of(ErrorCode::storage_full,
               "the store has no room for this delta; reading goes on, and for a while what only removes: send it "
               "again later, under the same id");
  error.retryable = true;
  return error;
}

// What an actor may know of the missing fields: those whose paths it may read, be they personal or not.
std::optional<Completeness> known_part(std::optional<Completeness> completeness, const Rights& rights) {
  if (completeness)
    std::erase_if(completeness->missing, [&](const auto& missing) { return !rights.may_read_path(missing.path); });
  return completeness;
}

void clear_field(conflict::Draft& draft, const Path& path) {
  draft.put(leaf_key(path), std::nullopt);
  for (const Part part : {Part::element, Part::entry}) {
    for (const auto& [key, cell] : draft.parts(path, part)) draft.put(key, std::nullopt);
  }
}

// A schema is the only op of its delta that can be applied.
const Op* schema_op_of(const Delta& delta) {
  const auto at =
      std::find_if(delta.ops.begin(), delta.ops.end(), [](const Op& op) { return op.verb == Verb::schema; });
  return at == delta.ops.end() ? nullptr : &*at;
}

}  // namespace

// One transaction on its way: what has been judged so far.
struct Pipeline::Run {
  store::Batch& transaction;
  const std::string& epoch;
  TimeMs now = 0;
  Committed done;
  bool writes = false;

  // Those that have versions of this transaction.
  std::set<std::string> boards() const {
    std::set<std::string> ids;
    for (const auto& event : done.events) ids.insert(event->board);
    return ids;
  }
};

Pipeline::Pipeline(store::Store& store, const RoleTable& roles, SchemaOf schema_of, Retention retention)
    : store_(store), roles_(roles), schema_of_(std::move(schema_of)), trimmer_(store, retention) {}

Result<Committed> Pipeline::commit(const std::vector<Submission>& batch, TimeMs now) {
  auto whole = commit_at_once(batch.data(), batch.size(), now);
  if (whole || !is_of_one_delta(whole.error())) return whole;
  Committed all;
  for (const Submission& submission : batch) {
    auto alone = commit_at_once(&submission, 1, now);
    if (alone) {
      all.receipts.push_back(std::move(alone->receipts.front()));
      std::move(alone->events.begin(), alone->events.end(), std::back_inserter(all.events));
    } else if (is_of_one_delta(alone.error())) {
      all.receipts.push_back(refusal_of(submission, alone.error()));
    } else {
      return alone;
    }
  }
  return all;
}

Result<std::vector<std::shared_ptr<const Event>>> Pipeline::expire(TimeMs now) {
  if (!can_expire_) return std::vector<std::shared_ptr<const Event>>();
  auto expired = expire_now(now);
  if (expired || !is_of_one_delta(expired.error())) return expired;
  can_expire_ = false;  // it would fail again, each time
  log(LogLevel::error, "expiry_stopped", {{"message", expired.error().message}});
  return std::vector<std::shared_ptr<const Event>>();
}

Result<std::vector<std::shared_ptr<const Event>>> Pipeline::expire_now(TimeMs now) {
  std::vector<std::shared_ptr<const Event>> expired;
  auto transaction = store_.begin();
  if (!transaction) return tl::unexpected(transaction.error());
  const auto next = (*transaction)->next_expiry();
  if (!next) return tl::unexpected(next.error());
  if (!*next || **next > now) return expired;
  Run run{**transaction, store_.epoch(), now, {}, false};
  auto events = (*transaction)
                    ->expire(now, limits::expiry_cells_max,
                             [&](const std::string& board, conflict::Judgement& judgement, TimeMs at) {
                               return complete(run, board, judgement, at);
                             });
  const auto durable = events ? (*transaction)->commit() : Result<void>(tl::unexpected(events.error()));
  if (!durable) {
    kept_.clear();
    return tl::unexpected(durable.error());
  }
  return events;
}

Result<bool> Pipeline::scrub() {
  if (!has_erasures_) return false;
  const auto more = scrub_once();
  has_erasures_ = more.value_or(false);
  if (more || !is_of_one_delta(more.error())) return more;
  log(LogLevel::error, "erasure_stopped", {{"message", more.error().message}});
  return false;  // until the next erasure, or the next start
}

Result<bool> Pipeline::scrub_once() {
  auto transaction = store_.begin();
  if (!transaction) return tl::unexpected(transaction.error());
  const auto more = (*transaction)->scrub(limits::erasure_step_max);
  if (!more || !*more) return more;
  if (auto durable = (*transaction)->commit(); !durable) return tl::unexpected(durable.error());
  return true;
}

Receipt Pipeline::refusal_of(const Submission& submission, const Failure& failure) {
  Receipt receipt = blank_receipt(submission, store_.epoch(), 0);
  receipt.error = storage_error(failure);
  if (auto snapshot = store_.writer_snapshot()) {
    if (const auto head = (*snapshot)->head(submission.delta.board); head && *head) receipt.version = (**head).version;
  }
  return receipt;
}

// One transaction. Nothing of it is visible, and no receipt leaves it, before it is durable.
Result<Committed> Pipeline::commit_at_once(const Submission* first, std::size_t count, TimeMs now) {
  auto transaction = store_.begin();
  if (!transaction) return tl::unexpected(transaction.error());
  Run run{**transaction, store_.epoch(), now, {}, false};
  const auto failed = [&](const Failure& failure) {
    kept_.clear();  // it may know what was never committed
    return tl::unexpected(failure);
  };
  for (const Submission* submission = first; submission != first + count; ++submission) {
    auto receipt = judge_one(run, *submission);
    if (!receipt) return failed(receipt.error());
    run.done.receipts.push_back(std::move(*receipt));
  }
  // Answers that change nothing (rejections, duplicates, dry runs) do not cost a sync.
  if (run.writes) {
    if (auto durable = run.transaction.commit(); !durable) return failed(durable.error());
  }
  return std::move(run.done);
}

// Duplicate id, then epoch, then the judge (base, expect, ops): the order of SEMANTICS 5.
Result<Receipt> Pipeline::judge_one(Run& run, const Submission& submission) {
  const Delta& delta = submission.delta;
  Receipt receipt = blank_receipt(submission, run.epoch, 0);
  if ((receipt.error = name_error(submission))) return receipt;
  const auto head = run.transaction.head(delta.board);
  if (!head) return tl::unexpected(head.error());
  receipt.version = head->version;

  std::optional<store::KnownReceipt> known;
  if (!delta.id.empty()) {
    auto found = run.transaction.known_receipt(delta.board, submission.actor, delta.id);
    if (!found) return tl::unexpected(found.error());
    known = std::move(*found);
  }
  const auto deletion = run.transaction.deletion(delta.board);
  if (!deletion) return tl::unexpected(deletion.error());
  if (*deletion) return answer_deleted(submission, **deletion, std::move(known), std::move(receipt));
  if (known) {
    const bool is_payload_kept = known->payload_hash != Sha256{};  // else it was erased
    if (is_payload_kept && known->payload_hash != delta.payload_hash) {
      receipt.error = id_reused(delta);
      return receipt;
    }
    known->receipt.duplicate = true;
    known->receipt.completeness =
        known_part(known->receipt.completeness, roles_.rights_of(submission.actor, delta.board));
    return std::move(known->receipt);
  }
  if (!delta.epoch.empty() && delta.epoch != run.epoch) {
    receipt.error = wrong_epoch(delta, run.epoch);
    return receipt;
  }
  return judge_on(run, submission, *head);
}

// Only the deletion itself is known again: what came before it is forgotten, at once or a moment later.
Receipt Pipeline::answer_deleted(const Submission& submission, const store::Deletion& deletion,
                                 std::optional<store::KnownReceipt> known, Receipt receipt) const {
  const Delta& delta = submission.delta;
  if (known && known->receipt.version == deletion.version && known->payload_hash == delta.payload_hash) {
    known->receipt.duplicate = true;
    return std::move(known->receipt);
  }
  receipt.error = deleted_error(delta.board, deletion, roles_.rights_of(submission.actor, delta.board));
  return receipt;
}

Result<Receipt> Pipeline::judge_on(Run& run, const Submission& submission, const Head& head) {
  const Delta& delta = submission.delta;
  Receipt receipt = blank_receipt(submission, run.epoch, head.version);
  // The time of events never falls within a board, whatever the clock does.
  const conflict::Stamp stamp{submission.actor, run.epoch, std::max(run.now, head.time), run.transaction.new_salt()};
  const auto kept = schema_for(run, delta.board);
  if (!kept) return tl::unexpected(kept.error());
  const auto& schema = (*kept)->stored.schema;
  const Rights rights = roles_.rights_of(submission.actor, delta.board).under(schema);
  const auto schema_of = [&](const std::string& board) -> Result<std::shared_ptr<const BoardSchema>> {
    const auto found = schema_for(run, board);
    if (!found) return tl::unexpected(found.error());
    return std::shared_ptr<const BoardSchema>(*found, &(*found)->stored);
  };
  std::optional<StoredScope> scope;
  if (schema_op_of(delta) != nullptr)
    scope.emplace(store_, run.transaction, roles_, schema_of, StoredScope::Writer{submission.actor, delta.board},
                  run.boards());
  const std::optional<Verb> verb = board_verb_of(delta);
  const auto prepare = [&](const std::string& board, conflict::Judgement& judgement, TimeMs at) {
    return complete(run, board, judgement, at);
  };
  const VerbRequest request{run.transaction, roles_, schema, delta, stamp, schema_of, prepare};
  auto verdict = verb ? judge_board_verb(request) : judge_fields(request, rights, scope ? &*scope : nullptr);
  if (!verdict) return tl::unexpected(verdict.error());
  if (const auto failed = run.transaction.failure()) return tl::unexpected(*failed);
  if (scope && scope->failure()) return tl::unexpected(*scope->failure());
  if (!*verdict) {
    receipt.error = std::move(verdict->error());
    return receipt;  // rejections are not remembered
  }
  conflict::Judgement& judged = (*verdict)->judgement;
  receipt.ops = judged.results;
  const bool changes = !judged.changes.empty();
  auto held = verb == Verb::delete_board ? std::nullopt : held_after(run, delta, **kept, judged, stamp.now);
  receipt.completeness = known_part(judged.completeness, rights);
  if (delta.check) {
    // A fork goes on from the version that it is made at.
    if (verb == Verb::fork) receipt.version = judged.base;
    receipt.version += changes ? 1 : 0;
    return receipt;
  }
  if (verb == Verb::erase) {
    // Also where nothing is left of it here: a fork may have written to it since.
    auto in_forks = erase_in_forks(request);
    if (!in_forks) return tl::unexpected(in_forks.error());
    if (!in_forks->empty()) receipt.ops.front() = OpResult{.outcome = Outcome::applied};
    for (EventPointer& event : *in_forks) run.done.events.push_back(std::move(event));
    has_erasures_ = true;
  }
  if (changes) {
    auto event = run.transaction.append((*verdict)->recorded ? *(*verdict)->recorded : delta, judged, stamp);
    if (!event) return tl::unexpected(event.error());
    if (verb == Verb::erase) {
      auto noted = run.transaction.note_erasure(
          {0, delta.board, *Path::parse(delta.ops.front().path), (*event)->version, stamp.actor, (*event)->time});
      if (!noted) return tl::unexpected(noted.error());
    }
    if (verb == Verb::delete_board) {
      has_erasures_ = true;  // the store has noted it
      trimmer_.look_at_all_again();
    }
    receipt.version = (*event)->version;
    run.done.events.push_back(std::move(*event));
    run.writes = true;
    (*kept)->held = std::move(held);
    forget_schemas(delta.board, judged.changes);
    if (verb == Verb::fork) kept_.erase(delta.board);  // it has its parent's schema
  } else if (verb == Verb::erase) {
    // No field was ever there, but the log may hold what was refused, or had no effect.
    auto noted = run.transaction.note_erasure(
        {0, delta.board, *Path::parse(delta.ops.front().path), head.version + 1, stamp.actor, stamp.now});
    if (!noted) return tl::unexpected(noted.error());
    run.writes = true;
  }
  if (!changes && !delta.id.empty()) {
    if (auto known = run.transaction.remember(delta, submission.actor, receipt, stamp.now); !known)
      return tl::unexpected(known.error());
    run.writes = true;
  }
  return receipt;
}

Result<std::shared_ptr<Pipeline::KeptSchema>> Pipeline::schema_for(Run& run, const std::string& board) {
  if (schema_of_) {
    auto given = std::make_shared<KeptSchema>();
    given->stored.schema = std::shared_ptr<const Schema>(std::shared_ptr<const Schema>(), &schema_of_(board));
    return given;
  }
  if (const auto at = kept_.find(board); at != kept_.end()) return at->second;
  auto stored = read_schema(board, [&](const std::string& of, const CellKey& key) -> Result<std::optional<Cell>> {
    const auto cell = run.transaction.view(of).cell(key);
    if (const auto failed = run.transaction.failure()) return tl::unexpected(*failed);
    return copy_of(cell);
  });
  if (!stored) return tl::unexpected(stored.error());
  auto kept = std::make_shared<KeptSchema>();
  kept->required = blackboard::required_fields(*stored->schema);
  kept->stored = std::move(*stored);
  if (kept_.size() >= limits::schema_kept_boards_max) kept_.clear();
  kept_.emplace(board, kept);
  return kept;
}

Result<void> Pipeline::complete(Run& run, const std::string& board, conflict::Judgement& judgement, TimeMs now) {
  const auto kept = schema_for(run, board);
  if (!kept) return tl::unexpected(kept.error());
  Delta of_the_server;
  of_the_server.board = board;
  (*kept)->held = held_after(run, of_the_server, **kept, judgement, now);
  return {};
}

std::optional<HeldFields> Pipeline::held_after(Run& run, const Delta& delta, const KeptSchema& kept,
                                               conflict::Judgement& judgement, TimeMs now) {
  const Op* change = schema_op_of(delta);  // what it requires counts at once
  const auto required = change == nullptr || change->path != schema_of_board
                            ? kept.required
                            : blackboard::required_fields(*schema_with(delta.board, kept.stored, delta.board,
                                                                       change->path, change->schema.get()));
  if (required.empty()) return std::nullopt;
  const auto& view = run.transaction.view(delta.board);
  conflict::Draft after(view, view.version(), now);
  for (const Change& made : judgement.changes) {
    if (made.key.part == Part::field) {
      clear_field(after, made.key.path);
    } else {
      after.put(made.key, made.image);
    }
  }
  HeldFields held = change == nullptr && kept.held ? kept.held->after(required, judgement.changes, after)
                                                   : HeldFields(required, after);
  judgement.completeness = blackboard::completeness(required, held.held());
  return held;
}

void Pipeline::forget_schemas(const std::string& board, const std::vector<Change>& changes) {
  const bool is_deleted = takes_board(changes);
  if (is_deleted) kept_.erase(board);
  for (const Change& change : changes) {
    if (!change.key.path.is_reserved()) continue;
    if (change.key.path.text() == schema_of_board) kept_.erase(board);
    if (is_deleted || change.key.path.text() == schema_of_below)
      std::erase_if(kept_, [&](const auto& entry) { return lies_below(entry.first, board); });
  }
}

}  // namespace tafel::broker
