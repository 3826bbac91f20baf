#include "blackboard/store/store.hpp"

#include <fmt/format.h>

#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"
#include "common/codec/event_codec.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::add_element;
using testing::append_entry;
using testing::delta_for;
using testing::fault_of;
using testing::gone;
using testing::hold;
using testing::is_same;
using testing::judgement_of;
using testing::must;
using testing::NaiveHistory;
using testing::OpenStore;
using testing::path_of;
using testing::RandomChanges;
using testing::set_leaf;
using testing::stamp_at;
using testing::unbounded;

template <class Place>
class StoreTest : public ::testing::Test {
 protected:
  OpenStore<Place> store_;
};
TYPED_TEST_SUITE(StoreTest, testing::Places, testing::PlaceNames);

TYPED_TEST(StoreTest, CommitsSurviveReopening) {
  this->store_.commit("board", {set_leaf("a", 1, 1), add_element("s", "x", 1)});
  this->store_.commit("board", {append_entry("log", "entry", 2), hold("a", 7, 2)});
  const Head head = this->store_.head("board");
  const auto before = this->store_.load("board");
  this->store_.reopen();
  EXPECT_EQ(this->store_.head("board").hash, head.hash);
  EXPECT_EQ(before.cells().size(), 4U);
  EXPECT_TRUE(is_same(this->store_.load("board"), before));
  EXPECT_EQ(before.digest(), head.digest);
}

TYPED_TEST(StoreTest, AnAbandonedBatchLeavesNothing) {
  this->store_.commit("board", {set_leaf("a", 1, 1)});
  const auto before = this->store_.load("board");
  {
    const auto batch = must(this->store_->begin());
    must(batch->append(delta_for("board", "id"), judgement_of({set_leaf("a", 2, 2)}), stamp_at(2)));
    must(batch->append(delta_for("new"), judgement_of({set_leaf("a", 2, 1)}), stamp_at(2)));
  }
  EXPECT_TRUE(is_same(this->store_.load("board"), before));
  EXPECT_EQ(must(must(this->store_->snapshot())->head("new")).has_value(), false);
  EXPECT_EQ(must(must(this->store_->begin())->known_receipt("board", "planner", "id")).has_value(), false);
}

TYPED_TEST(StoreTest, AnEventIsStoredAsItWasGivenBack) {
  const Event event = this->store_.commit("board", {set_leaf("a", 1, 1)}, "id");
  const auto records = must(must(this->store_->snapshot())->event_records("board", 1, 9, unbounded));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0], codec::encode_event(event));
  EXPECT_EQ(event.hash, this->store_.head("board").hash);
}

TYPED_TEST(StoreTest, ABatchSeesWhatItHasAppended) {
  const auto batch = must(this->store_->begin());
  EXPECT_EQ(must(batch->head("board")).version, 0U);
  must(batch->append(delta_for("board"), judgement_of({set_leaf("a", 1, 1)}), stamp_at(1)));
  EXPECT_EQ(must(batch->head("board")).version, 1U);
  EXPECT_TRUE(testing::is_same(batch->view("board").cell(leaf_key(path_of("a"))), set_leaf("a", 1, 1).image));
  const Event second = *must(batch->append(delta_for("board"), judgement_of({set_leaf("a", 2, 2)}), stamp_at(1)));
  EXPECT_EQ(second.changes[0].previous, 1U);
  EXPECT_TRUE(testing::is_same(batch->view("board").cell_as_of(leaf_key(path_of("a")), 1), set_leaf("a", 1, 1).image));
  must(batch->commit());
  EXPECT_EQ(this->store_.head("board").version, 2U);
}

TYPED_TEST(StoreTest, ACommittedBatchIsClosed) {
  const auto batch = must(this->store_->begin());
  must(batch->append(delta_for("board"), judgement_of({set_leaf("a", 1, 1)}), stamp_at(1)));
  must(batch->commit());
  EXPECT_EQ(fault_of(batch->commit()), "closed");
  EXPECT_EQ(fault_of(batch->head("board")), "closed");
}

TYPED_TEST(StoreTest, LoadAtEveryVersionEqualsANaiveHistory) {
  RandomChanges random(3);
  NaiveHistory history;
  auto batch = must(this->store_->begin());
  for (int i = 0; i < 150; ++i) {
    const auto changes = random.next(history);
    must(batch->append(delta_for("board"), judgement_of(changes), stamp_at(i)));
    history.apply(history.version() + 1, changes);
  }
  must(batch->commit());
  for (Version version = 0; version <= history.version(); version += 3) {
    ASSERT_TRUE(is_same(this->store_.load("board", version), history.board(version))) << "version " << version;
    const auto group = path_of("group1");
    ASSERT_TRUE(is_same(this->store_.load("board", version, group), history.board(version, group)))
        << "version " << version;
  }
  EXPECT_TRUE(is_same(this->store_.load("board"), history.board(history.version())));
  EXPECT_EQ(this->store_.defects("board"), std::vector<std::string>());
}

TYPED_TEST(StoreTest, TwoBoardsDoNotMix) {
  this->store_.commit("tenant/a", {set_leaf("x", 1, 1), add_element("s", "e", 1)}, "id");
  this->store_.commit("tenant/b", {set_leaf("x", 2, 1)}, "id", 5000);
  this->store_.commit("tenant/b", {add_element("s", "f", 2)});
  EXPECT_EQ(this->store_.head("tenant/a").version, 1U);
  EXPECT_EQ(this->store_.head("tenant/b").version, 2U);
  EXPECT_EQ(this->store_.load("tenant/a").cells().size(), 2U);
  EXPECT_EQ(this->store_.load("tenant/b").cells().size(), 2U);
  EXPECT_NE(this->store_.load("tenant/b").find(element_key(path_of("s"), "f")), nullptr);
  EXPECT_EQ(this->store_.load("tenant/a").find(element_key(path_of("s"), "f")), nullptr);
  EXPECT_TRUE(this->store_.defects("tenant/a").empty());
  EXPECT_TRUE(this->store_.defects("tenant/b").empty());
}

TYPED_TEST(StoreTest, BoardsAreListedInTheOrderOfTheirIds) {
  for (const char* board : {"b", "a/2", "c", "a/1"}) this->store_.commit(board, {set_leaf("x", 1, 1)});
  const auto snapshot = must(this->store_->snapshot());
  const auto names_after = [&](const std::string& after, std::size_t count) {
    std::string names;
    for (const auto& summary : must(snapshot->boards(after, count))) names += summary.board + " ";
    return names;
  };
  EXPECT_EQ(names_after("", 10), "a/1 a/2 b c ");
  EXPECT_EQ(names_after("", 2), "a/1 a/2 ");
  EXPECT_EQ(names_after("a/2", 10), "b c ");
  EXPECT_EQ(names_after("a/3", 1), "b ");
  EXPECT_EQ(names_after("c", 10), "");
  EXPECT_EQ(names_after("", 0), "");
}

TYPED_TEST(StoreTest, EventRecordsComeInPages) {
  for (Version version = 1; version <= 10; ++version)
    this->store_.commit("board", {set_leaf("a", std::string(1000, 'x'), version)});
  const auto snapshot = must(this->store_->snapshot());
  const auto versions = [&](Version from, Version to, std::size_t bytes_max) {
    std::vector<Version> found;
    for (const auto& record : must(snapshot->event_records("board", from, to, bytes_max)))
      found.push_back(must(codec::decode_event(record)).version);
    return found;
  };
  EXPECT_EQ(versions(1, 100, unbounded).size(), 10U);
  EXPECT_EQ(versions(4, 6, unbounded), (std::vector<Version>{4, 5, 6}));
  EXPECT_EQ(versions(0, 2, unbounded), (std::vector<Version>{1, 2}));
  EXPECT_EQ(versions(3, 100, 1), (std::vector<Version>{3}));
  EXPECT_EQ(versions(3, 100, 3000), (std::vector<Version>{3, 4}));
  EXPECT_EQ(versions(11, 100, unbounded), std::vector<Version>());
  EXPECT_EQ(versions(6, 5, unbounded), std::vector<Version>());
  EXPECT_TRUE(must(snapshot->event_records("unknown", 1, 9, unbounded)).empty());
}

TYPED_TEST(StoreTest, PagesOfCellsMakeTheWholeBoard) {
  RandomChanges random(5);
  NaiveHistory history;
  for (int i = 0; i < 60; ++i) {
    const auto changes = random.next(history);
    this->store_.commit("board", changes);
    history.apply(history.version() + 1, changes);
  }
  const auto snapshot = must(this->store_->snapshot());
  for (const std::optional<Path>& path :
       {std::optional<Path>(), std::optional(path_of("group0")), std::optional(path_of("none"))}) {
    for (const std::size_t bytes_max : {std::size_t{1}, std::size_t{500}, unbounded}) {
      blackboard::Board board;
      std::string cursor;
      std::size_t count = 0;
      do {
        const auto page = must(snapshot->cells("board", path, cursor, bytes_max));
        for (const Change& cell : page.cells) board.put(cell.key, cell.image);
        count += page.cells.size();
        cursor = page.next;
      } while (!cursor.empty());
      board.set_version(history.version());
      EXPECT_TRUE(is_same(board, history.board(history.version(), path))) << bytes_max;
      EXPECT_EQ(count, board.cells().size()) << "no cell comes twice";
    }
  }
}

TYPED_TEST(StoreTest, AForeignCursorIsRefused) {
  const auto snapshot = must(this->store_->snapshot());
  for (const char* cursor : {"x", "AAAA", "//////////////8=", "not base64!"}) {
    EXPECT_EQ(fault_of(snapshot->cells("board", std::nullopt, cursor, 100)), "bad_bytes") << cursor;
  }
}

TYPED_TEST(StoreTest, ABoardIdThatCanNotBeIsNeverWrittenTo) {
  for (const std::string& board : {std::string(), std::string(5000, 'x')}) {
    const auto snapshot = must(this->store_->snapshot());
    EXPECT_EQ(must(snapshot->head(board)).has_value(), false);
    EXPECT_TRUE(must(snapshot->cells(board, std::nullopt, "", 100)).cells.empty());
    EXPECT_TRUE(must(snapshot->boards(board, 10)).empty());
    EXPECT_EQ(must(must(this->store_->begin())->head(board)).version, 0U);
    EXPECT_TRUE(must(this->store_->verify(board)).defects.empty());
  }
}

TYPED_TEST(StoreTest, LoadOfTooMuchIsFull) {
  this->store_.commit("board", {set_leaf("a", std::string(1000, 'x'), 1), set_leaf("b", 1, 1)});
  const auto snapshot = must(this->store_->snapshot());
  EXPECT_EQ(fault_of(snapshot->load("board", std::nullopt, std::nullopt, 500)), "full");
  EXPECT_EQ(fault_of(snapshot->load("board", path_of("b"), std::nullopt, 500)), "none");
}

TYPED_TEST(StoreTest, LoadOfAVersionThatIsNotThereFails) {
  this->store_.commit("board", {set_leaf("a", 1, 1)});
  const auto snapshot = must(this->store_->snapshot());
  EXPECT_EQ(fault_of(snapshot->load("board", std::nullopt, 2, unbounded)), "not_found");
  EXPECT_EQ(fault_of(snapshot->load("unknown", std::nullopt, 1, unbounded)), "not_found");
  EXPECT_EQ(must(snapshot->load("board", std::nullopt, 0, unbounded)).cells().size(), 0U);
  EXPECT_EQ(must(snapshot->load("unknown", std::nullopt, std::nullopt, unbounded)).version(), 0U);
}

TYPED_TEST(StoreTest, ASnapshotStaysAsItWas) {
  this->store_.commit("board", {set_leaf("a", 1, 1)});
  const auto snapshot = must(this->store_->snapshot());
  this->store_.commit("board", {set_leaf("a", 2, 2)});
  EXPECT_EQ(must(snapshot->head("board"))->version, 1U);
  EXPECT_EQ(must(snapshot->load("board", std::nullopt, std::nullopt, unbounded)).version(), 1U);
  EXPECT_EQ(must(snapshot->event_records("board", 1, 9, unbounded)).size(), 1U);
}

TYPED_TEST(StoreTest, ARemovedCellGoesOnWhereItsHistoryStopped) {
  this->store_.commit("board", {add_element("s", "x", 1)});
  const CellKey key = element_key(path_of("s"), "x");
  this->store_.commit("board", {gone(key)});
  EXPECT_EQ(this->store_.load("board").cells().size(), 0U);
  const Event event = this->store_.commit("board", {add_element("s", "x", 3)});
  EXPECT_EQ(event.changes[0].previous, 2U);
  EXPECT_EQ(this->store_.load("board", 1).cells().size(), 1U);
  EXPECT_EQ(this->store_.load("board", 2).cells().size(), 0U);
}

TYPED_TEST(StoreTest, EpochStaysWithTheStore) {
  const std::string epoch = this->store_->epoch();
  EXPECT_EQ(epoch.size(), 32U);
  this->store_.reopen();
  EXPECT_EQ(this->store_->epoch(), epoch);
  OpenStore<TypeParam> other;
  EXPECT_EQ(other->epoch(), epoch) << "the same seed draws the same epoch";
}

TYPED_TEST(StoreTest, ANewerFormatIsRefused) {
  this->store_.close();
  {
    const auto kv = this->store_.place().open();
    const auto write = must(kv->write());
    must(put_record(*write, Table::meta, meta_format, encode_number(format_version + 1)));
    must(write->commit());
  }
  SeededRandom random(1);
  auto kv = this->store_.place().try_open();  // which may see it already
  const auto opened = kv ? Store::open(std::move(*kv), random) : tl::unexpected(kv.error());
  ASSERT_EQ(fault_of(opened), "bad_bytes");
  EXPECT_EQ(opened.error().message, fmt::format("the store has format version {}; this program reads version {}",
                                                format_version + 1, format_version));
}

TYPED_TEST(StoreTest, AStoreWithoutItsFormatIsRefused) {
  this->store_.close();
  {
    const auto kv = this->store_.place().open();
    const auto write = must(kv->write());
    must(write->erase(Table::meta, meta_format));
    must(write->commit());
  }
  SeededRandom random(1);
  EXPECT_EQ(fault_of(Store::open(this->store_.place().open(), random)), "bad_bytes");
}

TEST(Store, TakesTheEpochThatItIsGivenWhenItIsNew) {
  const testing::OnMemory place;
  SeededRandom random(1);
  EXPECT_EQ(must(open_store_with_epoch(place.open(), random, "first"))->epoch(), "first");
  EXPECT_EQ(must(open_store_with_epoch(place.open(), random, "second"))->epoch(), "first");
}

TEST(StoreDeathTest, ChangesOutOfOrderAreABrokenPromise) {
  OpenStore<testing::OnMemory> store;
  auto judgement = judgement_of({set_leaf("a", 1, 1), set_leaf("b", 1, 1)});
  std::swap(judgement.changes[0], judgement.changes[1]);
  const auto batch = must(store->begin());
  EXPECT_DEATH(static_cast<void>(batch->append(delta_for("board"), judgement, stamp_at(1))),
               "changes are ordered by cell key");
}

}  // namespace
}  // namespace tafel::store
