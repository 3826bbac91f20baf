// The commit pipeline: a value in and a value out. Judges a batch of submissions in order, makes all of it durable with
// one sync, and only then gives back receipts and events. The one caller of Batch::commit.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "blackboard/store/store.hpp"
#include "broker/held_fields.hpp"
#include "broker/schemas.hpp"
#include "broker/trimmer.hpp"
#include "common/model/rights.hpp"
#include "common/model/schema.hpp"

namespace tafel::broker {

// One delta with its authenticated actor.
struct Submission {
  std::string actor;
  Delta delta;
};

struct Committed {
  std::vector<Receipt> receipts;                     // one per submission, in order
  std::vector<std::shared_ptr<const Event>> events;  // of this batch, in order of commit
};

class Pipeline {
 public:
  // In place of the stored schemas, for tests.
  using SchemaOf = std::function<const Schema&(const std::string& board)>;

  Pipeline(store::Store& store, const RoleTable& roles, SchemaOf schema_of = nullptr, Retention retention = {});

  // `now` is the wall time. Where the store has no room for the whole batch, or finds damage in a board of it, each
  // delta is tried alone, and those that still fail get a receipt that says so. A failure means that nothing of the
  // batch may be answered: the state on disk is unknown, the caller stops and recovers.
  Result<Committed> commit(const std::vector<Submission>& batch, TimeMs now);

  // Takes away what has expired by `now`, a bounded part of it; the events are durable. A failure is one of `commit`;
  // damage, or a full store, is logged and ends the sweep until the next start, as reads honour expiry without it.
  Result<std::vector<std::shared_ptr<const Event>>> expire(TimeMs now);

  // Goes a bounded step on with what erasures and deletions left to do. False when there is nothing. Damage is logged
  // and ends it likewise; the ledger then tells that the erasure is pending.
  Result<bool> scrub();

  // Takes a bounded step of old history away. False when there is nothing.
  Result<bool> trim(TimeMs now) { return trimmer_.step(now); }

 private:
  struct Run;
  // What is kept of a board: its schema, and what it requires.
  struct KeptSchema {
    BoardSchema stored;
    std::vector<blackboard::RequiredField> required;
    std::optional<HeldFields> held;  // nullopt: not looked up yet
  };
  using KeptSchemas = std::map<std::string, std::shared_ptr<KeptSchema>>;

  Result<Committed> commit_at_once(const Submission* first, std::size_t count, TimeMs now);
  Result<Receipt> judge_one(Run& run, const Submission& submission);
  // What a delta to a deleted board is answered: the tombstone decides, whatever was on its way.
  Receipt answer_deleted(const Submission& submission, const store::Deletion& deletion,
                         std::optional<store::KnownReceipt> known, Receipt receipt) const;
  Result<Receipt> judge_on(Run& run, const Submission& submission, const Head& head);
  Result<std::shared_ptr<KeptSchema>> schema_for(Run& run, const std::string& board);
  // Sets the completeness of a judgement of the server's own.
  Result<void> complete(Run& run, const std::string& board, conflict::Judgement& judgement, TimeMs now);
  // Which required fields hold a value once the judgement is applied; nullopt where the schema requires none. Sets the
  // judgement's completeness.
  std::optional<HeldFields> held_after(Run& run, const Delta& delta, const KeptSchema& kept,
                                       conflict::Judgement& judgement, TimeMs now);
  void forget_schemas(const std::string& board, const std::vector<Change>& changes);
  Result<std::vector<std::shared_ptr<const Event>>> expire_now(TimeMs now);
  Result<bool> scrub_once();
  Receipt refusal_of(const Submission& submission, const Failure& failure);

  store::Store& store_;
  const RoleTable& roles_;
  SchemaOf schema_of_;
  Trimmer trimmer_;
  KeptSchemas kept_;  // as the transaction under way sees them: none is kept when one fails
  bool can_expire_ = true;
  bool has_erasures_ = true;  // or deletions, that are not done; looked at once at the start
};

}  // namespace tafel::broker
