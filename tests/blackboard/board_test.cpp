#include "blackboard/board.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/blackboard/board_builder.hpp"
#include "tests/blackboard/changes_by_hand.hpp"

namespace tafel::blackboard {
namespace {

using testing::add_element;
using testing::gone;
using testing::path_of;
using testing::set_leaf;

Board board_of(const std::vector<Change>& changes) {
  Board board;
  board.apply(1, changes);
  return board;
}

TEST(Board, AnEmptyBoardHasTheDigestZero) { EXPECT_EQ(Board().digest(), Sum128{}); }

TEST(Board, DigestDoesNotDependOnTheOrderOfCells) {
  std::vector<Change> changes{set_leaf("a", 1, 1), set_leaf("b", 2, 1), add_element("c", "x", 1)};
  const Sum128 digest = board_of(changes).digest();
  std::reverse(changes.begin(), changes.end());
  EXPECT_EQ(board_of(changes).digest(), digest);
}

TEST(Board, DigestForgetsWhatIsGone) {
  Board board = board_of({set_leaf("a", 1, 1)});
  const Sum128 before = board.digest();
  board.apply(2, {set_leaf("b", 2, 2)});
  EXPECT_NE(board.digest(), before);
  board.apply(3, {gone(leaf_key(path_of("b")))});
  EXPECT_EQ(board.digest(), before);
}

TEST(Board, AnAfterImageReplacesTheCell) {
  Board board = board_of({set_leaf("a", 1, 1)});
  board.apply(2, {set_leaf("a", 2, 2)});
  EXPECT_EQ(board.cells().size(), 1U);
  EXPECT_EQ(board.digest(), board_of({set_leaf("a", 2, 2)}).digest());
  EXPECT_EQ(board.version(), 2U);
}

TEST(Board, DigestTellsOneFieldFromAnother) {
  EXPECT_NE(board_of({set_leaf("a", 1, 1)}).digest(), board_of({set_leaf("b", 1, 1)}).digest());
}

TEST(Board, RemovingWhatIsNotThereChangesNothing) {
  Board board = board_of({set_leaf("a", 1, 1)});
  const Sum128 before = board.digest();
  board.put(leaf_key(path_of("z")), std::nullopt);
  EXPECT_EQ(board.digest(), before);
  EXPECT_EQ(board.cells().size(), 1U);
}

TEST(Board, RangeIsThePathAndWhatLiesBelow) {
  const Board board = board_of({set_leaf("a.b", 1, 1), set_leaf("a-b", 1, 1), set_leaf("ab", 1, 1),
                                set_leaf("a.c.d", 1, 1), add_element("a.s", "x", 1), set_leaf("b", 1, 1)});
  const auto [first, last] = board.range(path_of("a"));
  std::vector<std::string> found;
  for (auto cell = first; cell != last; ++cell) found.push_back(cell->first.path.text());
  EXPECT_EQ(found, (std::vector<std::string>{"a.b", "a.c.d", "a.s"}));
}

TEST(Board, RangeOfNoPathIsEverything) {
  const Board board = board_of({set_leaf("a", 1, 1), set_leaf("b", 1, 1)});
  const auto [first, last] = board.range(std::nullopt);
  EXPECT_EQ(std::distance(first, last), 2);
}

TEST(Board, LosesEveryCellWhenItIsDeleted) {
  Board board = board_of({set_leaf("a", 1, 1), add_element("国家", "美国", 1), set_leaf("$tags.x", 1, 1)});
  board.apply(2, {{board_key(), std::nullopt}});
  EXPECT_TRUE(board.cells().empty());
  EXPECT_EQ(board.digest(), Sum128{});
  EXPECT_EQ(board.version(), 2U);
}

TEST(Board, FindsACellByItsKey) {
  const Board board = board_of({add_element("s", "x", 1)});
  EXPECT_NE(board.find(element_key(path_of("s"), "x")), nullptr);
  EXPECT_EQ(board.find(element_key(path_of("s"), "y")), nullptr);
  EXPECT_EQ(board.find(leaf_key(path_of("s"))), nullptr);
}

}  // namespace
}  // namespace tafel::blackboard
