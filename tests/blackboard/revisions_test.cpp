// The way back along a whole field, and the event that takes all its cells at once.
#include <algorithm>

#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::add_element;
using testing::append_entry;
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

template <class Place>
class RevisionsTest : public ::testing::Test {
 protected:
  OpenStore<Place> store_;

  std::vector<Version> versions(const std::string& path, Version before, std::size_t count,
                                std::size_t bytes = unbounded) {
    std::vector<Version> found;
    const auto snapshot = must(store_->snapshot());
    for (const auto& event : must(snapshot->revisions("board", path_of(path), before, count, bytes)))
      found.push_back(event->version);
    return found;
  }
};
using Versions = std::vector<Version>;
TYPED_TEST_SUITE(RevisionsTest, testing::Places, testing::PlaceNames);

TYPED_TEST(RevisionsTest, AreTheEventsThatChangedTheField) {
  this->store_.commit("board", {set_leaf("a", 1, 1), set_leaf("b", 1, 1)});
  this->store_.commit("board", {set_leaf("b", 2, 2)});
  this->store_.commit("board", {hold("a", 9, 3)});
  this->store_.commit("board", {gone(leaf_key(path_of("a")))});
  EXPECT_EQ(this->versions("a", 4, 10), (Versions{4, 3, 1}));
  EXPECT_EQ(this->versions("a", 3, 10), (Versions{3, 1}));
  EXPECT_EQ(this->versions("a", 2, 10), Versions{1});
  EXPECT_EQ(this->versions("a", 4, 2), (Versions{4, 3}));
  EXPECT_EQ(this->versions("a", 4, 10, 1), Versions{4});
  EXPECT_EQ(this->versions("c", 4, 10), Versions{});
}

TYPED_TEST(RevisionsTest, AgreeWithAPlainListOfALongHistory) {
  RandomChanges random(5);
  NaiveHistory history;
  std::map<Path, Versions> changed;
  const auto batch = must(this->store_->begin());
  for (Version version = 1; version <= 600; ++version) {
    const auto changes = random.next(history);
    must(batch->append(testing::delta_for("board"), testing::judgement_of(changes), testing::stamp_at(1)));
    history.apply(version, changes);
    for (const Change& change : changes) {
      Versions& versions = changed[change.key.path];
      if (versions.empty() || versions.back() != version) versions.push_back(version);
    }
  }
  must(batch->commit());
  for (const auto& [path, versions] : changed) {
    for (int i = 0; i < 10; ++i) {
      const Version before = random.below(601);
      Versions expected;
      std::copy_if(versions.rbegin(), versions.rend(), std::back_inserter(expected),
                   [&](Version version) { return version <= before; });
      if (expected.size() > 7) expected.resize(7);
      EXPECT_EQ(this->versions(path.text(), before, 7), expected) << path.text() << " before " << before;
    }
  }
  EXPECT_EQ(this->store_.defects("board"), std::vector<std::string>{});
}

TYPED_TEST(RevisionsTest, ARemovedFieldLosesAllItsCellsAndTheWayBackToThem) {
  this->store_.commit("board", {set_leaf("a", 1, 1), add_element("s", "x", 1), hold("s", 7, 1)});
  this->store_.commit("board", {add_element("s", "y", 2), append_entry("log", "e", 2)});
  const Event event = this->store_.commit("board", {gone(field_key(path_of("s"))), gone(field_key(path_of("log")))});
  const auto board = this->store_.load("board");
  EXPECT_EQ(board.cells().size(), 1U);
  EXPECT_EQ(board.digest(), event.digest);
  EXPECT_EQ(this->store_.head("board").erased, 3U);
  EXPECT_EQ(this->store_.load("board", 2).cells().size(), 1U);
  EXPECT_EQ(this->versions("s", 3, 10), (Versions{3, 2, 1}));
  EXPECT_EQ(this->store_.defects("board"), std::vector<std::string>{});

  this->store_.commit("board", {add_element("s", "x", 4)});
  EXPECT_EQ(this->store_.load("board", 4).cells().size(), 2U);
  EXPECT_EQ(this->store_.load("board", 2).cells().size(), 1U);
  EXPECT_EQ(this->versions("s", 4, 10), (Versions{4, 3, 2, 1}));
  EXPECT_EQ(this->store_.defects("board"), std::vector<std::string>{});
}

TYPED_TEST(RevisionsTest, AMirrorFollowsTheRemovalOfAField) {
  blackboard::Board mirror;
  const auto follow = [&](const std::vector<Change>& changes) {
    const Event event = this->store_.commit("board", changes);
    mirror.apply(event.version, changes);
    EXPECT_EQ(mirror.digest(), event.digest);
  };
  follow({set_leaf("a", 1, 1), add_element("s", "x", 1), add_element("s", "y", 1), hold("a", 7, 1)});
  follow({gone(field_key(path_of("a"))), gone(field_key(path_of("s")))});
  EXPECT_TRUE(mirror.cells().empty());
}

}  // namespace
}  // namespace tafel::store
