// Writes one board from its events, unseen until all of it is there.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "blackboard/store/board_base.hpp"
#include "blackboard/store/erasures.hpp"
#include "common/base/random.hpp"

namespace tafel::store {

// What is wrong with a file that is imported.
inline tl::unexpected<Failure> wrong(std::string message) { return fail(Fault::bad_bytes, std::move(message)); }

// What the file says of a board before its events come.
struct DeclaredBoard {
  std::string id;
  Head head;  // version, time, hash, digest, floor, erased
  std::string parent;
  Version fork = 0;
};

class BoardImport {
 public:
  BoardImport(Kv& kv, Random& random, TimeMs now, DeclaredBoard declared);
  ~BoardImport();
  BoardImport(const BoardImport&) = delete;
  BoardImport& operator=(const BoardImport&) = delete;

  const DeclaredBoard& declared() const { return declared_; }
  // True when a board of this name is there with the same history: then its events are to be passed over.
  Result<bool> begin();
  Result<void> add(const BaseImage& image);
  Result<void> add(std::string_view record);  // an event
  Result<void> add(Erasure erasure);
  // All came: verifies the board and shows it. Gives the number of fields whose content was left out, which are erased.
  Result<std::size_t> finish();
  // Removes what came.
  Result<void> abandon();

 private:
  // A write transaction on its way, with what reads through it.
  struct Transaction;
  Result<Transaction*> transaction();
  Result<void> commit();

  tl::unexpected<Failure> refused_name(const BoardRecord& present) const;
  Result<void> mark_number(std::uint64_t number);
  Result<void> begin_fork(KvRead& kv);
  Result<void> find_erased_above(Transaction& transaction);
  Result<bool> is_erased_above(Transaction& transaction, const Path& path);
  bool is_of_the_base(const blackboard::Trail& trail) const;
  Result<void> check_cell(Transaction& transaction, const CellKey& key, const StoredCell& stored);
  Result<void> put_base_field(Transaction& transaction, const BaseImage& image);
  Result<void> put_base_cell(Transaction& transaction, const BaseImage& image);
  Result<void> put_older(Transaction& transaction, const BaseImage& image);
  Result<void> add_kept_event(Transaction& transaction, const Event& event);
  Result<void> begin_history(Transaction& transaction, const Event& event);
  Result<void> check_base(Transaction& transaction);
  Result<void> took(std::size_t bytes);
  Result<void> check_form(const Event& event) const;
  Result<void> apply(Transaction& transaction, const Event& event);
  Result<void> apply_known(Transaction& transaction, const Event& event, const std::vector<std::size_t>& known,
                           bool is_summable);
  Result<void> apply_blind(Transaction& transaction, const Event& event, const TouchedField& field);
  Result<void> put_event(Transaction& transaction, const Event& event);
  Result<void> erase_left_out(Transaction& transaction);
  Result<void> show(Transaction& transaction);

  Kv& kv_;
  Random& random_;
  const TimeMs now_;
  const DeclaredBoard declared_;
  BoardRecord record_;               // with the head as of the events so far
  bool has_begun_ = true;            // false: images may still come, and events from before the floor
  bool is_base_known_ = true;        // the state before the next event lacks nothing that a digest could speak of
  std::optional<Event> kept_event_;  // the newest one from before the floor
  std::set<Path> unknown_;           // fields of which some content was erased, and their erasure has not come yet
  std::vector<Erasure> erasures_;
  std::unique_ptr<Transaction> transaction_;
};

}  // namespace tafel::store
