// Trimming the log of a board: what stays readable, and that nothing of the rest is left.
#include <set>

#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"
#include "common/codec/event_codec.hpp"
#include "tests/blackboard/store_fixture.hpp"
#include "tests/effort.hpp"

namespace tafel::store {
namespace {

using testing::add_element;
using testing::gone;
using testing::hold;
using testing::is_same;
using testing::must;
using testing::NaiveHistory;
using testing::OpenStore;
using testing::path_of;
using testing::RandomChanges;
using testing::set_leaf;
using testing::unbounded;

using Defects = std::vector<std::string>;

template <class Place>
class RetentionTest : public ::testing::Test {
 protected:
  OpenStore<Place> store_;

  Trimmed trim(const std::string& board, Version floor, std::size_t events_max = 1'000'000) {
    const auto batch = must(store_->begin());
    const Trimmed trimmed = must(batch->trim(board, {floor, std::nullopt, events_max, unbounded, unbounded}));
    must(batch->commit());
    return trimmed;
  }
  // Steps of the sweep, until nothing is left.
  int sweep(const std::string& board, std::size_t count) {
    SweepProgress progress;
    for (int steps = 0;; ++steps) {
      const auto batch = must(store_->begin());
      if (!must(batch->sweep_pins(board, progress, count))) return steps;
      must(batch->commit());
    }
  }
  bool fork(const std::string& board, const std::string& parent, Version version, const std::vector<Change>& changes) {
    const auto batch = must(store_->begin());
    if (!must(batch->fork(board, parent, version))) return false;
    must(batch->append(testing::delta_for(board), testing::judgement_of(changes), testing::stamp_at(1000)));
    must(batch->commit());
    return true;
  }
  std::size_t count(Table table) {
    store_.close();
    std::size_t records = 0;
    {
      const auto kv = store_.place().open();
      const auto read = must(kv->read());
      must(scan_records(*read, table, {}, {}, [&](std::string_view, std::string_view) {
        ++records;
        return Result<bool>(true);
      }));
    }
    store_.reopen();
    return records;
  }
  std::string fault_at(const std::string& board, Version version) {
    return testing::fault_of(must(store_->snapshot())->load(board, std::nullopt, version, unbounded));
  }
};
TYPED_TEST_SUITE(RetentionTest, testing::Places, testing::PlaceNames);

TYPED_TEST(RetentionTest, KeepsWhatIsAtOrAfterTheFloorAndNothingBefore) {
  this->store_.commit("trip", {set_leaf("预算", 1, 1), add_element("countries", "美国", 1)});
  this->store_.commit("trip", {set_leaf("预算", 2, 2)});
  this->store_.commit("trip", {gone(element_key(path_of("countries"), "美国"))});
  this->store_.commit("trip", {set_leaf("预算", 4, 4)});
  this->store_.commit("trip", {set_leaf("预算", 5, 5)});
  const auto at_3 = this->store_.load("trip", 3);
  const auto at_4 = this->store_.load("trip", 4);

  const Trimmed trimmed = this->trim("trip", 3);
  EXPECT_EQ(trimmed.events, 2U);
  EXPECT_EQ(trimmed.floor, 3U);
  EXPECT_TRUE(trimmed.is_done);
  EXPECT_EQ(this->store_.head("trip").floor, 3U);
  EXPECT_EQ(this->fault_at("trip", 2), "not_found");
  EXPECT_TRUE(is_same(this->store_.load("trip", 3), at_3));
  EXPECT_TRUE(is_same(this->store_.load("trip", 4), at_4));
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
  EXPECT_EQ(this->count(Table::events), 3U);
  // The budget and the element, and what is known of their fields: as they were before the events that are there.
  EXPECT_EQ(this->count(Table::floors), 4U);

  this->trim("trip", 5);
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
  EXPECT_EQ(this->count(Table::parts), 0U) << "the tombstone of 美国";
  EXPECT_EQ(this->count(Table::fields), 1U) << "the tombstone of the field countries";
}

TYPED_TEST(RetentionTest, NeverTakesTheNewestEvent) {
  this->store_.commit("trip", {set_leaf("a", 1, 1)});
  EXPECT_EQ(this->trim("trip", 99).events, 0U);
  this->store_.commit("trip", {set_leaf("a", 2, 2)});
  EXPECT_EQ(this->trim("trip", 99).floor, 2U);
  this->store_.commit("trip", {set_leaf("a", 3, 3)});
  EXPECT_EQ(this->store_.load("trip", 2).cells().size(), 1U);
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
}

TYPED_TEST(RetentionTest, ATagKeepsItsVersionAsLongAsItIsThere) {
  this->store_.commit("trip", {set_leaf("a", 1, 1), add_element("s", "签证", 1), hold("a", 7, 1)});
  this->store_.commit("trip", {set_leaf("$tags.签约", 1, 2)});
  for (Version version = 3; version <= 9; ++version) this->store_.commit("trip", {set_leaf("a", version, version)});
  this->store_.commit("trip", {gone(element_key(path_of("s"), "签证"))});
  const auto tagged = this->store_.load("trip", 1);
  this->trim("trip", 9, 2);
  this->trim("trip", 9);
  EXPECT_TRUE(is_same(this->store_.load("trip", 1), tagged));
  EXPECT_EQ(this->fault_at("trip", 2), "not_found");
  EXPECT_EQ(this->fault_at("trip", 5), "not_found");
  EXPECT_EQ(this->sweep("trip", 10), 0);
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
  EXPECT_EQ(this->count(Table::events), 3U);

  this->store_.commit("trip", {gone(leaf_key(path_of("$tags.签约")))});
  EXPECT_EQ(this->fault_at("trip", 1), "not_found");
  EXPECT_GT(this->sweep("trip", 1), 1);
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
  EXPECT_EQ(this->count(Table::events), 3U);
  // Of `a`, of `s`, of the tag, and of the element: each as it was before the floor.
  EXPECT_EQ(this->count(Table::floors), 7U);
  this->trim("trip", 11);
  EXPECT_EQ(this->count(Table::floors), 2U) << "the tag before it went, and its field";
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
}

TYPED_TEST(RetentionTest, AReceiptOutlivesItsEvent) {
  this->store_.commit("trip", {set_leaf("a", 1, 1)}, "d-1");
  this->store_.commit("trip", {set_leaf("a", 2, 2)}, "d-2");
  this->store_.commit("trip", {set_leaf("a", 3, 3)}, "d-3");
  const auto known = [&] {
    const auto batch = must(this->store_->begin());
    return must(batch->known_receipt("trip", "planner", "d-1")).value();
  };
  const KnownReceipt before = known();
  this->trim("trip", 3);
  this->store_.reopen();
  const KnownReceipt after = known();
  EXPECT_EQ(after.payload_hash, before.payload_hash);
  EXPECT_EQ(after.receipt.version, 1U);
  EXPECT_EQ(after.receipt.ops.size(), before.receipt.ops.size());
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
}

TYPED_TEST(RetentionTest, AnErasureTakesWhatIsKeptOfOlderVersions) {
  this->store_.commit("trip", {add_element("s", "护照号码", 1), set_leaf("name", "王", 1)});
  this->store_.commit("trip", {set_leaf("$tags.t", 1, 2)});
  this->store_.commit("trip", {add_element("s", "y", 3), gone(element_key(path_of("s"), "护照号码"))});
  this->store_.commit("trip", {set_leaf("name", "李", 4)});
  this->trim("trip", 4);
  this->store_.commit("trip", {gone(field_key(path_of("name"))), gone(field_key(path_of("s")))});
  this->store_.commit("trip", {set_leaf("name", "赵", 6)});
  EXPECT_TRUE(this->store_.load("trip", 1).cells().empty());
  EXPECT_EQ(this->store_.load("trip").cells().size(), 2U);
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
  this->trim("trip", 6);
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
  this->store_.commit("trip", {set_leaf("name", "钱", 7), add_element("s", "z", 7)});
  this->trim("trip", 7);
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
}

TYPED_TEST(RetentionTest, TrimsAsFarAsTheBytesOfTheLogNeed) {
  for (Version version = 1; version <= 40; ++version)
    this->store_.commit("trip", {set_leaf("a", std::string(1000, 'x'), version)});
  const std::uint64_t all = must(must(this->store_->snapshot())->boards("", 1)).front().log_bytes;
  ASSERT_GT(all, 40'000U);
  const auto batch = must(this->store_->begin());
  must(batch->trim("trip", {0, all / 2, 1000, unbounded, unbounded}));
  must(batch->commit());
  const std::uint64_t left = must(must(this->store_->snapshot())->boards("", 1)).front().log_bytes;
  EXPECT_LE(left, all / 2);
  EXPECT_GT(left, all / 2 - 2000);
  EXPECT_EQ(this->store_.defects("trip"), Defects{});
}

// Any history, trimmed now and then by any steps, with tags and forks that come and go: what is kept reads as ever.
TYPED_TEST(RetentionTest, RandomHistoriesStayReadableWhereTheyAreKept) {
  const int rounds = 2 + effort;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(round));
    const std::string board = "b" + std::to_string(round);
    const std::string fork = board + "/fork";
    RandomChanges random(static_cast<std::uint64_t>(round), round % 4 == 3);
    NaiveHistory history;
    NaiveHistory forked;
    std::map<std::string, Version> tags;
    std::set<Version> fork_points;
    const auto commit = [&](const std::vector<Change>& changes) {
      this->store_.commit(board, changes);
      history.apply(history.version() + 1, changes);
    };
    const auto expect_sound = [&] {
      const Head head = this->store_.head(board);
      const auto expect_at = [&](Version version) {
        ASSERT_TRUE(is_same(this->store_.load(board, version), history.board(version))) << board << " at " << version;
      };
      for (Version version = std::max<Version>(head.floor, 1); version <= head.version; ++version) expect_at(version);
      for (const auto& [name, version] : tags) expect_at(version);
      for (const Version version : fork_points) expect_at(version);
      EXPECT_EQ(this->store_.defects(board), Defects{});
      if (forked.version() == 0) return;
      for (Version version = this->store_.head(fork).floor; version <= forked.version(); ++version)
        ASSERT_TRUE(is_same(this->store_.load(fork, version), forked.board(version))) << fork << " at " << version;
      EXPECT_EQ(this->store_.defects(fork), Defects{});
    };
    for (int step = 0; step < 120; ++step) {
      const Version now = history.version();
      const Head head = now > 0 ? this->store_.head(board) : Head{};
      const Version kept = std::max<Version>(head.floor, 1) + (now > head.floor ? random.below(now - head.floor) : 0);
      switch (random.below(12)) {
        case 0:
          if (now < 2) break;
          this->trim(board, kept, 1 + random.below(9));
          break;
        case 1: {
          if (now == 0) break;
          const std::string name = "$tags.t" + std::to_string(random.below(3));
          commit({set_leaf(name, kept, now + 1)});
          tags[name] = kept;
          break;
        }
        case 2: {
          if (tags.empty()) break;
          const std::string name = tags.begin()->first;
          commit({gone(leaf_key(path_of(name)))});
          tags.erase(name);
          break;
        }
        case 3: this->sweep(board, 1 + random.below(5)); break;
        case 4: {
          if (now == 0 || forked.version() > 0) break;
          forked = history.until(kept);
          const auto changes = random.next(forked);
          ASSERT_TRUE(this->fork(fork, board, kept, changes));
          forked.apply(kept + 1, changes);
          fork_points.insert(kept);
          break;
        }
        case 5: {
          if (forked.version() == 0) break;
          const auto changes = random.next(forked);
          this->store_.commit(fork, changes);
          forked.apply(forked.version() + 1, changes);
          if (random.below(3) == 0) this->trim(fork, forked.version() - random.below(3), 1 + random.below(9));
          break;
        }
        default: commit(random.next(history));
      }
      if (step % 20 == 19) expect_sound();
    }
    const auto pages = must(this->store_->snapshot());
    const Head head = this->store_.head(board);
    for (const auto& [name, version] : tags) {
      const auto page = must(pages->differences(board, std::nullopt, version, head.version, std::nullopt, unbounded));
      blackboard::Board patched = history.board(version);
      for (const CellDifference& difference : page.cells) patched.put(difference.key, difference.after);
      EXPECT_EQ(patched.digest(), history.board(head.version).digest()) << name;
    }
  }
}

}  // namespace
}  // namespace tafel::store
