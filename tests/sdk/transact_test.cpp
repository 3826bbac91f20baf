#include <atomic>

#include "blackboard/read.hpp"
#include "tests/sdk/server_fixture.hpp"

namespace tafel::sdk {
namespace {

const std::string board_id = "acme/board";

std::int64_t read_number(const blackboard::Board& board, const std::string& path) {
  const auto value = blackboard::value_at(board, *Path::parse(path), {});
  return value ? value->as_int64().value_or(0) : 0;
}

struct TransactTest : ::testing::Test {
  TestServer server;
  std::unique_ptr<Agent> agent = server.connect("a");
  std::shared_ptr<BoardHandle> board = join(*agent, board_id);
};

TEST_F(TransactTest, SixteenRacersEachWinAndTheSumIsExact) {
  constexpr int racers = 16;
  const int rounds = 2 * effort;
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Agent>> agents;
  for (int i = 0; i < 4; ++i) agents.push_back(server.connect("racer" + std::to_string(i)));
  std::vector<std::shared_ptr<BoardHandle>> boards;
  for (const auto& racing : agents) boards.push_back(join(*racing, board_id));
  for (int i = 0; i < racers; ++i) {
    threads.emplace_back([&, mine = boards[static_cast<std::size_t>(i) % boards.size()]] {
      for (int round = 0; round < rounds; ++round) {
        const auto receipt = mine->transact(
            [](const blackboard::Board& seen) { return DeltaBuilder().set("n", read_number(seen, "n") + 1); }, 100'000);
        ASSERT_TRUE(receipt) << receipt.error().message;
        ASSERT_FALSE(receipt->error) << receipt->error->message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Version last = static_cast<Version>(racers) * static_cast<Version>(rounds);
  ASSERT_TRUE(board->wait_for(last, long_enough));
  EXPECT_EQ(board->get("n"), Value(std::int64_t{racers} * rounds));
}

TEST_F(TransactTest, ItsOwnGuardIsKept) {
  ASSERT_TRUE(board->apply(DeltaBuilder().set("lock", "free").set("other", 1)));
  int computed = 0;
  const auto receipt = board->transact([&](const blackboard::Board&) {
    if (++computed == 1)
      EXPECT_TRUE(agent->apply(board_id, DeltaBuilder().set("other", 2)));  // moves the board, not the lock
    return DeltaBuilder().set("lock", "mine").expect("lock", 1);
  });
  ASSERT_TRUE(receipt);
  EXPECT_FALSE(receipt->error);
  EXPECT_EQ(computed, 1);
}

TEST_F(TransactTest, RepeatsOnWhatItFoundWhenTheBoardHasMoved) {
  int computed = 0;
  const auto receipt = board->transact([&](const blackboard::Board& seen) {
    if (++computed == 1) EXPECT_TRUE(agent->apply(board_id, DeltaBuilder().set("n", 41)));
    return DeltaBuilder().set("n", read_number(seen, "n") + 1);
  });
  ASSERT_TRUE(receipt);
  EXPECT_FALSE(receipt->error);
  EXPECT_EQ(computed, 2);
  EXPECT_EQ(board->get("n"), Value(42));
}

TEST_F(TransactTest, TheLastRefusalIsGivenAfterSoManyAttempts) {
  int computed = 0;
  const auto receipt = board->transact(
      [&](const blackboard::Board&) {
        ++computed;
        return DeltaBuilder().set("a", 1).expect_value("lock", "mine");
      },
      3);
  ASSERT_TRUE(receipt);
  ASSERT_TRUE(receipt->error);
  EXPECT_EQ(receipt->error->code, ErrorCode::stale);
  EXPECT_EQ(computed, 3);
}

TEST_F(TransactTest, OtherRefusalsAreNotRepeated) {
  int computed = 0;
  const auto receipt = board->transact([&](const blackboard::Board&) {
    ++computed;
    return DeltaBuilder().set("", 1);
  });
  ASSERT_TRUE(receipt);
  ASSERT_TRUE(receipt->error);
  EXPECT_EQ(receipt->error->code, ErrorCode::bad_path);
  EXPECT_EQ(computed, 1);
}

TEST_F(TransactTest, AComputationMayStop) {
  const auto receipt = board->transact([](const blackboard::Board&) { return std::optional<DeltaBuilder>(); });
  ASSERT_FALSE(receipt);
  EXPECT_EQ(receipt.error().fault, Fault::refused);
  EXPECT_EQ(board->version(), 0U);
}

}  // namespace
}  // namespace tafel::sdk
