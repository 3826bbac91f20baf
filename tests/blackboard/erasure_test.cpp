// Erasures in the store: what is gone from the cells goes from every other record too, in steps.
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::add_element;
using testing::expiring;
using testing::gone;
using testing::must;
using testing::OpenStore;
using testing::path_of;
using testing::set_leaf;

const std::string canary = "护照E12345678";  // short enough to be the id of its element

template <class Place>
class ErasureTest : public ::testing::Test {
 protected:
  OpenStore<Place> store_;

  void erase(const std::string& board, const Path& path) {
    const auto batch = must(store_->begin());
    const Event event = *must(batch->append(
        testing::delta_for(board), testing::judgement_of({{field_key(path), std::nullopt}}), testing::stamp_at(5000)));
    must(batch->note_erasure({0, board, path, event.version, "officer", 5000}));
    must(batch->commit());
  }
  void scrub(std::size_t count) {
    for (bool more = true; more;) {
      const auto batch = must(store_->begin());
      more = must(batch->scrub(count));
      if (more) must(batch->commit());
    }
  }
  std::size_t expired_by(TimeMs now) {
    const auto batch = must(store_->begin());
    const auto events =
        must(batch->expire(now, 100, [](const std::string&, conflict::Judgement&, TimeMs) { return Result<void>(); }));
    must(batch->commit());
    std::size_t changes = 0;
    for (const EventPointer& event : events) changes += event->changes.size();
    return changes;
  }
};
TYPED_TEST_SUITE(ErasureTest, testing::Places, testing::PlaceNames);

TYPED_TEST(ErasureTest, ReachesTheIndexOfExpiryInStepsOfAnySize) {
  for (const std::size_t count : {1U, 2U, 100U}) {
    const std::string board = "trip/" + std::to_string(count);
    const std::string other = "other/" + std::to_string(count);
    this->store_.commit(other, {expiring(add_element("证件", "别的", 1), 9'000'000)});
    this->store_.commit(board, {expiring(set_leaf("国籍", "中国", 1), 9'000'001)});
    this->store_.commit(board, {expiring(add_element("证件", canary, 2), 9'000'000)});
    this->store_.commit(board, {gone(element_key(path_of("证件"), canary))});
    this->store_.commit(board, {expiring(add_element("证件", canary + "?", 4), 9'000'002)});
    EXPECT_TRUE(this->store_.holds(canary));
    this->store_.reopen();
    this->erase(board, path_of("证件"));
    this->store_.commit(board, {expiring(add_element("证件", "新的", 6), 9'000'003)});
    this->scrub(count);
    EXPECT_FALSE(this->store_.holds(canary)) << count;
    this->store_.reopen();
    EXPECT_TRUE(this->store_.defects(board).empty());
  }
  EXPECT_EQ(this->expired_by(10'000'000), 3U * 3) << "what was not erased expires";
}

TYPED_TEST(ErasureTest, ThatIsUnderWayWhenItsBoardIsDeletedLeavesNothingInTheIndex) {
  this->store_.commit("trip", {expiring(add_element("证件", canary, 1), 9'000'000)});
  this->store_.commit("trip", {expiring(set_leaf("a", canary, 2), 9'000'001)});
  this->store_.commit("trip", {expiring(set_leaf("b", 1, 3), 9'000'002)});
  this->erase("trip", path_of("b"));
  for (int step = 0; step < 6; ++step) {  // into the index
    const auto batch = must(this->store_->begin());
    ASSERT_TRUE(must(batch->scrub(1)));
    must(batch->commit());
  }
  ASSERT_FALSE(must(this->store_->erasures(0, 1)).front().is_done);
  this->store_.commit("trip", {{board_key(), std::nullopt}}, "deletion", 6000);
  this->scrub(1);
  EXPECT_FALSE(must(must(this->store_->begin())->next_expiry()));
  EXPECT_FALSE(this->store_.holds(canary));
}

}  // namespace
}  // namespace tafel::store
