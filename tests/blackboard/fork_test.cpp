// Forks in the store: what a fork shows of its parent, what both write afterwards, and how far back each can be read.
#include "blackboard/store/board_line.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/limits.hpp"
#include "common/codec/event_codec.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::add_element;
using testing::gone;
using testing::is_same;
using testing::must;
using testing::NaiveHistory;
using testing::OpenStore;
using testing::path_of;
using testing::RandomChanges;
using testing::set_leaf;
using testing::unbounded;

template <class Place>
class ForkTest : public ::testing::Test {
 protected:
  OpenStore<Place> store_;

  // Forks, with an event as its first version.
  bool fork(const std::string& board, const std::string& parent, Version version, const std::vector<Change>& changes) {
    const auto batch = must(store_->begin());
    if (!must(batch->fork(board, parent, version))) return false;
    must(batch->append(testing::delta_for(board), testing::judgement_of(changes), testing::stamp_at(1000)));
    must(batch->commit());
    return true;
  }
  void commit(const std::string& board, NaiveHistory& history, const std::vector<Change>& changes) {
    store_.commit(board, changes);
    history.apply(history.version() + 1, changes);
  }
  void grow(const std::string& board, NaiveHistory& history, RandomChanges& random, int count) {
    for (int i = 0; i < count; ++i) commit(board, history, random.next(history));
  }
  void expect_same(const std::string& board, const NaiveHistory& history) {
    for (Version version = 1; version <= history.version(); version += 1 + version % 3) {
      ASSERT_TRUE(is_same(store_.load(board, version), history.board(version))) << board << " at " << version;
    }
    EXPECT_EQ(store_.head(board).digest, history.board(history.version()).digest());
    EXPECT_EQ(store_.defects(board), std::vector<std::string>{});
  }
  blackboard::Board paged(const std::string& board) {
    blackboard::Board found;
    std::string cursor;
    do {
      const auto page = must(must(store_->snapshot())->cells(board, std::nullopt, cursor, 300));
      for (const Change& change : page.cells) found.put(change.key, change.image);
      cursor = page.next;
    } while (!cursor.empty());
    found.set_version(store_.head(board).version);
    return found;
  }
};
TYPED_TEST_SUITE(ForkTest, testing::Places, testing::PlaceNames);

TYPED_TEST(ForkTest, ShowsItsParentAsItWasAndGoesItsOwnWay) {
  this->store_.commit("trip", {set_leaf("a", 1, 1), add_element("countries", "美国", 1)});
  this->store_.commit("trip", {set_leaf("a", 2, 2)});
  this->store_.commit("trip", {set_leaf("a", 3, 3), add_element("countries", "英国", 3)});
  ASSERT_TRUE(this->fork("plan b", "trip", 2, {set_leaf("b", 7, 3)}));
  EXPECT_EQ(this->store_.head("plan b").version, 3U);
  EXPECT_EQ(this->store_.load("plan b").cells().size(), 3U);

  this->store_.commit("plan b", {add_element("countries", "日本", 4)});
  this->store_.commit("trip", {gone(leaf_key(path_of("a")))});
  const auto forked = this->store_.load("plan b");
  EXPECT_EQ(std::get<RegisterCell>(*forked.find(leaf_key(path_of("a")))).siblings[0].value, Value(2));
  EXPECT_NE(forked.find(element_key(path_of("countries"), "美国")), nullptr);
  EXPECT_EQ(forked.find(element_key(path_of("countries"), "英国")), nullptr);
  EXPECT_NE(forked.find(element_key(path_of("countries"), "日本")), nullptr);
  EXPECT_EQ(this->store_.load("trip").find(element_key(path_of("countries"), "日本")), nullptr);
  EXPECT_EQ(this->store_.defects("trip"), std::vector<std::string>{});
  EXPECT_EQ(this->store_.defects("plan b"), std::vector<std::string>{});
}

TYPED_TEST(ForkTest, HoldsNothingBeforeItIsWrittenTo) {
  for (Version version = 1; version <= 50; ++version)
    this->store_.commit("trip", {set_leaf("f" + std::to_string(version), 1, version)});
  ASSERT_TRUE(this->fork("b", "trip", 50, {set_leaf("f1", 2, 51)}));
  this->store_.close();
  std::size_t records = 0;
  const auto kv = this->store_.place().open();
  const auto read = must(kv->read());
  must(scan_records(*read, Table::fields, board_prefix(BoardNumber{2}), {}, [&](std::string_view, std::string_view) {
    ++records;
    return Result<bool>(true);
  }));
  EXPECT_EQ(records, 1U);
}

TYPED_TEST(ForkTest, ForksOfForksAgreeWithPlainCopiesOfTheHistory) {
  RandomChanges random(77);
  NaiveHistory parent;
  this->grow("a", parent, random, 40);
  NaiveHistory fork = parent.until(25);
  const auto first = random.next(fork);
  ASSERT_TRUE(this->fork("b", "a", 25, first));
  fork.apply(26, first);
  this->grow("b", fork, random, 20);
  this->grow("a", parent, random, 10);
  NaiveHistory fork_of_fork = fork.until(35);
  const auto second = random.next(fork_of_fork);
  ASSERT_TRUE(this->fork("c", "b", 35, second));
  fork_of_fork.apply(36, second);
  this->grow("c", fork_of_fork, random, 20);
  this->grow("b", fork, random, 15);
  NaiveHistory early = fork_of_fork.until(15);  // at a version that it has from its grandparent
  const auto third = random.next(early);
  // Not from the fork: its grandparent knows nothing of such a one.
  ASSERT_FALSE(this->fork("d", "c", 15, third));
  ASSERT_TRUE(this->fork("d", "a", 15, third));
  early.apply(16, third);
  this->store_.reopen();

  this->expect_same("a", parent);
  this->expect_same("b", fork);
  this->expect_same("c", fork_of_fork);
  this->expect_same("d", early);
  EXPECT_TRUE(is_same(this->paged("c"), fork_of_fork.board(fork_of_fork.version())));

  // The log and the revisions of a field go on through the ancestors.
  const auto snapshot = must(this->store_->snapshot());
  const auto records = must(snapshot->event_records("c", 1, 1000, unbounded));
  ASSERT_EQ(records.size(), fork_of_fork.version());
  EXPECT_EQ(must(codec::decode_event(records[0])).board, "a");
  EXPECT_EQ(must(codec::decode_event(records[30])).board, "b");
  EXPECT_EQ(must(codec::decode_event(records[40])).board, "c");
  for (const CellKey& key : fork_of_fork.keys()) {
    std::vector<Version> found;
    for (const auto& event : must(snapshot->revisions("c", key.path, 1000, 1000, unbounded)))
      found.push_back(event->version);
    std::vector<Version> expected;
    for (std::size_t i = records.size(); i-- > 0;) {
      const Event event = must(codec::decode_event(records[i]));
      if (find_touched(event, key.path) != nullptr) expected.push_back(event.version);
    }
    EXPECT_EQ(found, expected) << key.path.text();
  }
}

TYPED_TEST(ForkTest, AFieldErasedInAForkStaysInTheParentAndDoesNotComeBack) {
  this->store_.commit("trip", {add_element("s", "x", 1), add_element("s", "y", 1)});
  ASSERT_TRUE(this->fork("b", "trip", 1, {set_leaf("a", 1, 2)}));
  this->store_.commit("b", {gone(field_key(path_of("s")))});
  this->store_.commit("b", {add_element("s", "x", 4)});
  EXPECT_EQ(this->store_.load("b").cells().size(), 2U);
  EXPECT_EQ(this->store_.load("b", 3).cells().size(), 1U);
  EXPECT_EQ(this->store_.load("trip").cells().size(), 2U);
  EXPECT_EQ(this->store_.defects("b"), std::vector<std::string>{});
}

TYPED_TEST(ForkTest, IsRefusedWhereThereIsNothingToForkOrSomethingAlready) {
  this->store_.commit("trip", {set_leaf("a", 1, 1)});
  this->store_.commit("other", {set_leaf("a", 1, 1)});
  const std::vector<Change> changes{set_leaf("b", 1, 2)};
  EXPECT_FALSE(this->fork("b", "trip", 2, changes));
  EXPECT_FALSE(this->fork("b", "trip", 0, changes));
  EXPECT_FALSE(this->fork("b", "nowhere", 1, changes));
  EXPECT_FALSE(this->fork("other", "trip", 1, changes));
  EXPECT_FALSE(this->fork("trip", "trip", 1, changes));
}

TYPED_TEST(ForkTest, HasABoundOnItsDepth) {
  this->store_.commit("0", {set_leaf("a", 1, 1)});
  std::size_t depth = 0;
  while (this->fork(std::to_string(depth + 1), std::to_string(depth), 1 + depth,
                    {set_leaf("b", 1, 2 + static_cast<Version>(depth))}))
    ++depth;
  EXPECT_EQ(depth, limits::forks_depth_max);
  EXPECT_EQ(this->store_.load(std::to_string(depth)).cells().size(), 2U);
}

}  // namespace
}  // namespace tafel::store
