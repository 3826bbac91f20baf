#include "agents_sdk/cpp/liveness.hpp"

#include <gtest/gtest.h>

namespace tafel::sdk {
namespace {

using Todo = Liveness::Todo;

struct LivenessTest : testing::Test {
  void open_at(std::int64_t now) {
    liveness.connected(now);
    liveness.greeted(now);
    liveness.welcomed(now);
  }
  // The first time from `from` on at which something is to be done, found by following `next` as the link does.
  std::int64_t due_from(std::int64_t from, Todo todo) {
    std::int64_t now = from;
    for (int i = 0; i < 1000 && liveness.todo(now) == Todo::nothing; ++i) now = std::max(now + 1, liveness.next(now));
    EXPECT_EQ(liveness.todo(now), todo);
    return now;
  }
  Liveness liveness;
};

TEST_F(LivenessTest, BeginsByConnectingAndGreeting) {
  EXPECT_EQ(liveness.todo(0), Todo::connect);
  liveness.connected(0);
  EXPECT_EQ(liveness.todo(0), Todo::hello);
  liveness.greeted(0);
  EXPECT_EQ(liveness.todo(0), Todo::nothing);
}

TEST_F(LivenessTest, TriesAHelloAgainSoonWhenTheSocketDoesNotTakeIt) {
  liveness.connected(0);
  std::int64_t now = 0;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(liveness.todo(now), Todo::hello);
    liveness.not_sent(now);
    EXPECT_EQ(liveness.todo(now), Todo::nothing);
    now = liveness.next(now);
  }
  EXPECT_LE(now, 100);
}

TEST_F(LivenessTest, AGreetingWithoutAnswerIsGivenUpLaterEachTimeUpToABound) {
  std::int64_t now = 0;
  std::int64_t longest = 0;
  for (int i = 0; i < 10; ++i) {  // as while a server stalls
    liveness.connected(now);
    liveness.greeted(now);
    const std::int64_t at = due_from(now, Todo::connect);
    EXPECT_GE(at - now, limits::greeting_ms_min);
    longest = std::max(longest, at - now);
    now = at;
  }
  EXPECT_EQ(longest, limits::greeting_ms_max);
}

TEST_F(LivenessTest, PingsEachFiveSecondsAlsoWhileMuchIsHeard) {
  open_at(0);
  for (std::int64_t now = 0; now < limits::ping_ms; now += 100) {
    liveness.heard(now);
    EXPECT_EQ(liveness.todo(now), Todo::nothing);
  }
  EXPECT_EQ(liveness.todo(limits::ping_ms), Todo::ping);
}

TEST_F(LivenessTest, ProbesSoonWhenAnAwaitedAnswerDoesNotCome) {
  open_at(0);
  liveness.await_answer(true);
  EXPECT_EQ(due_from(0, Todo::ping), limits::probe_ms);
}

TEST_F(LivenessTest, ProbesWhenHeartbeatsStop) {
  open_at(0);
  liveness.expect_heartbeat(1000);
  liveness.heard(1000);
  EXPECT_EQ(due_from(1000, Todo::ping), 3500);
}

TEST_F(LivenessTest, APingWithoutAnswerEndsTheConnection) {
  open_at(0);
  liveness.pinged(5000);
  EXPECT_EQ(due_from(5000, Todo::connect), 5000 + limits::answer_ms);
}

TEST_F(LivenessTest, AnythingHeardAnswersAPing) {
  open_at(0);
  liveness.pinged(5000);
  EXPECT_TRUE(liveness.doubtful());
  liveness.heard(7000);
  EXPECT_FALSE(liveness.doubtful());
  EXPECT_EQ(due_from(7000, Todo::ping), 5000 + limits::ping_ms);
}

TEST_F(LivenessTest, APingThatCannotBeSentIsTriedUntilTheLinkIsBackOrGivenUp) {
  open_at(0);
  liveness.not_sent(1000);
  std::int64_t now = 1000;
  int tries = 0;
  while (liveness.todo(now) != Todo::connect) {
    if (liveness.todo(now) == Todo::ping) {
      ++tries;
      liveness.not_sent(now);
    }
    now = std::max(now + 1, liveness.next(now));
  }
  EXPECT_GT(tries, 10);
  EXPECT_EQ(now, 1000 + limits::link_down_ms);
}

TEST_F(LivenessTest, ALostSessionIsGreetedAnewOnTheSameSocket) {
  open_at(0);
  liveness.session_lost(100);
  EXPECT_FALSE(liveness.open());
  EXPECT_EQ(liveness.todo(100), Todo::hello);
}

TEST_F(LivenessTest, SilenceMeansNothingWhileNobodyReads) {
  open_at(0);
  liveness.expect_heartbeat(1000);
  liveness.pause(true, 0);
  liveness.pinged(5000);
  EXPECT_EQ(liveness.todo(9999), Todo::nothing);
  liveness.pause(false, 9999);
  EXPECT_EQ(liveness.todo(9999), Todo::nothing);
}

TEST_F(LivenessTest, ARefusedHelloIsTriedAgainAfterAWhile) {
  liveness.connected(0);
  liveness.greeted(0);
  liveness.put_off(10);
  EXPECT_EQ(due_from(10, Todo::hello), 10 + limits::retry_ms_max);
}

}  // namespace
}  // namespace tafel::sdk
