// Rules that the vectors do not reach: limits, rights, `current`, and what a rejected op leaves behind.
#include "common/base/limits.hpp"
#include "common/codec/receipt_codec.hpp"
#include "tests/conflict/board_fixture.hpp"

namespace tafel {
namespace {

using testing::BoardFixture;
using testing::says;

class Rules : public BoardFixture {
 protected:
  void grant(const std::string& actor, const std::string& paths, std::initializer_list<Right> rights, Confidence cap) {
    Grant grant{*Pattern::for_boards("**"), *Pattern::for_paths(paths), 0, cap};
    for (const Right right : rights) grant.rights |= 1U << static_cast<unsigned>(right);
    grants_[actor].push_back(grant);
    roles_.add_role(actor, grants_[actor]);
    roles_.add_actor(actor, {actor});
  }
  std::map<std::string, std::vector<Grant>> grants_;
};

TEST_F(Rules, ARejectedOpOfANonAtomicDeltaLeavesNothingBehind) {
  apply(R"({"set":{"a":1}})");
  const auto receipt = apply(
      R"({"atomic":false,"ops":[{"op":"set","path":"m","value":{"x":1}},{"op":"set","path":"z","value":{"b":2,"c":{"":3}}},
                                 {"op":"set","path":"a.b","value":{"c":1}}]})");
  EXPECT_EQ(says(receipt), "applied,rejected(bad_path),rejected(structure_conflict)");
  EXPECT_EQ(state(), R"({"a":1,"m":{"x":1}})");
}

TEST_F(Rules, ARejectedOpHasNoLastWord) {
  apply(R"({"ops":[{"op":"incr","path":"n"}]})");
  const auto receipt = apply(
      R"({"atomic":false,"ops":[{"op":"set","path":"a","value":1},{"op":"set","path":"a","value":{"b":2}},{"op":"set","path":"n","value":"x"}]})");
  EXPECT_EQ(says(receipt), "applied,rejected(structure_conflict),rejected(kind_mismatch)");
  const auto overridden = apply(
      R"({"atomic":false,"ops":[{"op":"set","path":"c","value":1},{"op":"set","path":"c","value":2,"ttl_ms":0}]})");
  EXPECT_EQ(says(overridden), "applied,rejected(bad_value)");
  EXPECT_EQ(state(), R"({"a":1,"c":1,"n":1})");
}

// `op` so many times, its # replaced by a number.
std::string wide_delta(std::size_t ops, const std::string& op) {
  std::string text = R"({"atomic":false,"ops":[)";
  for (std::size_t i = 0; i < ops; ++i) {
    const std::string n = std::to_string(i);
    text += (i == 0 ? "" : ",") + op;
    for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#')) text.replace(at, 1, n);
  }
  return text + "]}";
}

TEST_F(Rules, ADeltaSpeaksOfSoManyLeavesInAll) {
  const std::size_t most = limits::delta_leaves_max / 4;
  const auto within = apply(wide_delta(most, R"({"op":"set","path":"m#","value":{"a":1,"b":2,"c":3,"d":4}})"));
  ASSERT_EQ(within.ops.size(), most);
  for (const auto& op : within.ops) EXPECT_EQ(op.outcome, Outcome::applied);
  const std::size_t fit = limits::delta_leaves_max / 5;  // patches of a field with four elements
  const auto above = apply(wide_delta(fit + 1, R"({"op":"patch","path":"s#","add":[1,2,3],"remove":[4]})"));
  ASSERT_EQ(above.ops.size(), fit + 1);
  EXPECT_EQ(above.ops[fit - 1].outcome, Outcome::applied);
  ASSERT_TRUE(above.ops[fit].error);
  EXPECT_EQ(above.ops[fit].error->code, ErrorCode::too_large);
  EXPECT_EQ(above.ops[fit].error->path, "s" + std::to_string(fit));
}

TEST_F(Rules, TheUnsetsOfADeltaReachSoManyLeavesInAll) {
  const std::size_t most = limits::delta_leaves_max / 4;
  apply(wide_delta(most, R"({"op":"set","path":"m.x#","value":{"a":1,"b":2,"c":3,"d":4}})"));
  const auto receipt = apply(R"({"atomic":false,"ops":[{"op":"unset","path":"m"},{"op":"unset","path":"m"},
                                                       {"op":"set","path":"m.x0.a","value":9}]})");
  EXPECT_EQ(says(receipt), "applied,rejected(too_large),applied");
  EXPECT_EQ(state(), R"({"m":{"x0":{"a":9}}})");
}

TEST_F(Rules, RightsDecideByPathOpAndConfidence) {
  grant("lee", "**", {Right::read}, Confidence::verified);
  grant("lee", "budget.**", {Right::set}, Confidence::inferred);
  EXPECT_EQ(says(apply(R"({"set":{"budget.max":1}})", "lee")), "applied");
  EXPECT_NE(fields().find("\"inferred\""), std::string::npos);
  EXPECT_EQ(says(apply(R"({"confidence":"stated","set":{"budget.max":2}})", "lee")), "!forbidden");
  EXPECT_EQ(says(apply(R"({"set":{"visa":2}})", "lee")), "!forbidden");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"incr","path":"budget.n"}]})", "lee")), "!forbidden");
  EXPECT_EQ(says(apply(R"({"set":{"budget.max":1}})", "nobody")), "!forbidden");
  EXPECT_EQ(state(), R"({"budget":{"max":1}})");
}

TEST_F(Rules, StaleShowsOnlyWhatTheActorMayRead) {
  grant("boss", "**", {Right::read, Right::set}, Confidence::verified);
  grant("lee", "open.**", {Right::read, Right::set}, Confidence::verified);
  grant("lee", "**", {Right::set}, Confidence::verified);
  apply(R"({"set":{"secret":"宝","open.a":1}})", "boss");
  const auto receipt = apply(R"({"expect":{"fields":{"secret":0,"open.a":1}},"set":{"x":1}})", "lee");
  ASSERT_EQ(says(receipt), "!stale");
  EXPECT_EQ(receipt.error->path, "secret");
  EXPECT_FALSE(receipt.error->found);
  EXPECT_EQ(receipt.error->guards->find("secret"), nullptr);
  EXPECT_EQ(*receipt.error->guards->find("open.a")->find("value"), Value(1));
  EXPECT_EQ(says(apply(R"({"expect":{"values":{"secret":"宝"}},"set":{"x":1}})", "lee")), "!forbidden");
}

// A right to read an inner path is none to read what lies below it: `get` checks leaf by leaf, and so does all else.
TEST_F(Rules, WhatLiesBelowAPathIsShownInNoWayToWhoMayReadThePathOnly) {
  grant("boss", "**", {Right::read, Right::set}, Confidence::verified);
  grant("lee", "trip.*", {Right::read}, Confidence::verified);
  grant("lee", "mine.**", {Right::read, Right::set, Right::incr}, Confidence::verified);
  apply(R"({"set":{"trip.visa.passport":"P1234567"}})", "boss");
  const std::vector<std::string> attempts{
      R"({"expect":{"values":{"trip.visa":0}},"set":{"mine.z":1}})",
      R"({"expect":{"values":{"trip":0}},"set":{"mine.z":1}})",
      R"({"expect":{"fields":{"trip.visa":9}},"set":{"mine.z":1}})",
      R"({"json_patch":[{"op":"test","path":"/trip/visa","value":0}]})",
      R"({"json_patch":[{"op":"copy","from":"/trip/visa","path":"/mine/y"}]})",
      R"({"json_patch":[{"op":"copy","from":"/trip/visa/nothing","path":"/mine/y"}]})",
      R"({"json_patch":[{"op":"move","from":"/trip","path":"/mine/y"}]})"};
  for (const std::string& attempt : attempts) {
    const auto receipt = apply(attempt, "lee");
    ASSERT_TRUE(receipt.error) << attempt;
    EXPECT_EQ(receipt.error->code,
              attempt.find("fields") == std::string::npos ? ErrorCode::forbidden : ErrorCode::stale);
    const std::string told = codec::to_json(codec::receipt_to_value(receipt));
    EXPECT_EQ(told.find("P1234567"), std::string::npos) << told;
    EXPECT_EQ(told.find("passport"), std::string::npos) << told;
  }
  EXPECT_EQ(state(), R"({"trip":{"visa":{"passport":"P1234567"}}})");
}

TEST_F(Rules, WhatMayNotBeReadIsNotToldByARefusal) {
  grant("boss", "**", {Right::read, Right::set, Right::incr}, Confidence::verified);
  grant("lee", "n", {Right::incr}, Confidence::verified);
  apply(R"({"ops":[{"op":"incr","path":"n","by":42},{"op":"set","path":"sec.key","value":"S"}]})", "boss");
  const auto over = apply(R"({"ops":[{"op":"incr","path":"n","by":9223372036854775807}]})", "lee");
  ASSERT_EQ(says(over), "!out_of_bounds");
  EXPECT_EQ(over.error->message.find("42"), std::string::npos) << over.error->message;
  const auto unset = apply(R"({"unset":["sec"]})", "lee");
  ASSERT_EQ(says(unset), "!forbidden");
  EXPECT_EQ(unset.error->path, "sec");
  EXPECT_EQ(unset.error->message.find("key"), std::string::npos) << unset.error->message;
}

TEST_F(Rules, AReceiptRepeatsSoMuchOfTheBoardAndNoMore) {
  std::string sure = R"({"confidence":"verified","ops":[)";
  std::string guesses = R"({"confidence":"guess","ops":[)";
  const std::string text(20'000, 'x');
  for (int i = 0; i < 10; ++i) {
    const std::string comma = i == 0 ? "" : ",";
    const std::string path = "f" + std::to_string(i);
    sure += comma + R"({"op":"set","path":")" + path + R"(","value":")" + text + "\"}";
    guesses += comma + R"({"op":"set","path":")" + path + R"(","value":1})";
  }
  apply(sure + "]}");
  const auto receipt = apply(guesses + "]}");
  std::size_t repeated = 0;
  for (const auto& op : receipt.ops) {
    ASSERT_TRUE(op.current);
    EXPECT_EQ(op.current->version, 1U);
    if (!op.current->value.is_nil()) ++repeated;
  }
  EXPECT_EQ(repeated, limits::current_bytes_max / text.size());
}

TEST_F(Rules, SuggestionsAreBoundedAndTheOldestGoes) {
  apply(R"({"confidence":"verified","set":{"a":0}})");
  for (int i = 1; i <= 20; ++i) apply("{\"confidence\":\"guess\",\"set\":{\"a\":" + std::to_string(i) + "}}");
  const auto held = blackboard::suggestions(load(), std::nullopt, {now_, nullptr});
  ASSERT_EQ(held.size(), 16U);
  EXPECT_EQ(held.front().suggestion.value, Value(5));
  EXPECT_EQ(held.back().suggestion.value, Value(20));
}

TEST_F(Rules, CurrentTellsWhatTheBoardShowsInstead) {
  apply(R"({"set":{"a":1}})", "first");
  apply(R"({"base":1,"set":{"a":2}})", "second");
  const auto echo = apply(R"({"base":1,"set":{"a":1,"b":1}})", "third");
  ASSERT_EQ(says(echo), "unchanged(echo),applied");
  ASSERT_TRUE(echo.ops[0].current);
  EXPECT_EQ(echo.ops[0].current->value, Value(2));
  EXPECT_EQ(echo.ops[0].current->actor, "second");
  EXPECT_EQ(echo.ops[0].current->version, 2U);
  EXPECT_FALSE(echo.ops[1].current);
}

TEST_F(Rules, ASubtreeGuardSeesARemoval) {
  apply(R"({"set":{"t.a":1}})");
  apply(R"({"set":{"t.b":2}})");
  apply(R"({"unset":["t.b"]})");
  EXPECT_EQ(says(apply(R"({"expect":{"fields":{"t":1}},"set":{"x":1}})")), "!stale");
  EXPECT_EQ(says(apply(R"({"expect":{"fields":{"t":3}},"set":{"x":1}})")), "applied");
  EXPECT_EQ(says(apply(R"({"expect":{"fields":{"t.b":0}},"set":{"y":1}})")), "applied");
}

TEST_F(Rules, WhatHasExpiredIsAbsentBeforeAnySweep) {
  apply(R"({"ops":[{"op":"set","path":"presence.x","value":"here","ttl_ms":200}]})");
  EXPECT_EQ(state(), R"({"presence":{"x":"here"}})");
  now_ += 200;
  EXPECT_EQ(state(), "{}");
  EXPECT_EQ(
      says(apply(
          R"({"expect":{"fields":{"presence.x":0}},"ops":[{"op":"patch","path":"presence.x","add":["now a set"]}]})")),
      "applied");
  EXPECT_EQ(state(), R"({"presence":{"x":["now a set"]}})");
  EXPECT_TRUE(store_->verify(board_)->defects.empty());
}

// A reader whose clock is behind must not find a leaf with children.
TEST_F(Rules, WhatHasExpiredMakesRoomInTheStoredCells) {
  apply(
      R"({"ops":[{"op":"set","path":"a","value":1,"ttl_ms":100},{"op":"patch","path":"b.s","add":["x"],"ttl_ms":100}]})");
  now_ += 100;
  EXPECT_EQ(says(apply(R"({"set":{"a.b.c":2,"b":3}})")), "applied,applied");
  now_ -= 100;
  EXPECT_EQ(state(), R"({"a":{"b":{"c":2}},"b":3})");
}

TEST_F(Rules, AnExpiredLeafDoesNotHideALiveOneBesideIt) {
  apply(R"({"ops":[{"op":"set","path":"a.b","value":1,"ttl_ms":100},{"op":"set","path":"a.c","value":2}]})");
  now_ += 100;
  EXPECT_EQ(says(apply(R"({"set":{"a":[1]}})")), "!structure_conflict");
}

TEST_F(Rules, ManyDeltasReplayToTheSameStateAndDigest) {
  for (int i = 0; i < 200; ++i) {
    const std::string n = std::to_string(i);
    apply("{\"base\":" + std::to_string(i / 2 < static_cast<int>(version()) ? i / 2 : 0) + R"(,"confidence":")" +
          (i % 3 == 0 ? "guess" : "stated") + R"(","ops":[{"op":"set","path":"a.)" + std::to_string(i % 7) +
          R"(","value":)" + n + R"(},{"op":"patch","path":"s","add":["e)" + std::to_string(i % 11) +
          R"("],"remove":["e)" + std::to_string(i % 5) + R"("]},{"op":"append","path":"log","value":")" + n +
          R"("},{"op":"incr","path":"n","by":)" + n + "}]}");
  }
  const auto report = store_->verify(board_);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->defects.empty()) << report->defects.front();
  blackboard::Board mirror;
  for (const auto& event : events_) {
    mirror.apply(event->version, codec::feed_event_of(*event).changes);
    ASSERT_EQ(mirror.digest(), event->digest) << event->version;
  }
  EXPECT_EQ(mirror.cells().size(), load().cells().size());
}

}  // namespace
}  // namespace tafel
