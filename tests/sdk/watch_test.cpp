#include <atomic>
#include <stdexcept>

#include "common/base/limits.hpp"
#include "tests/sdk/server_fixture.hpp"

namespace tafel::sdk {
namespace {

const std::string board_id = "acme/board";

struct WatchTest : ::testing::Test {
  void write(int count, const std::string& to = board_id) {
    std::vector<Ticket> tickets;
    for (int i = 0; i < count; ++i)
      tickets.push_back(writer->submit(to, DeltaBuilder().set("f" + std::to_string(i % 7), ++written_)));
    for (const Ticket& ticket : tickets) ASSERT_TRUE(ticket.wait(long_enough));
  }
  int written_ = 0;  // no value twice: an echo takes no version
  TestServer server;
  std::unique_ptr<Agent> agent = server.connect("reader");
  std::unique_ptr<Agent> writer = server.connect("writer");
  std::shared_ptr<BoardHandle> board = join(*agent, board_id);
};

TEST_F(WatchTest, TellsEveryVersionAfterTheCurrentOneOnce) {
  write(3);
  ASSERT_TRUE(board->wait_for(3, long_enough));
  Recorder recorder;
  EXPECT_NE(board->watch(recorder.watcher()), 0U);
  write(200);
  ASSERT_TRUE(recorder.wait_for_version(203));
  EXPECT_EQ(recorder.versions(), up_to(203, 4));
  const auto events = recorder.events();
  EXPECT_EQ(events[0].event->actor, "writer");
  EXPECT_EQ(events[0].event->changes.size(), 1U);
}

TEST_F(WatchTest, AWriteRightAfterTheCallIsNotMissed) {
  for (Version i = 1; i <= 50; ++i) {
    Recorder recorder;
    const auto number = board->watch(recorder.watcher());
    ASSERT_TRUE(board->apply(DeltaBuilder().incr("n")));
    ASSERT_TRUE(recorder.wait_for_version(i));
    EXPECT_EQ(recorder.versions(), std::vector<Version>{i});
    board->unwatch(number);
  }
}

// A watcher that stops reading is left behind, then fed from the log: everything once, and nobody waits for it.
TEST_F(WatchTest, AWatcherThatStopsUnderLoadSeesEveryVersionOnceAndHoldsUpNobody) {
  const auto other = join(*agent, "acme/other");
  Recorder slow;
  Recorder quick;
  Recorder elsewhere;
  board->watch(slow.watcher());
  board->watch(quick.watcher());
  other->watch(elsewhere.watcher());
  slow.block(true);
  const int many = static_cast<int>(limits::watch_queue_events_max) * 3;
  write(many);
  write(10, "acme/other");
  const auto last = static_cast<Version>(many);
  ASSERT_TRUE(board->wait_for(last, long_enough));
  ASSERT_TRUE(quick.wait_for_version(last));
  ASSERT_TRUE(elsewhere.wait_for_version(10));
  EXPECT_LE(slow.versions().size(), 1U);
  slow.block(false);
  write(100);
  ASSERT_TRUE(slow.wait_for_version(last + 100));
  EXPECT_EQ(slow.versions(), up_to(last + 100));
  EXPECT_EQ(slow.count(BoardEvent::Type::resync), 0U);
  ASSERT_TRUE(quick.wait_for_version(last + 100));
  EXPECT_EQ(quick.versions(), up_to(last + 100));
  EXPECT_EQ(board->resyncs(), 0U);
  write(1);
  ASSERT_TRUE(slow.wait_for_version(last + 101));
}

TEST_F(WatchTest, AWatcherLeftBehindSurvivesARestart) {
  Recorder slow;
  board->watch(slow.watcher());
  slow.block(true);
  const int many = static_cast<int>(limits::watch_queue_events_max) * 2;
  write(many);
  ASSERT_TRUE(board->wait_for(static_cast<Version>(many), long_enough));
  server.stop();
  server.start();
  write(50);
  slow.block(false);
  const auto last = static_cast<Version>(many + 50);
  ASSERT_TRUE(slow.wait_for_version(last));
  EXPECT_EQ(slow.versions(), up_to(last));
  EXPECT_EQ(slow.count(BoardEvent::Type::resync), 0U);
}

TEST_F(WatchTest, AnExceptionEndsNeitherTheProcessNorTheWatch) {
  std::atomic<int> calls{0};
  board->watch([&](const BoardEvent&) {
    if (++calls % 2 == 0) throw std::runtime_error("of a watcher");
    throw 42;
  });
  write(5);
  EXPECT_TRUE(wait_until([&] { return calls == 5; }));
}

TEST_F(WatchTest, NothingIsCalledAfterUnwatch) {
  for (int i = 0; i < 20; ++i) {
    auto calls = std::make_unique<std::atomic<int>>(0);
    const auto number = board->watch([&](const BoardEvent&) { ++*calls; });
    write(5);
    board->unwatch(number);
    calls.reset();  // the sanitizer sees a late call
  }
  write(5);
}

TEST_F(WatchTest, AWatcherMayEndItsOwnWatch) {
  std::atomic<int> calls{0};
  std::atomic<std::uint64_t> number{0};
  number = board->watch([&](const BoardEvent&) {
    ++calls;
    while (number == 0) std::this_thread::yield();
    board->unwatch(number);
  });
  write(20);
  Recorder recorder;
  board->watch(recorder.watcher());
  write(1);
  ASSERT_TRUE(recorder.wait_for_version(21));
  EXPECT_EQ(calls, 1);
}

TEST_F(WatchTest, AWatcherMayWriteAndWaitForIt) {
  std::atomic<bool> answered{false};
  board->watch([&](const BoardEvent& event) {
    if (event.type != BoardEvent::Type::change || event.event->actor != "writer") return;
    const auto receipt = board->apply(DeltaBuilder(event.version).set("answer", "seen"));
    answered = receipt && !receipt->error && board->get("answer") == Value("seen");
  });
  write(1);
  EXPECT_TRUE(wait_until([&] { return answered.load(); }));
}

TEST_F(WatchTest, AWatcherMayHoldItsBoardUntilTheAgentIsGone) {
  board->watch([held = board](const BoardEvent&) { static_cast<void>(held->version()); });
  write(3);
  board.reset();
  agent.reset();
}

TEST_F(WatchTest, AFollowerSeesTheLogFromWhereItAsksAndThenWhatComes) {
  write(30);
  Recorder recorder;
  const auto number = agent->follow(board_id, 10, {}, recorder.watcher());
  ASSERT_TRUE(number) << number.error().message;
  ASSERT_TRUE(recorder.wait_for_type(BoardEvent::Type::live));
  write(5);
  ASSERT_TRUE(recorder.wait_for_version(35));
  EXPECT_EQ(recorder.versions(), up_to(35, 11));
  agent->unfollow(*number);
  const std::size_t before = recorder.events().size();
  write(5);
  EXPECT_EQ(recorder.events().size(), before);
}

TEST_F(WatchTest, AFollowerOfAPathSeesItsChangesOnly) {
  Recorder recorder;
  ASSERT_TRUE(agent->follow(board_id, 0, {"f1"}, recorder.watcher()));
  write(14);
  ASSERT_TRUE(recorder.wait_for_version(14));
  std::size_t changes = 0;
  for (const BoardEvent& event : recorder.events()) {
    if (event.type != BoardEvent::Type::change) continue;
    for (const Change& change : event.event->changes) EXPECT_EQ(change.key.path.text(), "f1");
    changes += event.event->changes.size();
  }
  EXPECT_EQ(changes, 2U);
}

TEST_F(WatchTest, AFollowerThatStopsUnderLoadSeesEveryVersionOnce) {
  Recorder recorder;
  recorder.block(true);
  ASSERT_TRUE(agent->follow(board_id, 0, {}, recorder.watcher()));
  const int many = static_cast<int>(limits::watch_queue_events_max) * 3;
  write(many);
  EXPECT_LE(recorder.versions().size(), 1U);
  recorder.block(false);
  const auto last = static_cast<Version>(many);
  ASSERT_TRUE(recorder.wait_for_version(last));
  EXPECT_EQ(recorder.versions(), up_to(last));
  EXPECT_EQ(recorder.count(BoardEvent::Type::resync), 0U);
}

TEST_F(WatchTest, FollowingFromAVersionThatIsNotThereYetIsRefused) {
  const auto number = agent->follow(board_id, 99, {}, [](const BoardEvent&) {});
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().fault, Fault::refused);
}

TEST_F(WatchTest, AnEmptyFunctionIsNoWatcher) {
  EXPECT_EQ(board->watch(nullptr), 0U);
  EXPECT_FALSE(agent->follow(board_id, 0, {}, nullptr));
}

}  // namespace
}  // namespace tafel::sdk
