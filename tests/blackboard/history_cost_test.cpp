// Questions about the past take a number of look-ups that grows with the logarithm of the history. Counted, not timed:
// bench/history_bench.cpp does that, on a history a hundred times as long.
#include "bench/history_questions.hpp"
#include "tests/blackboard/store_fixture.hpp"
#include "tests/effort.hpp"

namespace tafel::store {
namespace {

using bench::HistoryBoard;
using testing::must;

// An open store on LMDB that counts.
struct CountedStore {
  testing::OnLmdb place;
  bench::LookUps look_ups = 0;
  SeededRandom random{1};
  std::unique_ptr<Store> store = must(Store::open(std::make_unique<bench::CountingKv>(place.open(), look_ups), random));
};

constexpr Version versions = is_quick ? 2'000 : 10'000;

void ask_everything(const HistoryBoard& board) {
  CountedStore counted;
  must(board.build(*counted.store, 500));
  std::mt19937_64 dice(1);
  for (const bench::About about : bench::all_questions) {
    for (int i = 0; i < 10 * effort; ++i) {
      const bench::Asked asked = bench::random_question(about, board, dice);
      counted.look_ups = 0;
      const auto answer = bench::answer_of(*counted.store, asked);
      EXPECT_LE(counted.look_ups, bench::look_ups_allowed(board, asked))
          << bench::name_of(about) << " of " << HistoryBoard::path_of(asked.field) << " at " << asked.version;
      EXPECT_TRUE(bench::is_right(board, asked, answer))
          << bench::name_of(about) << " of " << HistoryBoard::path_of(asked.field) << " at " << asked.version;
    }
  }
}

TEST(HistoryCost, IsLogarithmicOnABoardOfManyFields) { ask_everything({"board", versions, versions / 10}); }
TEST(HistoryCost, IsLogarithmicForAFieldThatIsWrittenAllTheTime) { ask_everything({"board", versions, 1}); }

}  // namespace
}  // namespace tafel::store
