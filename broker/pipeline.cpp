#include "broker/pipeline.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "blackboard/seal.hpp"
#include "broker/board_verbs.hpp"
#include "common/base/limits.hpp"
#include "conflict/judge.hpp"

namespace tafel::broker {
namespace {

const Schema no_schema;

Result<VerbVerdict> judge_fields(const VerbRequest& request, const Rights& rights) {
  auto judged = conflict::judge(request.transaction.view(request.delta.board), request.schema, rights, request.delta,
                                request.stamp);
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

}  // namespace

// One transaction on its way: what has been judged so far.
struct Pipeline::Run {
  store::Batch& transaction;
  const std::string& epoch;
  TimeMs now = 0;
  Committed done;
  bool writes = false;
};

Pipeline::Pipeline(store::Store& store, const RoleTable& roles, SchemaOf schema_of)
    : store_(store), roles_(roles), schema_of_(std::move(schema_of)) {}

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
  std::vector<std::shared_ptr<const Event>> expired;
  const auto next = store_.next_expiry();
  if (!next) return tl::unexpected(next.error());
  if (!*next || **next > now) return expired;
  auto transaction = store_.begin();
  if (!transaction) return tl::unexpected(transaction.error());
  auto events = (*transaction)->expire(now, limits::expiry_cells_max);
  if (!events) return tl::unexpected(events.error());
  if (auto durable = (*transaction)->commit(); !durable) return tl::unexpected(durable.error());
  for (Event& event : *events) expired.push_back(std::make_shared<const Event>(std::move(event)));
  return expired;
}

Result<bool> Pipeline::scrub() {
  if (!has_erasures_) return false;
  auto transaction = store_.begin();
  if (!transaction) return tl::unexpected(transaction.error());
  const auto more = (*transaction)->scrub(limits::erasure_step_max);
  if (!more) return more;
  has_erasures_ = *more;
  if (!*more) return false;
  if (auto durable = (*transaction)->commit(); !durable) return tl::unexpected(durable.error());
  return true;
}

Receipt Pipeline::refusal_of(const Submission& submission, const Failure& failure) {
  Receipt receipt = blank_receipt(submission, store_.epoch(), 0);
  receipt.error = storage_error(failure);
  if (auto snapshot = store_.snapshot()) {
    if (const auto head = (*snapshot)->head(submission.delta.board); head && *head) receipt.version = (**head).version;
  }
  return receipt;
}

// One transaction. Nothing of it is visible, and no receipt leaves it, before it is durable.
Result<Committed> Pipeline::commit_at_once(const Submission* first, std::size_t count, TimeMs now) {
  auto transaction = store_.begin();
  if (!transaction) return tl::unexpected(transaction.error());
  Run run{**transaction, store_.epoch(), now, {}, false};
  for (const Submission* submission = first; submission != first + count; ++submission) {
    auto receipt = judge_one(run, *submission);
    if (!receipt) return tl::unexpected(receipt.error());
    run.done.receipts.push_back(std::move(*receipt));
  }
  // Answers that change nothing (rejections, duplicates, dry runs) do not cost a sync.
  if (run.writes) {
    if (auto durable = run.transaction.commit(); !durable) return tl::unexpected(durable.error());
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

  if (!delta.id.empty()) {
    auto known = run.transaction.known_receipt(delta.board, submission.actor, delta.id);
    if (!known) return tl::unexpected(known.error());
    const bool is_payload_kept = *known && (*known)->payload_hash != Sha256{};  // else it was erased
    if (is_payload_kept && (*known)->payload_hash != delta.payload_hash) {
      receipt.error = id_reused(delta);
      return receipt;
    }
    if (*known) {
      (*known)->receipt.duplicate = true;
      return std::move((*known)->receipt);
    }
  }
  if (!delta.epoch.empty() && delta.epoch != run.epoch) {
    receipt.error = wrong_epoch(delta, run.epoch);
    return receipt;
  }
  return judge_on(run, submission, *head);
}

Result<Receipt> Pipeline::judge_on(Run& run, const Submission& submission, const Head& head) {
  const Delta& delta = submission.delta;
  Receipt receipt = blank_receipt(submission, run.epoch, head.version);
  // The time of events never falls within a board, whatever the clock does.
  const conflict::Stamp stamp{submission.actor, run.epoch, std::max(run.now, head.time), run.transaction.new_salt()};
  const Schema& schema = schema_of_ ? schema_of_(delta.board) : no_schema;
  const Rights rights = roles_.rights_of(submission.actor, delta.board);
  const std::optional<Verb> verb = board_verb_of(delta);
  const VerbRequest request{run.transaction, roles_, schema, delta, stamp};
  auto verdict = verb ? judge_board_verb(request) : judge_fields(request, rights);
  if (!verdict) return tl::unexpected(verdict.error());
  if (const auto failed = run.transaction.failure()) return tl::unexpected(*failed);
  if (!*verdict) {
    receipt.error = std::move(verdict->error());
    return receipt;  // rejections are not remembered
  }
  const conflict::Judgement& judged = (*verdict)->judgement;
  receipt.ops = judged.results;
  const bool changes = !judged.changes.empty();
  if (delta.check) {
    // A fork goes on from the version that it is made at.
    if (verb == Verb::fork) receipt.version = judged.base;
    receipt.version += changes ? 1 : 0;
    return receipt;
  }
  if (changes) {
    if (verb == Verb::erase) {
      auto in_forks = erase_in_forks(request);
      if (!in_forks) return tl::unexpected(in_forks.error());
      for (Event& event : *in_forks) run.done.events.push_back(std::make_shared<const Event>(std::move(event)));
    }
    auto event = run.transaction.append((*verdict)->recorded ? *(*verdict)->recorded : delta, judged, stamp);
    if (!event) return tl::unexpected(event.error());
    if (verb == Verb::erase) {
      auto noted = run.transaction.note_erasure(
          {0, delta.board, *Path::parse(delta.ops.front().path), event->version, stamp.actor, event->time});
      if (!noted) return tl::unexpected(noted.error());
      has_erasures_ = true;
    }
    receipt.version = event->version;
    run.done.events.push_back(std::make_shared<const Event>(std::move(*event)));
    run.writes = true;
  } else if (!delta.id.empty()) {
    if (auto kept = run.transaction.remember(delta, submission.actor, receipt, stamp.now); !kept)
      return tl::unexpected(kept.error());
    run.writes = true;
  }
  return receipt;
}

}  // namespace tafel::broker
