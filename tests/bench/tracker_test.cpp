// Which arrival is the last one of an update, and what is noticed as a loss.
#include "bench/load/tracker.hpp"

#include <gtest/gtest.h>

namespace tafel::bench {
namespace {

const Shape two_subscribers{.agents = 1, .depth = 4, .subscribers = 2, .boards = 1};

Delivery delivery(std::size_t subscriber, std::uint64_t version, std::uint64_t number) {
  return {subscriber, 0, version, number};
}

TEST(Tracker, TellsTheTimeOfTheLastArrival) {
  Tracker tracker(two_subscribers, 16);
  tracker.began(0, 100);
  tracker.began(1, 200);
  EXPECT_FALSE(tracker.arrived(delivery(0, 11, 0), 150));
  EXPECT_FALSE(tracker.arrived(delivery(0, 12, 1), 250));
  EXPECT_EQ(tracker.arrived(delivery(1, 11, 0), 500), 400);
  EXPECT_EQ(tracker.arrived(delivery(1, 12, 1), 500), 300);
  EXPECT_EQ(tracker.completed(), 2U);
  EXPECT_EQ(tracker.arrivals(), 4U);
  EXPECT_EQ(tracker.gaps(), 0U);
  EXPECT_EQ(tracker.strangers(), 0U);
}

TEST(Tracker, NoticesAGapInTheVersions) {
  Tracker tracker(two_subscribers, 16);
  tracker.began(0, 100);
  tracker.began(1, 100);
  tracker.arrived(delivery(0, 11, 0), 150);
  tracker.arrived(delivery(0, 13, 1), 150);
  EXPECT_EQ(tracker.gaps(), 1U);
}

TEST(Tracker, NoticesWhatComesTwiceOrFromNobody) {
  Tracker tracker(two_subscribers, 16);
  tracker.began(0, 100);
  tracker.arrived(delivery(0, 0, 0), 150);
  tracker.arrived(delivery(1, 0, 0), 150);
  tracker.arrived(delivery(1, 0, 0), 160);
  tracker.arrived(delivery(1, 0, 7), 160);
  EXPECT_EQ(tracker.strangers(), 2U);
}

TEST(Tracker, HasNoRoomWhileSubscribersLag) {
  Tracker tracker(two_subscribers, 16);
  for (std::uint64_t number = 0; number < 8; ++number) {
    EXPECT_TRUE(tracker.has_room(number));
    tracker.began(number, 1);
  }
  EXPECT_FALSE(tracker.has_room(8));
  tracker.arrived(delivery(0, 1, 0), 2);
  tracker.arrived(delivery(1, 1, 0), 2);
  EXPECT_TRUE(tracker.has_room(8));
  tracker.makes_no_version();  // of update 1: nothing of it will arrive
  EXPECT_TRUE(tracker.has_room(9));
}

TEST(Tracker, WithoutSubscribersAlwaysHasRoom) {
  Tracker tracker({.subscribers = 0}, 16);
  EXPECT_TRUE(tracker.has_room(1'000'000));
}

}  // namespace
}  // namespace tafel::bench
