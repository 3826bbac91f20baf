// The past through the SDK: every question, and the deltas that lead back.
#include "agents_sdk/cpp/history.hpp"

#include "common/base/limits.hpp"
#include "tests/sdk/server_fixture.hpp"

namespace tafel::sdk {
namespace {

const std::string board_id = "acme/旅行/7";

struct HistoryTest : ::testing::Test {
  Receipt write(const DeltaBuilder& delta) {
    const auto receipt = agent->apply(board_id, delta);
    EXPECT_TRUE(receipt) << receipt.error().message;
    EXPECT_FALSE(receipt->error) << receipt->error->message;
    return *receipt;
  }
  Value state() { return past.get("")->value_or(Value()); }

  TestServer server;
  std::unique_ptr<Agent> agent = server.connect("ann");
  std::unique_ptr<Agent> bot = server.connect("bot");
  History past{*agent, board_id};
};

TEST_F(HistoryTest, AnOlderValueByVersionAndByTime) {
  write(DeltaBuilder().set("a", 1));
  write(DeltaBuilder().set("a", 2));
  EXPECT_EQ(**past.get("a", {.version = 1}), Value(1));
  EXPECT_EQ(**past.get("a"), Value(2));
  EXPECT_FALSE(past.get("a", {.version = 0})->has_value());
  EXPECT_FALSE(past.get("a", {.time = 5})->has_value());
  const auto blamed = past.blame("a");
  ASSERT_TRUE(blamed);
  EXPECT_EQ(**past.get("a", {.time = blamed->at(0).said.time}), Value(2));
  EXPECT_EQ(past.get("a", {.version = 9}).error().fault, Fault::refused);
}

TEST_F(HistoryTest, BlameAndDiffAreRead) {
  write(DeltaBuilder().set("a", 1).add("s", {"x"}).append("log", "一").source({"turn", "turn-5", {"E-17"}, ""}));
  ASSERT_TRUE(bot->apply(board_id, DeltaBuilder(0).set("a", 2).add("s", {"y"}).confidence(Confidence::stated)));
  const auto blamed = past.blame();
  ASSERT_TRUE(blamed);
  ASSERT_EQ(blamed->size(), 3U);
  EXPECT_EQ(blamed->at(0).path, "a");
  EXPECT_EQ(blamed->at(0).said.actor, "bot");
  EXPECT_EQ(blamed->at(0).conflicts.at(0).source.evidence, std::vector<std::string>{"E-17"});
  EXPECT_EQ(blamed->at(1).kind, Kind::log);
  EXPECT_EQ(blamed->at(1).parts.at(0).id, "1.2");
  EXPECT_EQ(blamed->at(2).parts.at(1).actor, "bot");
  const auto difference = past.diff({.version = 1});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->to, 2U);
  ASSERT_EQ(difference->fields.size(), 2U);
  EXPECT_EQ(difference->fields[0].before->value, Value(1));
  EXPECT_EQ(difference->fields[0].after->value, Value(2));
  EXPECT_EQ(difference->fields[1].elements.added.at(0).value, Value("y"));
}

TEST_F(HistoryTest, TheWholeBoardGoesBack) {
  write(DeltaBuilder().set("r.a", 1).set("b", 1).add("s", {"x", "y"}));
  const Value before = state();
  write(DeltaBuilder().set("r.a", 2).set("new", 1).remove("s", {"x"}).unset("b"));
  const auto delta = past.revert_to(1);
  ASSERT_TRUE(delta) << delta.error().message;
  EXPECT_EQ(delta->delta().ops.size(), 4U);
  EXPECT_EQ(delta->delta().base, 2U);
  write(*delta);
  EXPECT_EQ(state(), before);
  EXPECT_TRUE(past.revert_to(3)->delta().ops.empty());
}

TEST_F(HistoryTest, WhatIsWrittenMeanwhileStays) {
  write(DeltaBuilder().incr("n", 5));
  write(DeltaBuilder().incr("n", 10));
  const auto delta = past.revert_to(1);
  write(DeltaBuilder().incr("n", 100));
  write(*delta);
  EXPECT_EQ(**past.get("n"), Value(105));
}

TEST_F(HistoryTest, OneActorsWritesGo) {
  write(DeltaBuilder().set("a", 1).set("b", 1));
  ASSERT_TRUE(bot->apply(board_id, DeltaBuilder().set("a", 2).set("b", 2).set("c", 2)));
  write(DeltaBuilder().set("b", 3));
  EXPECT_EQ(*past.touched("bot", 0), (std::vector<std::string>{"a", "b", "c"}));
  write(*past.revert_actor("bot", 0));
  EXPECT_EQ(state(), Value(Map{{"a", 1}, {"b", 3}}));
  write(*past.revert_actor("ann", 3, "b"));
  EXPECT_EQ(**past.get("b"), Value(3));
}

TEST_F(HistoryTest, SuggestionsAreDecidedOn) {
  write(DeltaBuilder().set("a", 1).set("b", 1).confidence(Confidence::verified));
  ASSERT_TRUE(bot->apply(board_id, DeltaBuilder().set("a", 2).set("b", 2).confidence(Confidence::guess)));
  const auto held = past.suggestions();
  ASSERT_TRUE(held);
  ASSERT_EQ(held->size(), 2U);
  EXPECT_EQ(held->at(0).path, "a");
  EXPECT_EQ(held->at(0).suggestion.op, "set");
  EXPECT_EQ(held->at(0).suggestion.actor, "bot");
  EXPECT_EQ(past.accept("a", held->at(0).suggestion.id, Confidence::verified)->ops[0].outcome, Outcome::applied);
  EXPECT_EQ(past.dismiss("b", held->at(1).suggestion.id)->ops[0].outcome, Outcome::applied);
  EXPECT_EQ(state(), Value(Map{{"a", 2}, {"b", 1}}));
  EXPECT_TRUE(past.suggestions()->empty());
}

TEST(Covering, PathsAreCutUntilADeltaCanNameThem) {
  EXPECT_EQ(covering({"a", "a.b", "c.d"}), (std::vector<std::string>{"a", "c.d"}));
  std::vector<std::string> many;
  for (std::size_t i = 0; i <= limits::delta_ops_max; ++i)
    many.push_back("r.s" + std::to_string(i / 2) + ".x" + std::to_string(i));
  const auto cut = covering(many);
  EXPECT_EQ(cut.size(), limits::delta_ops_max / 2 + 1);
  EXPECT_EQ(cut.front(), "r.s0");
}

}  // namespace
}  // namespace tafel::sdk
