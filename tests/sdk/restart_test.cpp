// The server goes and comes back: nothing acknowledged is lost, nothing happens twice, nobody misses or repeats a
// version.
#include <atomic>

#include "tests/sdk/server_fixture.hpp"

namespace tafel::sdk {
namespace {

const std::string board_id = "acme/board";

TEST(Restart, WhatWasSubmittedMeanwhileIsSentOnceTheServerIsBack) {
  TestServer server;
  const auto agent = server.connect("a");
  const auto board = join(*agent, board_id);
  ASSERT_TRUE(board->apply(DeltaBuilder().incr("n")));
  server.stop();
  std::vector<Ticket> tickets;
  for (int i = 0; i < 100; ++i) tickets.push_back(board->submit(DeltaBuilder().incr("n")));
  server.start();
  Version last = 1;
  for (const Ticket& ticket : tickets) {
    const auto receipt = ticket.wait(long_enough);
    ASSERT_TRUE(receipt) << receipt.error().message;
    EXPECT_EQ(receipt->version, last + 1);
    last = receipt->version;
  }
  ASSERT_TRUE(board->wait_for(last, long_enough));
  EXPECT_EQ(board->get("n"), Value(101));
  EXPECT_EQ(board->resyncs(), 0U);
}

TEST(Restart, InTheMiddleOfALoadNothingIsLostAndNothingDoubled) {
  TestServer server;
  constexpr int writers = 4;
  const int rounds = 60 * effort;
  std::vector<std::unique_ptr<Agent>> agents;
  for (int i = 0; i < writers; ++i) agents.push_back(server.connect("w" + std::to_string(i)));
  Recorder recorder;
  const auto watching = server.connect("watching");
  const auto board = join(*watching, board_id);
  board->watch(recorder.watcher());
  std::atomic<int> acknowledged{0};
  std::vector<std::thread> threads;
  for (const auto& agent : agents) {
    threads.emplace_back([&, sender = agent.get()] {
      for (int i = 0; i < rounds; ++i) {
        const auto receipt = sender->apply(board_id, DeltaBuilder().incr("n"));
        ASSERT_TRUE(receipt) << receipt.error().message;
        ASSERT_FALSE(receipt->error);
        ++acknowledged;
      }
    });
  }
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(wait_until([&] { return acknowledged > i * writers * rounds / 5; }));
    server.stop();
    server.start();
  }
  for (std::thread& thread : threads) thread.join();
  const Version last = static_cast<Version>(writers) * static_cast<Version>(rounds);
  ASSERT_TRUE(board->wait_for(last, long_enough));
  EXPECT_EQ(board->get("n"), Value(std::int64_t{writers} * rounds));
  EXPECT_EQ(board->version(), last);
  EXPECT_EQ(board->resyncs(), 0U);
  ASSERT_TRUE(recorder.wait_for_version(last));
  EXPECT_EQ(recorder.versions(), up_to(last));
  EXPECT_EQ(digest_of(*board), server_digest(*watching, board_id));
}

TEST(Restart, AWatcherThatWasNotReadingSeesEachVersionOnce_O10) {
  TestServer server;
  const auto agent = server.connect("reader");
  const auto board = join(*agent, board_id);
  Recorder recorder;
  board->watch(recorder.watcher());
  const auto write = [&](int count) {
    const auto writer = server.connect("writer");
    for (int i = 0; i < count; ++i) ASSERT_TRUE(writer->apply(board_id, DeltaBuilder().incr("n")));
  };
  write(10);
  ASSERT_TRUE(recorder.wait_for_version(10));
  recorder.block(true);
  server.stop();
  server.start();
  write(10);
  ASSERT_TRUE(board->wait_for(20, long_enough));  // the mirror does not wait for a watcher
  recorder.block(false);
  ASSERT_TRUE(recorder.wait_for_version(20));
  EXPECT_EQ(recorder.versions(), up_to(20));
  EXPECT_EQ(recorder.count(BoardEvent::Type::resync), 0U);
}

TEST(Restart, WatchersAreToldThatTheConnectionWasLostAndIsLiveAgain) {
  TestServer server;
  const auto agent = server.connect("a");
  const auto board = join(*agent, board_id);
  Recorder recorder;
  board->watch(recorder.watcher());
  server.stop();
  ASSERT_TRUE(recorder.wait_for_type(BoardEvent::Type::lost));
  server.start();
  ASSERT_TRUE(recorder.wait_for_type(BoardEvent::Type::live));
  EXPECT_TRUE(agent->connected());
}

TEST(Restart, AFollowedStreamGoesOnWhereItWas) {
  TestServer server;
  const auto agent = server.connect("a");
  Recorder recorder;
  ASSERT_TRUE(agent->apply(board_id, DeltaBuilder().set("a", 1)));
  ASSERT_TRUE(agent->follow(board_id, 0, {}, recorder.watcher()));
  ASSERT_TRUE(recorder.wait_for_version(1));
  server.stop();
  server.start();
  ASSERT_TRUE(agent->apply(board_id, DeltaBuilder().set("a", 2)));
  ASSERT_TRUE(recorder.wait_for_version(2));
  EXPECT_EQ(recorder.versions(), up_to(2));
}

TEST(Restart, AnotherStoreOnTheSameEndpointIsReadAnew) {
  TestServer server;
  const auto agent = server.connect("a");
  const auto board = join(*agent, board_id);
  Recorder watching;
  Recorder following;
  board->watch(watching.watcher());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(board->apply(DeltaBuilder().set("old", i)));
  ASSERT_TRUE(agent->follow(board_id, 0, {}, following.watcher()));
  ASSERT_TRUE(following.wait_for_version(5));
  const std::string old_epoch = agent->epoch();
  server.stop();
  const Ticket based = board->submit(DeltaBuilder(5).set("old", "based on what is gone"));
  const Ticket unbased = board->submit(DeltaBuilder().set("new", 1));
  server.use_other_store();
  server.start();
  const auto refused = based.wait(long_enough);
  ASSERT_TRUE(refused);
  ASSERT_TRUE(refused->error);
  EXPECT_EQ(refused->error->code, ErrorCode::wrong_epoch);
  const auto accepted = unbased.wait(long_enough);
  ASSERT_TRUE(accepted);
  EXPECT_EQ(accepted->version, 1U);
  ASSERT_TRUE(wait_until([&] { return board->resyncs() == 1 && board->version() == 1; }));
  EXPECT_NE(agent->epoch(), old_epoch);
  EXPECT_EQ(board->get("old"), std::nullopt);
  EXPECT_EQ(board->get("new"), Value(1));
  EXPECT_EQ(digest_of(*board), server_digest(*agent, board_id));
  EXPECT_TRUE(watching.wait_for_type(BoardEvent::Type::resync));
  EXPECT_TRUE(following.wait_for_type(BoardEvent::Type::resync));
}

}  // namespace
}  // namespace tafel::sdk
