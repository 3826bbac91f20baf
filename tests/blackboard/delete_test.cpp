// Deleted boards in the store: a tombstone from the commit on, a purge in steps that may be cut off anywhere, and
// nothing left of what the board held.
#include <map>
#include <set>

#include "blackboard/expiry.hpp"
#include "blackboard/store/record.hpp"
#include "common/codec/event_codec.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::add_element;
using testing::append_entry;
using testing::expiring;
using testing::gone;
using testing::hold;
using testing::is_same;
using testing::must;
using testing::NaiveHistory;
using testing::OnMemory;
using testing::OpenStore;
using testing::path_of;
using testing::RandomChanges;
using testing::set_leaf;

const std::string canary = "身份证110101199402280012";
using Defects = std::vector<std::string>;

std::vector<Change> whole_board() { return {{board_key(), std::nullopt}}; }

template <class Place>
class DeleteTest : public ::testing::Test {
 protected:
  OpenStore<Place> store_;

  Event remove(const std::string& board, const std::string& id = "deletion") {
    return store_.commit(board, whole_board(), id, 5000);
  }
  std::optional<Deletion> deletion(const std::string& board) { return must(must(store_->snapshot())->deletion(board)); }
  std::vector<std::string> boards() {
    std::vector<std::string> ids;
    for (const BoardSummary& summary : must(must(store_->snapshot())->boards("", 100))) ids.push_back(summary.board);
    return ids;
  }
  // One step of what is left to do, in a transaction of its own; false when nothing was left.
  bool step(std::size_t count = 1) {
    const auto batch = must(store_->begin());
    if (!must(batch->scrub(count))) return false;
    must(batch->commit());
    return true;
  }
  bool fork(const std::string& board, const std::string& parent, Version version) {
    const auto batch = must(store_->begin());
    if (!must(batch->fork(board, parent, version))) return false;
    must(batch->append(testing::delta_for(board), testing::judgement_of({set_leaf("of the fork", 1, version + 1)}),
                       testing::stamp_at(1000)));
    must(batch->commit());
    return true;
  }
  // A board with every kind of record: fields, parts, events, receipts, entries of the index of expiry.
  void fill(const std::string& board) {
    store_.commit(board, {set_leaf("a", canary, 1), add_element("国家", canary, 1)}, "first");
    store_.commit(board, {expiring(set_leaf("a", canary + "!", 2), 9'000'000), hold("a", canary, 2)}, "second");
    store_.commit(board, {append_entry("log", canary, 3), expiring(add_element("国家", canary + "?", 3), 9'000'001)});
    store_.commit(board, {gone(element_key(path_of("国家"), canary))}, "fourth");
  }
  // The records that belong to the board of this number, by table.
  std::map<std::string, std::size_t> records_of(std::uint64_t number) {
    store_.close();
    std::map<std::string, std::size_t> counts;
    const auto kv = store_.place().open();
    const auto read = must(kv->read());
    const std::string prefix = board_prefix(static_cast<BoardNumber>(number));
    for (const Table table : {Table::fields, Table::parts, Table::events, Table::receipts, Table::receipt_queue,
                              Table::forks, Table::floors, Table::expiry}) {
      must(read->scan(table, {}, [&](std::string_view key, std::string_view) {
        const std::string_view owner = table == Table::expiry ? key.substr(8) : key;
        if (owner.starts_with(prefix)) ++counts[table_name(table)];
        return true;
      }));
    }
    return counts;
  }
};
TYPED_TEST_SUITE(DeleteTest, testing::Places, testing::PlaceNames);

TYPED_TEST(DeleteTest, TheLastEventTakesEveryCellAndLeavesTheDigestOfNothing) {
  this->fill("trip");
  blackboard::Board mirror = this->store_.load("trip");
  const Event last = this->remove("trip");
  EXPECT_EQ(last.version, 5U);
  EXPECT_EQ(last.digest, Sum128{});
  ASSERT_TRUE(takes_board(last));
  EXPECT_TRUE(last.fields.empty());
  EXPECT_EQ(codec::chain_hash(must(codec::decode_event(codec::encode_event(last)))), last.hash);
  mirror.apply(last.version, {last.changes.front().change});
  EXPECT_TRUE(mirror.cells().empty());
  EXPECT_EQ(mirror.digest(), last.digest);
  EXPECT_EQ(this->store_.head("trip").digest, last.digest);
}

TYPED_TEST(DeleteTest, ReadsAsEmptyFromTheCommitOn) {
  this->fill("trip");
  this->store_.commit("other", {set_leaf("a", 1, 1)});
  this->remove("trip");
  EXPECT_TRUE(this->store_.load("trip").cells().empty());
  const auto snapshot = must(this->store_->snapshot());
  EXPECT_TRUE(must(snapshot->cells("trip", std::nullopt, "", testing::unbounded)).cells.empty());
  EXPECT_TRUE(must(snapshot->fields("trip", path_of("a"), 10)).empty());
  EXPECT_EQ(must(snapshot->event_records("trip", 5, 5, testing::unbounded)).size(), 1U);
  EXPECT_TRUE(must(snapshot->event_records("trip", 1, 4, testing::unbounded)).empty());
  EXPECT_EQ(followable_from(this->store_.head("trip")), 4U);
  EXPECT_EQ(this->boards(), std::vector<std::string>{"other"});
  const auto found = this->deletion("trip");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, 5U);
  EXPECT_EQ(found->time, 5000);
  EXPECT_EQ(found->actor, "planner");
  EXPECT_FALSE(found->is_purged);
  EXPECT_FALSE(this->deletion("other"));
  EXPECT_FALSE(this->deletion("never"));
  EXPECT_EQ(this->store_.defects("trip"), Defects());
}

TYPED_TEST(DeleteTest, AWriterSeesItGoneInTheSameBatch) {
  this->fill("trip");
  const auto batch = must(this->store_->begin());
  must(batch->append(testing::delta_for("trip", "d"), testing::judgement_of(whole_board()), testing::stamp_at(5000)));
  EXPECT_FALSE(batch->view("trip").cell(leaf_key(path_of("a"))));
  EXPECT_EQ(must(batch->deletion("trip")).value().version, 5U);
  EXPECT_FALSE(must(batch->fork("trip-b", "trip", 5)));
  EXPECT_FALSE(must(batch->fork("trip", "trip", 5)));
  must(batch->commit());
}

TYPED_TEST(DeleteTest, ThePurgeLeavesTheRecordTheLastEventAndItsReceipt) {
  this->fill("trip");
  this->fill("other");
  const auto untouched = this->records_of(2);
  this->store_.reopen();
  this->remove("trip");
  EXPECT_TRUE(this->store_.holds(canary));
  this->store_.reopen();
  int steps = 0;
  while (this->step()) {
    ++steps;
    // Whatever is gone already: it verifies, and is done only when nothing is left.
    EXPECT_EQ(this->store_.defects("trip"), Defects()) << "after step " << steps;
    this->store_.reopen();
  }
  EXPECT_GT(steps, 2);
  EXPECT_TRUE(this->deletion("trip")->is_purged);
  const auto report = must(this->store_->verify("trip"));
  EXPECT_EQ(report.events, 1U);
  EXPECT_EQ(report.cells, 0U);
  EXPECT_EQ(report.version, 5U);
  EXPECT_EQ(report.defects, Defects());
  EXPECT_EQ(this->store_.defects("other"), Defects());
  const std::map<std::string, std::size_t> left{{"events", 1}, {"receipts", 1}, {"receipt_queue", 1}};
  EXPECT_EQ(this->records_of(1), left);
  EXPECT_EQ(this->records_of(2), untouched);
}

TYPED_TEST(DeleteTest, NothingOfWhatItHeldIsLeftInAnyRecord) {
  this->fill("trip");
  this->fill("trip/b");
  this->remove("trip");
  this->remove("trip/b", "");
  EXPECT_TRUE(this->store_.holds(canary));
  this->store_.reopen();
  while (this->step(3)) {
  }
  EXPECT_FALSE(this->store_.holds(canary));
  EXPECT_EQ(this->records_of(2), (std::map<std::string, std::size_t>{{"events", 1}}));
}

TYPED_TEST(DeleteTest, TheReceiptOfTheDeletionStaysAndNoOther) {
  this->fill("trip");
  this->remove("trip");
  do {  // also while events are gone and their receipts are not
    const auto batch = must(this->store_->begin());
    const auto known = must(batch->known_receipt("trip", "planner", "deletion"));
    ASSERT_TRUE(known);
    EXPECT_EQ(known->receipt.version, 5U);
    for (const char* id : {"first", "second", "fourth"})
      EXPECT_FALSE(must(batch->known_receipt("trip", "planner", id))) << id;
  } while (this->step());
}

TYPED_TEST(DeleteTest, ItsErasuresUnderWayAreDoneWithIt) {
  this->fill("trip");
  {
    const auto batch = must(this->store_->begin());
    const EventPointer erased =
        must(batch->append(testing::delta_for("trip"), testing::judgement_of({{field_key(path_of("a")), std::nullopt}}),
                           testing::stamp_at(1000)));
    must(batch->note_erasure({0, "trip", path_of("a"), erased->version, "planner", 1000}));
    must(batch->commit());
  }
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(this->step());  // it has come to the receipts
  this->remove("trip");
  int steps = 0;
  for (; this->step(); ++steps) {
    const auto ledger = must(this->store_->erasures(0, 10));
    ASSERT_EQ(ledger.size(), 2U);
    // Neither is told as done before all is gone.
    EXPECT_LE(ledger[0].is_done, this->deletion("trip")->is_purged);
    EXPECT_LE(ledger[1].is_done, ledger[0].is_done);
  }
  const auto ledger = must(this->store_->erasures(0, 10));
  EXPECT_TRUE(ledger[0].is_done && ledger[1].is_done);
  EXPECT_EQ(ledger[1].path.text(), "$board");
  EXPECT_EQ(ledger[1].version, 6U);
  EXPECT_FALSE(this->store_.holds(canary));
}

TYPED_TEST(DeleteTest, ADeletedForkLeavesItsParentAsItWas) {
  this->fill("trip");
  const auto before = this->store_.load("trip");
  ASSERT_TRUE(this->fork("trip-b", "trip", 3));
  this->remove("trip-b");
  EXPECT_TRUE(must(must(this->store_->begin())->forks_of("trip")).empty());
  EXPECT_TRUE(this->store_.load("trip-b").cells().empty());
  EXPECT_EQ(this->store_.head("trip-b").digest, Sum128{});
  EXPECT_EQ(this->store_.defects("trip-b"), Defects());
  while (this->step()) {
  }
  EXPECT_TRUE(is_same(this->store_.load("trip"), before));
  EXPECT_EQ(this->store_.defects("trip"), Defects());
  this->remove("trip");
  while (this->step()) {
  }
  EXPECT_EQ(this->store_.defects("trip-b"), Defects());
  EXPECT_FALSE(this->store_.holds(canary));
}

TYPED_TEST(DeleteTest, AForkThatIsMadeAndDeletedInOneBatchIsNoForkOfItsParent) {
  this->store_.commit("trip", {set_leaf("a", 1, 1)});
  auto batch = must(this->store_->begin());
  ASSERT_TRUE(must(batch->fork("trip-b", "trip", 1)));
  must(batch->append(testing::delta_for("trip-b"), testing::judgement_of({set_leaf("b", 1, 2)}), testing::stamp_at(1)));
  must(batch->append(testing::delta_for("trip-b"), testing::judgement_of(whole_board()), testing::stamp_at(2)));
  EXPECT_TRUE(must(batch->forks_of("trip")).empty());
  must(batch->append(testing::delta_for("trip"), testing::judgement_of(whole_board()), testing::stamp_at(3)));
  must(batch->commit());
  batch.reset();
  while (this->step(2)) {
  }
  for (const char* board : {"trip", "trip-b"}) EXPECT_EQ(this->store_.defects(board), Defects()) << board;
  EXPECT_EQ(this->records_of(2), (std::map<std::string, std::size_t>{{"events", 1}}));
}

TYPED_TEST(DeleteTest, ATrimmedBoardGoesWithWhatItsFloorKept) {
  this->fill("trip");
  const TrimGoal goal{4, std::nullopt, 100, 1000, 1 << 20};
  {
    const auto batch = must(this->store_->begin());
    EXPECT_EQ(must(batch->trim("trip", goal)).events, 3U);
    must(batch->commit());
  }
  EXPECT_GT(this->records_of(1)["floors"], 0U);
  this->store_.reopen();
  this->remove("trip");
  {
    const auto batch = must(this->store_->begin());
    SweepProgress progress;
    EXPECT_EQ(must(batch->trim("trip", {9, std::nullopt, 100, 1000, 1 << 20})).events, 0U);
    EXPECT_FALSE(must(batch->sweep_pins("trip", progress, 10)));
    must(batch->commit());
  }
  EXPECT_EQ(this->store_.defects("trip"), Defects());
  while (this->step()) {
    EXPECT_EQ(this->store_.defects("trip"), Defects());
  }
  EXPECT_FALSE(this->store_.holds(canary));
  const std::map<std::string, std::size_t> left{{"events", 1}, {"receipts", 1}, {"receipt_queue", 1}};
  EXPECT_EQ(this->records_of(1), left);
}

TYPED_TEST(DeleteTest, NothingOfItExpiresAnyMore) {
  this->fill("trip");
  this->remove("trip");
  const auto prepare = [](const std::string&, conflict::Judgement&, TimeMs) { return Result<void>(); };
  {
    const auto batch = must(this->store_->begin());
    EXPECT_TRUE(must(batch->expire(10'000'000, 100, prepare)).empty());
    must(batch->commit());
  }
  EXPECT_EQ(this->store_.head("trip").version, 5U);
  EXPECT_FALSE(must(must(this->store_->begin())->next_expiry()));
}

TYPED_TEST(DeleteTest, DeletedBoardsAreListedInPagesByTheirIds) {
  for (const char* board : {"a", "b", "c", "d"}) this->store_.commit(board, {set_leaf("x", 1, 1)});
  for (const char* board : {"d", "b", "a"}) this->remove(board);
  const auto snapshot = must(this->store_->snapshot());
  const auto first = must(snapshot->deleted_boards("", 2));
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].board, "a");
  EXPECT_EQ(first[1].board, "b");
  const auto rest = must(snapshot->deleted_boards("b", 2));
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].board, "d");
  EXPECT_EQ(rest[0].deletion.version, 2U);
  EXPECT_TRUE(must(snapshot->deleted_boards("", 0)).empty());
}

TYPED_TEST(DeleteTest, RandomBoardsGoWithoutATraceAndLeaveTheOthersSound) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    OpenStore<TypeParam> store;
    RandomChanges random(seed, seed % 2 == 0);
    std::map<std::string, NaiveHistory> histories;
    for (const std::string board : {"甲", "乙", "丙"}) {
      for (std::uint64_t i = 1 + random.below(12); i > 0; --i) {
        const auto changes = random.next(histories[board]);
        store.commit(board, changes, "id" + std::to_string(i));
        histories[board].apply(histories[board].version() + 1, changes);
      }
    }
    const Event last = store.commit("乙", whole_board(), seed % 3 == 0 ? "" : "deletion");
    EXPECT_EQ(last.digest, Sum128{});
    for (bool more = true; more;) {
      const auto batch = must(store->begin());
      more = must(batch->scrub(1 + random.below(3)));
      if (more && random.below(4) > 0) must(batch->commit());  // else it is cut off, and done again
      EXPECT_EQ(store.defects("乙"), Defects()) << "seed " << seed;
    }
    EXPECT_TRUE(must(must(store->snapshot())->deletion("乙"))->is_purged);
    for (const std::string board : {"甲", "丙"}) {
      EXPECT_EQ(store.defects(board), Defects()) << "seed " << seed;
      EXPECT_TRUE(is_same(store.load(board), histories[board].board(histories[board].version())));
    }
  }
}

// --- what a verification of a deleted board finds ---

struct VerifyDeleted : DeleteTest<OnMemory> {
  VerifyDeleted() {
    fill("trip");
    remove("trip");
  }
  template <class Alter>
  void alter(Alter alter) {
    const auto kv = store_.place().open();
    const auto write = must(kv->write());
    alter(*write);
    must(write->commit());
  }
  void purge_all() {
    while (step(100)) {
    }
  }
  static constexpr BoardNumber number{1};
};

TEST_F(VerifyDeleted, FindsThatTheLastEventIsMissing) {
  alter([](KvWrite& kv) { must(kv.erase(Table::events, event_key(number, 5))); });
  const auto defects = store_.defects("trip");
  ASSERT_FALSE(defects.empty());
  EXPECT_NE(defects[0].find("does not end with the deletion"), std::string::npos);
}

TEST_F(VerifyDeleted, FindsThatTheHeadIsOfAnotherEvent) {
  alter([](KvWrite& kv) {
    BoardRecord record = decode_board(*must(get_record(kv, Table::boards, "trip"))).value();
    record.head.hash = sha256("another");
    must(put_record(kv, Table::boards, "trip", encode_board(record)));
  });
  EXPECT_EQ(store_.defects("trip"), Defects{"the head does not fit the event that deleted the board"});
}

TEST_F(VerifyDeleted, FindsAGapInWhatIsLeftOfTheLog) {
  alter([](KvWrite& kv) { must(kv.erase(Table::events, event_key(number, 3))); });
  EXPECT_EQ(store_.defects("trip"), Defects{"version 4 follows version 2"});
}

TEST_F(VerifyDeleted, FindsWhatAPurgeHasLeft) {
  purge_all();
  EXPECT_EQ(store_.defects("trip"), Defects());
  for (const Table table : {Table::fields, Table::parts, Table::receipts, Table::floors}) {
    alter([table](KvWrite& kv) { must(put_record(kv, table, board_prefix(number) + "left", "over")); });
    EXPECT_EQ(store_.defects("trip"), Defects{"the board is said to be purged, but something of it is left"})
        << table_name(table);
    alter([table](KvWrite& kv) { must(kv.erase(table, board_prefix(number) + "left")); });
  }
}

TEST_F(VerifyDeleted, DamageInWhatGoesDoesNotStopThePurge) {
  alter([](KvWrite& kv) {
    must(kv.put(Table::events, event_key(number, 2), "no record"));
    must(kv.put(Table::fields, field_key(number, path_of("a")), "no record"));
  });
  purge_all();
  EXPECT_TRUE(deletion("trip")->is_purged);
  EXPECT_EQ(store_.defects("trip"), Defects());
}

}  // namespace
}  // namespace tafel::store
