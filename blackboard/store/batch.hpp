// One write transaction on the boards of a store.
#pragma once

#include <map>
#include <memory>

#include "blackboard/store/receipts.hpp"
#include "blackboard/store/record_cache.hpp"
#include "blackboard/store/store.hpp"
#include "blackboard/store/view.hpp"

namespace tafel::store {

// What the write transactions of a store hand on from one to the next: decoded records and events.
struct KeptForWriting {
  RecordCache records;
  std::shared_ptr<EventCache> events = std::make_shared<EventCache>(EventCache::Limits{
      limits::store_kept_events_min, limits::store_written_events_max, limits::store_written_events_bytes});
};

class StoreBatch final : public Batch {
 public:
  StoreBatch(std::unique_ptr<KvWrite> kv, std::shared_ptr<KeptForWriting> kept, const std::string& epoch,
             Random& random);
  ~StoreBatch() override;

  Result<Head> head(const std::string& board) override;
  Result<std::optional<Deletion>> deletion(const std::string& board) override;
  const conflict::BoardView& view(const std::string& board) override;
  std::optional<Failure> failure() const override { return failure_; }
  Result<std::optional<KnownReceipt>> known_receipt(const std::string& board, const std::string& actor,
                                                    const std::string& delta_id) override;
  std::string new_salt() override;
  Result<bool> fork(const std::string& board, const std::string& parent, Version version) override;
  Result<void> note_erasure(const Erasure& erasure) override;
  Result<bool> scrub(std::size_t count) override;
  Result<Trimmed> trim(const std::string& board, const TrimGoal& goal) override;
  Result<bool> sweep_pins(const std::string& board, SweepProgress& progress, std::size_t count) override;
  Result<bool> keeps(const std::string& board, Version version) override;
  Result<std::optional<Origin>> origin(const std::string& board) override;
  Result<std::vector<Path>> own_fields(const std::string& board, std::size_t count) override;
  Result<std::vector<std::string>> forks_of(const std::string& board) override;
  Result<std::optional<TimeMs>> next_expiry() override;
  Result<std::vector<EventPointer>> expire(TimeMs now, std::size_t count, const Prepare& prepare) override;
  Result<EventPointer> append(const Delta& delta, const conflict::Judgement& judgement,
                              const conflict::Stamp& stamp) override;
  Result<void> remember(const Delta& delta, const std::string& actor, const Receipt& receipt, TimeMs now) override;
  Result<void> commit() override;

 private:
  struct OpenBoard {
    OpenBoard(BoardRecord from, BoardLine its_line, std::optional<Failure>& failure)
        : record(std::move(from)), line(std::move(its_line)), view(line, record, failure) {}
    OpenBoard(const OpenBoard&) = delete;

    BoardRecord record;  // as left by what was appended so far; written at commit
    BoardLine line;
    bool is_changed = false;
    View view;
  };

  // The board, read at first use.
  Result<OpenBoard*> open(const std::string& board);
  Result<void> give_number(const std::string& id, OpenBoard& board);
  Result<void> renew_line(const std::string& id, OpenBoard& board);
  Result<void> bury(OpenBoard& board, const Event& event);
  Result<EventPointer> write_event(OpenBoard& board, const Delta& delta, const conflict::Judgement& judgement,
                                   const conflict::Stamp& stamp);
  Result<void> write_receipt(OpenBoard& board, const Delta& delta, const Receipt& receipt, const std::string& actor,
                             TimeMs now);
  Result<KnownReceipt> remade(BoardNumber number, const ReceiptRecord& record, const std::string& actor,
                              const std::string& delta_id);
  // A failure inside a batch makes all of it worthless: keeps it, so that nothing half done can be committed.
  template <class T>
  Result<T> kept(Result<T> result) {
    if (!result && !failure_) failure_ = result.error();
    return result;
  }

  // Everything that was appended stands in the transaction, where the store's own work reads and changes it; what was
  // kept decoded is forgotten.
  Result<void> go_past_records();
  // Reads what this batch keeps.
  std::shared_ptr<Records> records() { return {std::shared_ptr<Records>(), &kept_->records}; }

  std::unique_ptr<KvWrite> kv_;
  std::shared_ptr<KeptForWriting> kept_;
  EventLog log_;
  bool is_committed_ = false;
  bool has_appended_ = false;
  const std::string& epoch_;
  Random& random_;
  std::optional<Failure> failure_;
  std::map<std::string, OpenBoard> boards_;
};

}  // namespace tafel::store
