#include "demo/oracle.hpp"

#include <gtest/gtest.h>

#include "tests/demo/schedule_fixture.hpp"

namespace tafel::demo {
namespace {

constexpr auto guess = Confidence::guess;
constexpr auto stated = Confidence::stated;
constexpr auto verified = Confidence::verified;

Losses lost(const ScheduleBuilder& builder, const Ending& ending) { return find_losses(builder.schedule(), ending); }

TEST(Oracle, ALaterWriterWhoHadSeenTheWordMayReplaceIt) {
  const auto builder = ScheduleBuilder().arrive(0, {said("x", 1)}).arrive(1, {said("x", 2)});
  EXPECT_EQ(lost(builder, shows("x", 2)), Losses{});
}

TEST(Oracle, AWordThatTheLaterWriterHadNotSeenIsALostUpdate) {
  const auto builder = ScheduleBuilder().arrive(0, {said("x", 1)}).arrive(0, {said("x", 2)});
  EXPECT_EQ(lost(builder, shows("x", 2)), Losses{.updates = 1});
  EXPECT_EQ(lost(builder, shows("x", 2, {1})), Losses{});
}

TEST(Oracle, TheSameWordTwiceIsThereWhenItIsShownOnce) {
  const auto builder = ScheduleBuilder().arrive(0, {said("x", 1)}).arrive(0, {said("x", 1)});
  EXPECT_EQ(lost(builder, shows("x", 1)), Losses{});
}

TEST(Oracle, AVerifiedFactThatGaveWayToAGuessIsOverwritten) {
  const auto builder =
      ScheduleBuilder().arrive(0, {said("toefl", "105", verified)}).arrive(1, {said("toefl", "随便看看吧", guess)});
  EXPECT_EQ(lost(builder, shows("toefl", "随便看看吧")), Losses{.facts = 1});
  EXPECT_EQ(lost(builder, shows("toefl", "105")), Losses{});
}

TEST(Oracle, AVerifiedFactMayBeReplacedByAnotherOneThatSawIt) {
  const auto builder =
      ScheduleBuilder().arrive(0, {said("toefl", 98, verified)}).arrive(1, {said("toefl", 104, verified)});
  EXPECT_EQ(lost(builder, shows("toefl", 104)), Losses{});
  EXPECT_EQ(lost(builder, shows("toefl", 98)), Losses{.facts = 1});
}

TEST(Oracle, OfTwoConcurrentVerifiedFactsTheMissingOneIsALostUpdate) {
  const auto builder = ScheduleBuilder().arrive(0, {said("x", 1, verified)}).arrive(0, {said("x", 2, verified)});
  EXPECT_EQ(lost(builder, shows("x", 1)), Losses{.updates = 1});
}

TEST(Oracle, AWeakerWordIsCoveredByASurerOneInEitherOrder) {
  EXPECT_EQ(lost(ScheduleBuilder().arrive(0, {said("x", 1, guess)}).arrive(0, {said("x", 2, stated)}), shows("x", 2)),
            Losses{});
  EXPECT_EQ(lost(ScheduleBuilder().arrive(0, {said("x", 2, stated)}).arrive(0, {said("x", 1, guess)}), shows("x", 2)),
            Losses{});
}

TEST(Oracle, AFieldThatShowsABlankIsFlushedWhateverItHeld) {
  for (const Value& blank : {Value(""), Value("  "), Value(), Value(List{})}) {
    EXPECT_EQ(lost(ScheduleBuilder().arrive(0, {said("x", 1)}), shows("x", blank)), Losses{.flushed = 1})
        << brief(blank);
    EXPECT_EQ(lost(ScheduleBuilder().arrive(0, {said("x", 1, verified)}), shows("x", blank)), Losses{.flushed = 1})
        << brief(blank);
  }
}

TEST(Oracle, AFieldThatIsNotThereAtAllIsALostUpdate) {
  EXPECT_EQ(lost(ScheduleBuilder().arrive(0, {said("x", 1)}), Ending{}), Losses{.updates = 1});
  EXPECT_EQ(lost(ScheduleBuilder().arrive(0, {said("x", 1, verified)}), Ending{}), Losses{.facts = 1});
}

TEST(Oracle, AMemberMayBeMissingOnlyWhenARemoverHadSeenIt) {
  const auto unseen = ScheduleBuilder().arrive(0, {added("s", "a")}).arrive(0, {added("s", "b")});
  EXPECT_EQ(lost(unseen, shows("s", List{"b"})), Losses{.members = 1});
  EXPECT_EQ(lost(unseen, shows("s", List{"b", "a"})), Losses{});
  const auto seen = ScheduleBuilder().arrive(0, {added("s", "a"), added("s", "b")}).arrive(1, {removed("s", "a")});
  EXPECT_EQ(lost(seen, shows("s", List{"b"})), Losses{});
}

TEST(Oracle, ARemovalDoesNotReachAnAdditionThatItHadNotSeen) {
  const auto builder = ScheduleBuilder()
                           .arrive(0, {added("s", "a")})
                           .arrive(0, {added("s", "a")})     // concurrent with the first
                           .arrive(1, {removed("s", "a")});  // saw the first one only
  EXPECT_EQ(lost(builder, shows("s", List{"a"})), Losses{});
  EXPECT_EQ(lost(builder, Ending{}), Losses{.members = 1});
}

TEST(Oracle, ARemovalThatIsUndoneByNobodysWordIsALostUpdate) {
  const auto builder = ScheduleBuilder().arrive(0, {added("s", "a")}).arrive(1, {removed("s", "a")});
  EXPECT_EQ(lost(builder, shows("s", List{"a"})), Losses{.updates = 1});
}

TEST(Oracle, AWeakerRemovalMayBeObeyedOrNot) {
  const auto builder = ScheduleBuilder().arrive(0, {added("s", "a", stated)}).arrive(1, {removed("s", "a", guess)});
  EXPECT_EQ(lost(builder, shows("s", List{"a"})), Losses{});
  EXPECT_EQ(lost(builder, Ending{}), Losses{});
}

TEST(Oracle, AListThatBecameBlankIsOneFlushedField) {
  const auto builder = ScheduleBuilder().arrive(0, {added("s", "a"), added("s", "b")});
  EXPECT_EQ(lost(builder, shows("s", List{})), Losses{.flushed = 1});
}

TEST(Oracle, ACounterShowsTheSum) {
  const Word one{path_of("n"), Word::Act::count, 1, stated};
  const auto builder = ScheduleBuilder().arrive(0, {one}).arrive(0, {one}).arrive(0, {one});
  EXPECT_EQ(lost(builder, shows("n", 3)), Losses{});
  EXPECT_EQ(lost(builder, shows("n", 1)), (Losses{.updates = 2, .increments = 2}));
}

TEST(Oracle, ALogHoldsEveryEntry) {
  const auto entry = [](int number) { return Word{path_of("log"), Word::Act::append, number, stated}; };
  const auto builder = ScheduleBuilder().arrive(0, {entry(1)}).arrive(0, {entry(2)});
  EXPECT_EQ(lost(builder, shows("log", List{1, 2})), Losses{});
  EXPECT_EQ(lost(builder, shows("log", List{2})), Losses{.updates = 1});
}

TEST(Oracle, ReadsABoardAndATreeAlike) {
  blackboard::Board board;
  put_register(board, "a.b", {{1, dot_of(1, stated)}, {2, dot_of(2, stated)}});
  put_element(board, "s", "x", dot_of(3, stated));
  const Ending of_board = ending_of(board);
  EXPECT_EQ(of_board.at(path_of("a.b")).value, Value(2));
  EXPECT_EQ(of_board.at(path_of("a.b")).beside, std::vector<Value>{1});
  EXPECT_EQ(of_board.at(path_of("s")).value, Value(List{"x"}));
  const Ending of_tree = ending_of(Value(Map{{"a", Map{{"b", 2}}}, {"s", List{"x"}}}));
  EXPECT_EQ(of_tree.size(), 2U);
  EXPECT_EQ(of_tree.at(path_of("a.b")).value, Value(2));
}

}  // namespace
}  // namespace tafel::demo
