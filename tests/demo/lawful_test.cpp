#include "demo/lawful.hpp"

#include <gtest/gtest.h>

#include "tests/demo/schedule_fixture.hpp"

namespace tafel::demo {
namespace {

constexpr auto guess = Confidence::guess;
constexpr auto stated = Confidence::stated;
constexpr auto confirmed = Confidence::confirmed;

class Lawful : public testing::Test {
 protected:
  // An event at version 9 whose writer had seen `base`.
  std::size_t losses(Version base, std::vector<Change> changes) const {
    codec::FeedEvent event;
    event.version = 9;
    event.base = base;
    event.changes = std::move(changes);
    return unlawful_losses(before, event).size();
  }

  static Change register_change(std::vector<Sibling> siblings) {
    return {leaf_key(path_of("x")), Cell(RegisterCell{std::move(siblings)})};
  }

  blackboard::Board before;
};

TEST_F(Lawful, AValueMayGoWhenTheWriterHadSeenIt) {
  put_register(before, "x", {{1, dot_of(5, stated)}});
  EXPECT_EQ(losses(5, {register_change({{2, dot_of(9, stated)}})}), 0U);
  EXPECT_EQ(losses(4, {register_change({{2, dot_of(9, stated)}})}), 1U);
  EXPECT_EQ(losses(4, {{leaf_key(path_of("x")), std::nullopt}}), 1U);
}

TEST_F(Lawful, AnUnseenValueMayStayBesideTheNewOne) {
  put_register(before, "x", {{1, dot_of(5, stated)}});
  EXPECT_EQ(losses(4, {register_change({{1, dot_of(5, stated)}, {2, dot_of(9, stated)}})}), 0U);
}

TEST_F(Lawful, AnUnseenWeakerValueMustBecomeASuggestion) {
  put_register(before, "x", {{1, dot_of(5, guess)}});
  const Change surer = register_change({{2, dot_of(9, confirmed)}});
  EXPECT_EQ(losses(4, {surer}), 1U);
  const Cell suggestion = SuggestionCell{SuggestionCell::Act::set, 1, dot_of(5, guess)};
  EXPECT_EQ(losses(4, {surer, {suggestion_key(path_of("x"), {5, 0}), suggestion}}), 0U);
}

TEST_F(Lawful, AnElementMayGoWhenItsRemoverHadSeenIt) {
  put_element(before, "s", "a", dot_of(5, stated));
  EXPECT_EQ(losses(5, {{element_key(path_of("s"), "a"), std::nullopt}}), 0U);
  EXPECT_EQ(losses(4, {{element_key(path_of("s"), "a"), std::nullopt}}), 1U);
}

TEST_F(Lawful, ADotMayGiveWayToANewerAndSurerOne) {
  put_element(before, "s", "a", dot_of(5, stated));
  ElementCell cell;
  cell.value = "a";
  cell.dots = {dot_of(9, confirmed)};
  EXPECT_EQ(losses(4, {{element_key(path_of("s"), "a"), Cell(cell)}}), 0U);
  cell.dots = {dot_of(9, guess)};
  EXPECT_EQ(losses(4, {{element_key(path_of("s"), "a"), Cell(cell)}}), 1U);
}

TEST_F(Lawful, ASuggestionMayGoWhenItWasSeenOrItsFieldIsFull) {
  const auto put = [this](std::uint32_t op) {
    Dot dot = dot_of(5, guess);
    dot.mark.op = op;
    before.put(suggestion_key(path_of("x"), dot.mark),
               Cell(SuggestionCell{SuggestionCell::Act::set, static_cast<int>(op), dot}));
  };
  put(0);
  const Change gone{suggestion_key(path_of("x"), {5, 0}), std::nullopt};
  EXPECT_EQ(losses(5, {gone}), 0U);
  EXPECT_EQ(losses(4, {gone}), 1U);
  for (std::uint32_t op = 1; op < 16; ++op) put(op);
  EXPECT_EQ(losses(4, {gone}), 0U);
}

}  // namespace
}  // namespace tafel::demo
