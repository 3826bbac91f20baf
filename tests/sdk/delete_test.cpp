// A board that is deleted while agents follow and write to it.
#include <atomic>

#include "agents_sdk/cpp/history.hpp"
#include "tests/sdk/server_fixture.hpp"

namespace tafel::sdk {
namespace {

const std::string board_id = "acme/旅行/42";

std::string code_of(const Result<Receipt>& receipt) {
  if (!receipt) return "no receipt: " + receipt.error().message;
  return receipt->error ? std::string(name_of(receipt->error->code)) : "none";
}

TEST(DeletedBoard, TheMirrorIsEmptyAndSaysSo) {
  TestServer server;
  const auto agent = server.connect("a");
  const auto officer = server.connect("officer");
  const auto board = join(*agent, board_id);
  Recorder watching;
  board->watch(watching.watcher());
  ASSERT_TRUE(board->apply(DeltaBuilder().set("城市", "上海")));
  EXPECT_FALSE(board->deleted());
  const auto receipt = officer->apply(board_id, DeltaBuilder().delete_board());
  ASSERT_EQ(code_of(receipt), "none");
  ASSERT_TRUE(board->wait_for(receipt->version, long_enough));
  EXPECT_EQ(board->deleted(), Version{2});
  EXPECT_EQ(board->version(), 2U);
  EXPECT_EQ(board->digest(), Sum128{});
  EXPECT_EQ(board->state(), Value(Map{}));
  EXPECT_FALSE(board->get("城市"));
  ASSERT_TRUE(watching.wait_for_type(BoardEvent::Type::deleted));
  EXPECT_EQ(watching.versions(), up_to(2));
  EXPECT_EQ(watching.events().back().version, 2U);

  const auto context = board->context({});
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().code, "deleted");
  EXPECT_EQ(context.error().message, "the board acme/旅行/42 was deleted at version 2");
  EXPECT_EQ(code_of(board->apply(DeltaBuilder().set("城市", "北京"))), "deleted");
  const auto waited = board->wait_for(3, long_enough);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().fault, Fault::deleted);
  EXPECT_EQ(code_of(board->transact([](const blackboard::Board&) { return DeltaBuilder().incr("n"); })), "deleted");
}

TEST(DeletedBoard, CanNotBeJoinedFollowedOrRead) {
  TestServer server;
  const auto agent = server.connect("a");
  ASSERT_TRUE(agent->apply(board_id, DeltaBuilder().set("a", 1)));
  ASSERT_EQ(code_of(agent->apply(board_id, DeltaBuilder().delete_board())), "none");
  const auto joined = agent->join(board_id);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().fault, Fault::deleted);
  EXPECT_NE(joined.error().message.find("was deleted at version 2 by a"), std::string::npos) << joined.error().message;
  const auto followed = agent->follow(board_id, 0, {}, [](const BoardEvent&) {});
  ASSERT_FALSE(followed);
  EXPECT_EQ(followed.error().fault, Fault::deleted);
  const auto read = History(*agent, board_id).get("a", {.version = 1});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().fault, Fault::deleted);
}

TEST(DeletedBoard, AStreamEndsWithIt) {
  TestServer server;
  const auto agent = server.connect("a");
  ASSERT_TRUE(agent->apply(board_id, DeltaBuilder().set("a", 1)));
  Recorder recorder;
  ASSERT_TRUE(agent->follow(board_id, 0, {"other"}, recorder.watcher()));
  ASSERT_TRUE(recorder.wait_for_version(1));
  ASSERT_EQ(code_of(agent->apply(board_id, DeltaBuilder().delete_board())), "none");
  ASSERT_TRUE(recorder.wait_for_type(BoardEvent::Type::deleted));
  EXPECT_EQ(recorder.versions(), up_to(2));
  EXPECT_EQ(recorder.events().back().type, BoardEvent::Type::deleted);
}

TEST(DeletedBoard, OneThatWasAwayIsToldWhenItIsBack) {
  TestServer server;
  const auto agent = server.connect("a");
  const auto board = join(*agent, board_id);
  ASSERT_TRUE(board->apply(DeltaBuilder().set("a", 1)));
  Recorder watching;
  Recorder following;
  board->watch(watching.watcher());
  ASSERT_TRUE(agent->follow(board_id, 1, {}, following.watcher()));
  server.stop();
  // The endpoint that they know answers again only when it is done.
  server.start_elsewhere();
  {
    const auto officer = server.connect("officer");
    ASSERT_TRUE(officer->apply(board_id, DeltaBuilder().set("a", 2)));
    ASSERT_EQ(code_of(officer->apply(board_id, DeltaBuilder().delete_board())), "none");
  }
  server.stop();
  server.start();
  ASSERT_TRUE(watching.wait_for_type(BoardEvent::Type::deleted));
  ASSERT_TRUE(following.wait_for_type(BoardEvent::Type::deleted));
  EXPECT_EQ(board->deleted(), Version{3});
  EXPECT_EQ(board->state(), Value(Map{}));
  EXPECT_TRUE(watching.versions().empty());
  EXPECT_TRUE(following.versions().empty());
}

TEST(DeletedBoard, AWatcherThatWasNotReadingIsToldToo) {
  TestServer server;
  const auto agent = server.connect("a");
  const auto writer = server.connect("writer");
  const auto board = join(*agent, board_id);
  Recorder slow;
  board->watch(slow.watcher());
  slow.block(true);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 3000; ++i) tickets.push_back(writer->submit(board_id, DeltaBuilder().incr("n")));
  for (const Ticket& ticket : tickets) ASSERT_TRUE(ticket.wait(long_enough));
  ASSERT_TRUE(board->wait_for(3000, long_enough));
  ASSERT_EQ(code_of(writer->apply(board_id, DeltaBuilder().delete_board())), "none");
  ASSERT_TRUE(board->wait_for(3001, long_enough));
  slow.block(false);
  ASSERT_TRUE(slow.wait_for_type(BoardEvent::Type::deleted));
  EXPECT_EQ(slow.events().back().version, 3001U);
  // What it was sent came in order, each once; the rest of the history is gone.
  const auto versions = slow.versions();
  EXPECT_EQ(versions, up_to(versions.size()));
}

// RO9: https://github.com/langchain-ai/langgraph/pull/7207
TEST(DeletedBoard, UnderEightWritersNothingComesBack_RO9) {
  TestServer server;
  const auto officer = server.connect("officer");
  const auto watching = server.connect("watching");
  const auto board = join(*watching, board_id);
  std::atomic<Version> newest{0};
  std::atomic<std::size_t> refused{0};
  std::atomic<bool> stop{false};
  std::vector<std::unique_ptr<Agent>> agents;
  for (int i = 0; i < 8; ++i) agents.push_back(server.connect("w" + std::to_string(i)));
  std::vector<std::vector<Receipt>> receipts(agents.size());
  std::vector<std::thread> writers;
  for (std::size_t i = 0; i < agents.size(); ++i) {
    writers.emplace_back([&, i] {
      // Several in flight at any moment, of any age.
      std::vector<Ticket> open;
      while (!stop || !open.empty()) {
        while (!stop && open.size() < 16)
          open.push_back(agents[i]->submit(board_id, DeltaBuilder().incr("n").append("log", "第" + std::to_string(i))));
        const auto receipt = open.front().wait(long_enough);
        open.erase(open.begin());
        ASSERT_TRUE(receipt) << receipt.error().message;
        receipts[i].push_back(*receipt);
        receipt->error ? void(++refused) : newest.store(receipt->version);
      }
    });
  }
  ASSERT_TRUE(wait_until([&] { return newest > 200; }));
  const auto deleted = officer->apply(board_id, DeltaBuilder().delete_board());
  ASSERT_EQ(code_of(deleted), "none");
  ASSERT_TRUE(board->wait_for(deleted->version, long_enough));
  EXPECT_TRUE(wait_until([&] { return refused > 100; }));
  stop = true;
  for (std::thread& writer : writers) writer.join();

  std::vector<Version> versions;
  for (const auto& each : receipts) {
    bool is_over = false;
    for (const Receipt& receipt : each) {
      if (receipt.error) {
        EXPECT_EQ(receipt.error->code, ErrorCode::deleted) << receipt.error->message;
        EXPECT_EQ(receipt.version, deleted->version);
        is_over = true;
      } else {
        EXPECT_FALSE(is_over) << "a delta was applied after one was refused as deleted";
        versions.push_back(receipt.version);
      }
    }
  }
  // Every version before the deletion is some writer's, and there is none after it.
  std::sort(versions.begin(), versions.end());
  EXPECT_EQ(versions, up_to(deleted->version - 1));
  EXPECT_EQ(board->version(), deleted->version);
  EXPECT_TRUE(board->snapshot()->cells().empty());
  const auto listed = officer->query(Map{{"what", "boards"}}, long_enough);
  ASSERT_TRUE(listed);
  EXPECT_EQ(*listed->find("boards"), Value(List{}));
  for (const auto& agent : agents)
    EXPECT_EQ(code_of(agent->apply(board_id, DeltaBuilder().set("late", true))), "deleted");
}

}  // namespace
}  // namespace tafel::sdk
