// revert (SEMANTICS 11): a new delta that takes a subtree back, case by case. The laws are in revert_laws_test.cpp.
#include "common/base/limits.hpp"
#include "tests/conflict/board_fixture.hpp"

namespace tafel {
namespace {

using testing::BoardFixture;
using testing::says;

class RevertRule : public BoardFixture {
 protected:
  Receipt revert(const std::string& path, Version to, const std::string& more = "", const std::string& actor = "lead") {
    return apply("{" + more + R"("ops":[{"op":"revert","path":")" + path + R"(","to":)" + std::to_string(to) + "}]}",
                 actor);
  }
  Receipt revert_actor(const std::string& path, const std::string& name, Version since, const std::string& more = "") {
    return apply("{" + more + R"("ops":[{"op":"revert","path":")" + path + R"(","actor":")" + name + R"(","since":)" +
                     std::to_string(since) + "}]}",
                 "lead");
  }
  void grant(const std::string& actor, const std::vector<Right>& rights, Confidence cap,
             const std::string& paths = "**") {
    Grant grant{*Pattern::for_boards("**"), *Pattern::for_paths(paths), 0, cap};
    for (const Right right : rights) grant.rights |= 1U << static_cast<unsigned>(right);
    roles_.add_role("role of " + actor, {grant});
    roles_.add_actor(actor, {"role of " + actor});
  }
};

TEST_F(RevertRule, EveryKindGoesBack) {
  apply(R"({"ops":[{"op":"set","path":"t.city","value":"上海"},{"op":"patch","path":"t.s","add":["a","b","c"]},
                   {"op":"incr","path":"t.n","by":3},{"op":"max","path":"t.hi","value":7},{"op":"min","path":"t.lo","value":7},
                   {"op":"append","path":"t.log","value":"一"}]})");
  const std::string before = state();
  apply(R"({"ops":[{"op":"set","path":"t.city","value":"北京"},{"op":"patch","path":"t.s","add":["d"],"remove":["a"]},
                   {"op":"incr","path":"t.n","by":5},{"op":"max","path":"t.hi","value":9},{"op":"min","path":"t.lo","value":1},
                   {"op":"append","path":"t.log","value":"二"},{"op":"unset","path":"t.log","entry":"1.5"},
                   {"op":"set","path":"t.new","value":1}]})");
  EXPECT_EQ(says(revert("t", 1)), "applied");
  EXPECT_EQ(state(), before);
  EXPECT_TRUE(store_->verify(board_)->defects.empty());
}

TEST_F(RevertRule, ADeltaLikeAnyOther) {
  apply(R"({"ops":[{"op":"set","path":"a","value":1}]})");
  apply(R"({"ops":[{"op":"set","path":"a","value":2}]})");
  const std::string delta =
      R"({"id":"R","source":{"kind":"turn","ref":"t9"},"ops":[{"op":"revert","path":"a","to":1}]})";
  EXPECT_EQ(apply(delta, "lead").version, 3U);
  const Receipt again = apply(delta, "lead");
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(version(), 3U);
  const auto cell = std::get<RegisterCell>(*load().find(leaf_key(*Path::parse("a"))));
  ASSERT_EQ(cell.siblings.size(), 1U);
  EXPECT_EQ(cell.siblings[0].dot.actor, "lead");
  EXPECT_EQ(cell.siblings[0].dot.version(), 3U);
  EXPECT_EQ(cell.siblings[0].dot.base, 2U);
  EXPECT_EQ(cell.siblings[0].dot.source->ref, "t9");
}

TEST_F(RevertRule, ADryRunTellsAndChangesNothing) {
  apply(R"({"ops":[{"op":"set","path":"a","value":1}]})");
  apply(R"({"ops":[{"op":"set","path":"a","value":2}]})");
  EXPECT_EQ(says(revert("a", 1, R"("check":true,)")), "applied");
  EXPECT_EQ(state(), R"({"a":2})");
}

TEST_F(RevertRule, NothingToDoIsAnEchoAndTakesNoVersion) {
  apply(R"({"ops":[{"op":"set","path":"a","value":1}]})");
  EXPECT_EQ(says(revert("a", 1)), "unchanged(echo)");
  EXPECT_EQ(says(revert("nothing", 0)), "unchanged(echo)");
  apply(R"({"ops":[{"op":"set","path":"a","value":2}]})");
  apply(R"({"ops":[{"op":"set","path":"a","value":1}]})");
  EXPECT_EQ(says(revert("a", 1)), "unchanged(echo)");  // it is back already, whoever wrote it
  EXPECT_EQ(version(), 3U);
}

TEST_F(RevertRule, OnlyKeptVersionsUpToTheBase) {
  apply(R"({"ops":[{"op":"set","path":"a","value":1}]})");
  apply(R"({"ops":[{"op":"set","path":"a","value":2}]})");
  EXPECT_EQ(says(revert("a", 3)), "!future_base");
  EXPECT_EQ(says(revert("a", 2, R"("base":1,)")), "!future_base");
  EXPECT_EQ(says(revert_actor("a", "x", 3)), "!future_base");
}

TEST_F(RevertRule, TheFormIsChecked) {
  const auto form = [&](const std::string& members) {
    return says(apply(R"({"ops":[{"op":"revert","path":"a")" + members + "}]}"));
  };
  for (const std::string members :
       {"", R"(,"to":-1)", R"(,"to":"1")", R"(,"actor":"x")", R"(,"since":1)", R"(,"to":0,"actor":"x","since":0)",
        R"(,"to":0,"since":0)", R"(,"actor":7,"since":0)", R"(,"actor":"","since":0)", R"(,"to":0,"value":1)",
        R"(,"to":0,"ttl_ms":5)"}) {
    EXPECT_EQ(form(members), "!bad_value") << members;
  }
  EXPECT_EQ(form(R"(,"to":0,"actor":null,"since":null,"value":null)"), "unchanged(echo)");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"revert","to":0}]})")), "!bad_path");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"revert","path":"$run.x","to":0}]})")), "!forbidden");
}

TEST_F(RevertRule, AllValuesOfAConflictComeBackInTheirOrder) {
  apply(R"({"ops":[{"op":"set","path":"hotel","value":"亚朵"}]})");
  apply(R"({"base":0,"ops":[{"op":"set","path":"hotel","value":"如家"}]})");
  apply(R"({"base":0,"ops":[{"op":"set","path":"hotel","value":"汉庭"}]})");
  const std::string before = fields();
  apply(R"({"ops":[{"op":"set","path":"hotel","value":"如家"}]})");
  EXPECT_EQ(says(revert("hotel", 3)), "applied");
  EXPECT_EQ(
      fields(),
      R"({"hotel":{"confidence":"stated","conflicts":["亚朵","如家"],"kind":"register","value":"汉庭","version":5}})");
  EXPECT_NE(before, fields());  // the version is the revert's
}

TEST_F(RevertRule, ElementsComeBackToTheirPlaces) {
  apply(R"({"ops":[{"op":"patch","path":"s","add":["a","b","c"]}]})");
  apply(R"({"ops":[{"op":"patch","path":"s","remove":["a","b"]}]})");
  apply(R"({"ops":[{"op":"patch","path":"s","add":["b"]}]})");
  EXPECT_EQ(state(), R"({"s":["c","b"]})");
  revert("s", 1);
  EXPECT_EQ(state(), R"({"s":["a","b","c"]})");
  revert("s", 3);
  EXPECT_EQ(state(), R"({"s":["c","b"]})");
}

TEST_F(RevertRule, ConfidencesComeBackUpToTheReverters) {
  apply(R"({"confidence":"verified","ops":[{"op":"set","path":"a","value":1},{"op":"patch","path":"s","add":["x"]}]})");
  apply(R"({"confidence":"verified","ops":[{"op":"unset","path":"a"},{"op":"unset","path":"s"}]})");
  EXPECT_EQ(says(revert("a", 1, R"("confidence":"stated",)")), "applied");
  EXPECT_NE(fields().find(R"("a":{"confidence":"stated")"), std::string::npos);
  EXPECT_EQ(says(revert("s", 1)), "applied");  // nothing written: the actor's cap
  EXPECT_NE(fields().find(R"({"\"x\"":"verified"})"), std::string::npos);
}

TEST_F(RevertRule, WhatIsSurerThanTheRevertStaysAndIsHeld) {
  apply(R"({"ops":[{"op":"set","path":"a","value":1},{"op":"append","path":"log","value":"old"}]})");
  apply(R"({"confidence":"verified","ops":[{"op":"set","path":"a","value":2},{"op":"patch","path":"s","add":["x"]},
            {"op":"append","path":"log","value":"sure"},{"op":"set","path":"b","value":3}]})");
  const Receipt receipt = apply(
      R"({"confidence":"stated","ops":[{"op":"revert","path":"a","to":1},{"op":"revert","path":"s","to":1},
          {"op":"revert","path":"log","to":1},{"op":"revert","path":"b","to":1}]})");
  EXPECT_EQ(says(receipt), "held,held,held,held");
  EXPECT_EQ(receipt.ops[0].current->value, Value(2));
  EXPECT_EQ(suggestions(), R"({"a":[{"confidence":"stated","op":"set","value":1,"version":3}],)"
                           R"("b":[{"confidence":"stated","op":"unset","value":null,"version":3}],)"
                           R"("log":[{"confidence":"stated","op":"unset","value":"2.2","version":3}],)"
                           R"("s":[{"confidence":"stated","op":"remove","value":["x"],"version":3}]})");
  apply(R"({"confidence":"verified","ops":[{"op":"accept","path":"a","suggestion":"3.0"},
            {"op":"accept","path":"s","suggestion":"3.1"},{"op":"accept","path":"log","suggestion":"3.2"},
            {"op":"accept","path":"b","suggestion":"3.3"}]})");
  EXPECT_EQ(state(), R"({"a":1,"log":["old"]})");
}

TEST_F(RevertRule, AHeldMaximumCanBeAccepted) {
  apply(R"({"ops":[{"op":"max","path":"hi","value":3}]})");
  apply(R"({"confidence":"verified","ops":[{"op":"max","path":"hi","value":9}]})");
  EXPECT_EQ(says(revert("hi", 1, R"("confidence":"stated",)")), "held");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"accept","path":"hi","suggestion":"3.0"}]})")), "unchanged(repeated)");
  EXPECT_EQ(says(apply(R"({"confidence":"verified","ops":[{"op":"accept","path":"hi","suggestion":"3.0"}]})")),
            "applied");
  EXPECT_EQ(state(), R"({"hi":3})");
}

TEST_F(RevertRule, WhatIsNewerThanTheBaseStays) {
  apply(
      R"({"ops":[{"op":"set","path":"a","value":1},{"op":"patch","path":"s","add":["x"]},{"op":"incr","path":"n","by":10},
                   {"op":"max","path":"hi","value":5},{"op":"append","path":"log","value":1}]})");
  apply(
      R"({"ops":[{"op":"set","path":"a","value":2},{"op":"patch","path":"s","add":["y"]},{"op":"incr","path":"n","by":5},
                   {"op":"max","path":"hi","value":8},{"op":"append","path":"log","value":2}]})");
  apply(
      R"({"ops":[{"op":"set","path":"a","value":3},{"op":"patch","path":"s","add":["z"]},{"op":"incr","path":"n","by":1},
                   {"op":"max","path":"hi","value":9},{"op":"append","path":"log","value":3}]})");
  const Receipt receipt = apply(
      R"({"base":2,"confidence":"stated","ops":[{"op":"revert","path":"a","to":1},{"op":"revert","path":"s","to":1},
          {"op":"revert","path":"n","to":1},{"op":"revert","path":"hi","to":1},{"op":"revert","path":"log","to":1}]})");
  EXPECT_EQ(says(receipt), "kept_both,applied,applied,unchanged(not_seen),applied");
  EXPECT_EQ(state(), R"({"a":1,"hi":9,"log":[1,3],"n":11,"s":["x","z"]})");
  EXPECT_NE(fields().find(R"("conflicts":[3])"), std::string::npos);
}

TEST_F(RevertRule, AConcurrentWeakerValueBecomesASuggestionASurerOneHoldsTheRevert) {
  apply(R"({"confidence":"confirmed","ops":[{"op":"set","path":"a","value":1},{"op":"set","path":"b","value":1}]})");
  apply(R"({"confidence":"verified","ops":[{"op":"unset","path":"a"},{"op":"unset","path":"b"}]})");
  apply(R"({"ops":[{"op":"set","path":"a","value":"weak","confidence":"guess"},
                   {"op":"set","path":"b","value":"sure","confidence":"verified"}]})");
  const Receipt receipt =
      apply(R"({"base":2,"ops":[{"op":"revert","path":"a","to":1},{"op":"revert","path":"b","to":1}]})");
  EXPECT_EQ(says(receipt), "applied,held");
  EXPECT_EQ(state(), R"({"a":1,"b":"sure"})");
  EXPECT_EQ(suggestions(), R"({"a":[{"confidence":"guess","op":"set","value":"weak","version":3}],)"
                           R"("b":[{"confidence":"confirmed","op":"set","value":1,"version":4}]})");
}

TEST_F(RevertRule, SuggestionsOfThatVersionComeBackUnderTheirIds) {
  apply(R"({"confidence":"verified","ops":[{"op":"set","path":"a","value":1}]})");
  apply(R"({"confidence":"guess","ops":[{"op":"set","path":"a","value":2}]})", "bot");
  const std::string before = suggestions();
  apply(R"({"ops":[{"op":"dismiss","path":"a","suggestion":"2.0"}]})");
  apply(R"({"confidence":"guess","ops":[{"op":"set","path":"a","value":3}]})", "bot");
  EXPECT_EQ(says(revert("a", 2)), "applied");
  EXPECT_EQ(suggestions(), before);
  EXPECT_EQ(says(apply(R"({"confidence":"verified","ops":[{"op":"accept","path":"a","suggestion":"2.0"}]})")),
            "applied");
  EXPECT_EQ(state(), R"({"a":2})");
}

TEST_F(RevertRule, AKindOrAStructureThatChangedIsTakenAwayFirst) {
  apply(R"({"ops":[{"op":"set","path":"a","value":1},{"op":"incr","path":"b.c","by":2}]})");
  apply(R"({"ops":[{"op":"unset","path":"a"},{"op":"unset","path":"b"}]})");
  apply(R"({"ops":[{"op":"patch","path":"a.x","add":["e"]},{"op":"set","path":"b","value":"leaf"}]})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"revert","path":"a","to":1},{"op":"revert","path":"b","to":1}]})")),
            "applied,applied");
  EXPECT_EQ(state(), R"({"a":1,"b":{"c":2}})");
  apply(R"({"base":4,"ops":[{"op":"unset","path":"a"}]})");
  apply(R"({"ops":[{"op":"append","path":"a","value":"log now"}]})");
  EXPECT_EQ(says(revert("a", 4)), "applied");
  EXPECT_EQ(state(), R"({"a":1,"b":{"c":2}})");
}

TEST_F(RevertRule, ItIsRefusedWhereSomethingNewerStandsInTheWay) {
  apply(R"({"ops":[{"op":"set","path":"a","value":1}]})");
  apply(R"({"ops":[{"op":"unset","path":"a"}]})");
  apply(R"({"ops":[{"op":"set","path":"a.b","value":1}]})");
  EXPECT_EQ(says(revert("a", 1, R"("base":2,)")), "!structure_conflict");
  EXPECT_EQ(state(), R"({"a":{"b":1}})");
}

TEST_F(RevertRule, TheLastWordOfTheDeltaStands) {
  apply(
      R"({"ops":[{"op":"set","path":"r.a","value":1},{"op":"set","path":"r.b","value":1},{"op":"patch","path":"r.s","add":["x","y"]}]})");
  apply(
      R"({"ops":[{"op":"set","path":"r.a","value":2},{"op":"set","path":"r.b","value":2},{"op":"patch","path":"r.s","remove":["x","y"]}]})");
  const Receipt receipt = apply(
      R"({"ops":[{"op":"set","path":"r.b","value":7},{"op":"revert","path":"r","to":1},{"op":"set","path":"r.a","value":9},
                 {"op":"patch","path":"r.s","add":["x"],"remove":["y"]}]})");
  EXPECT_EQ(says(receipt), "unchanged(overridden),applied,applied,applied");
  EXPECT_EQ(state(), R"({"r":{"a":9,"b":1,"s":["x"]}})");
}

TEST_F(RevertRule, ASubtreeTellsTheLeavesThatDiffer) {
  apply(
      R"({"ops":[{"op":"set","path":"r.a","value":1},{"op":"set","path":"r.b","value":1},{"op":"set","path":"r.c","value":1}]})");
  apply(R"({"ops":[{"op":"set","path":"r.a","value":2},{"op":"set","path":"r.b","value":2,"confidence":"verified"}]})");
  const Receipt receipt = revert("r", 1, R"("confidence":"stated",)");
  EXPECT_EQ(says(receipt), "applied");
  ASSERT_EQ(receipt.ops[0].leaves.size(), 1U);
  EXPECT_EQ(receipt.ops[0].leaves[0].path, "r.b");
  EXPECT_EQ(receipt.ops[0].leaves[0].outcome, Outcome::held);
}

TEST_F(RevertRule, ItNeedsItsOwnRightAndTheWritersCap) {
  grant("a", {Right::read, Right::set}, Confidence::verified);
  grant("lead", {Right::read, Right::revert}, Confidence::inferred);
  apply(R"({"confidence":"guess","ops":[{"op":"set","path":"x","value":1}]})");
  apply(R"({"confidence":"guess","ops":[{"op":"set","path":"x","value":2}]})");
  EXPECT_EQ(says(revert("x", 1, "", "a")), "!forbidden");
  EXPECT_EQ(says(revert("x", 1, R"("confidence":"stated",)", "lead")), "!forbidden");
  EXPECT_EQ(says(revert("x", 1, "", "lead")), "applied");
  apply(R"({"confidence":"stated","ops":[{"op":"set","path":"x","value":3}]})");
  EXPECT_EQ(says(revert("x", 1, "", "lead")), "held");  // its cap is lower than what stands
}

TEST_F(RevertRule, WhatOneMayNotReadIsNotNamed) {
  grant("a", {Right::read, Right::set}, Confidence::verified);
  grant("lead", {Right::read, Right::revert}, Confidence::verified, "r.open");
  apply(R"({"ops":[{"op":"set","path":"r.open","value":1},{"op":"set","path":"r.secret","value":1}]})");
  apply(R"({"ops":[{"op":"set","path":"r.open","value":2},{"op":"set","path":"r.secret","value":2}]})");
  const Receipt receipt = revert("r", 1);
  ASSERT_EQ(says(receipt), "!forbidden");
  EXPECT_EQ(receipt.error->path, "r");
  EXPECT_EQ(receipt.error->message.find("secret"), std::string::npos);
  EXPECT_EQ(says(revert("r.open", 1)), "applied");
}

TEST_F(RevertRule, ItIsBounded) {
  const auto add = [&](std::size_t from, std::size_t to) {
    std::string list;
    for (std::size_t i = from; i < to; ++i) list += (i == from ? "" : ",") + std::to_string(i);
    EXPECT_EQ(says(apply(R"({"ops":[{"op":"patch","path":"r.s","add":[)" + list + "]}]}")), "applied");
  };
  add(0, limits::delta_leaves_max - 1);
  add(limits::delta_leaves_max, limits::delta_leaves_max + 10);
  const Receipt receipt = revert("r", 0);
  EXPECT_EQ(says(receipt), "!too_large");
  EXPECT_NE(receipt.error->message.find("smaller parts"), std::string::npos);
  EXPECT_EQ(says(revert("r", 1)), "applied");
  EXPECT_EQ(says(revert("r", 0)), "applied");
  EXPECT_EQ(state(), "{}");
}

TEST_F(RevertRule, WhatHasExpiredDoesNotComeBack) {
  apply(
      R"({"ops":[{"op":"set","path":"a","value":1,"ttl_ms":100},{"op":"set","path":"b","value":1,"ttl_ms":100000}]})");
  apply(R"({"ops":[{"op":"set","path":"a","value":2},{"op":"set","path":"b","value":2}]})");
  now_ += 1000;
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"revert","path":"a","to":1},{"op":"revert","path":"b","to":1}]})")),
            "applied,applied");
  EXPECT_EQ(state(), R"({"b":1})");
  now_ += 100'000;
  EXPECT_EQ(state(), "{}");  // back with the time that it had
}

// --- one actor -------------------------------------------------------------------------------------------------------

TEST_F(RevertRule, OneActorsLastWritesGoAndOthersStay) {
  apply(
      R"({"ops":[{"op":"set","path":"r.a","value":1},{"op":"set","path":"r.b","value":1},{"op":"patch","path":"r.s","add":["x"]}]})",
      "ann");
  apply(
      R"({"ops":[{"op":"set","path":"r.a","value":2},{"op":"set","path":"r.b","value":2},{"op":"patch","path":"r.s","add":["bad"],"remove":["x"]}]})",
      "bot");
  apply(R"({"ops":[{"op":"set","path":"r.a","value":3},{"op":"append","path":"r.log","value":"spam"}]})", "bot");
  apply(R"({"ops":[{"op":"set","path":"r.b","value":4}]})", "ann");
  EXPECT_EQ(says(revert_actor("r", "bot", 0)), "applied");
  EXPECT_EQ(state(), R"({"r":{"a":1,"b":4,"s":["x"]}})");
}

TEST_F(RevertRule, OneActorsWritesSinceAVersion) {
  for (const int value : {1, 2, 3})
    apply(R"({"ops":[{"op":"set","path":"a","value":)" + std::to_string(value) + "}]}", "bot");
  EXPECT_EQ(says(revert_actor("a", "bot", 2)), "applied");
  EXPECT_EQ(state(), R"({"a":2})");
  EXPECT_EQ(says(revert_actor("a", "nobody", 0)), "unchanged(echo)");
}

TEST_F(RevertRule, OneActorsIncrementsGoWhoeverCountedLast) {
  apply(R"({"ops":[{"op":"incr","path":"n","by":1}]})", "ann");
  apply(R"({"ops":[{"op":"incr","path":"n","by":10}]})", "bot");
  apply(R"({"ops":[{"op":"incr","path":"n","by":100}]})", "ann");
  apply(R"({"ops":[{"op":"incr","path":"n","by":1000}]})", "bot");
  apply(R"({"ops":[{"op":"incr","path":"n","by":10000}]})", "ann");
  EXPECT_EQ(says(revert_actor("n", "bot", 2, R"("base":4,)")), "applied");
  EXPECT_EQ(state(), R"({"n":10111})");
}

TEST_F(RevertRule, ACounterThatOneActorMadeAloneIsGone) {
  apply(R"({"ops":[{"op":"incr","path":"n","by":1},{"op":"incr","path":"m","by":7}]})", "bot");
  apply(R"({"ops":[{"op":"unset","path":"m"}]})", "bot");
  EXPECT_EQ(says(revert_actor("n", "bot", 0)), "applied");
  EXPECT_EQ(state(), "{}");
  EXPECT_EQ(says(revert_actor("m", "bot", 1)), "applied");
  EXPECT_EQ(state(), R"({"m":7})");
}

TEST_F(RevertRule, AnEntryThatCameBackIsNotTakenByOneWhoHadSeenItGone) {
  apply(R"({"ops":[{"op":"append","path":"log","value":"一"}]})");
  apply(R"({"ops":[{"op":"unset","path":"log"}]})");
  revert("log", 1);
  EXPECT_EQ(says(apply(R"({"base":2,"ops":[{"op":"unset","path":"log"}]})")), "unchanged(not_seen)");
  EXPECT_EQ(says(apply(R"({"base":2,"ops":[{"op":"unset","path":"log","entry":"1.0"}]})")), "unchanged(not_seen)");
  EXPECT_EQ(state(), R"({"log":["一"]})");
}

}  // namespace
}  // namespace tafel
