// Defects that users of other systems report, each as a case that must work here. The names are those of the list in
// docs/testing.md.
#include <algorithm>
#include <cmath>

#include "tests/conflict/board_fixture.hpp"

namespace tafel {
namespace {

using testing::BoardFixture;
using testing::says;

class FieldDefects : public BoardFixture {};

// O01: two callers change different fields by sending the full record back; only the last one's change stayed.
TEST_F(FieldDefects, O01_WholeRecordWritersLoseNothing) {
  for (const bool as_map : {false, true}) {
    for (const bool guarded : {false, true}) {
      for (const bool x_first : {false, true}) {
        board_ = std::string("o01/") + (as_map ? "m" : "l") + (guarded ? "g" : "u") + (x_first ? "x" : "y");
        apply(
            R"({"ops":[{"op":"set","path":"profile.name","value":"A"},{"op":"set","path":"profile.tone","value":"brief"}]})");
        const std::string guard = guarded ? R"("expect":{"version":1},)" : "";
        const auto write = [&](const std::string& name, const std::string& tone, const std::string& own) {
          if (as_map) {
            return apply("{\"base\":1," + guard + R"("ops":[{"op":"set","path":"profile","value":{"name":")" + name +
                         R"(","tone":")" + tone + "\"}}]}");
          }
          return apply("{\"base\":1," + guard + "\"ops\":[" + own + "]}");
        };
        const auto x = [&] { return write("B", "brief", R"({"op":"set","path":"profile.name","value":"B"})"); };
        const auto y = [&] { return write("A", "long", R"({"op":"set","path":"profile.tone","value":"long"})"); };
        const Receipt first = x_first ? x() : y();
        const Receipt second = x_first ? y() : x();
        EXPECT_EQ(says(first), "applied");
        if (guarded) {
          EXPECT_EQ(says(second), "!stale");
        } else {
          EXPECT_EQ(state(), R"({"profile":{"name":"B","tone":"long"}})");
        }
      }
    }
  }
}

// O02: an empty list changed nothing, so users could not clear one.
TEST_F(FieldDefects, O02_ClearingIsAnActOfItsOwn) {
  apply(R"({"ops":[{"op":"patch","path":"errors","add":["e1","e2"]}]})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"patch","path":"errors","add":[]}]})")), "ignored_blank");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"patch","path":"errors","reset":["e3"],"add":["e4"],"remove":["e3"]}]})")),
            "applied");
  EXPECT_EQ(state(), R"({"errors":["e4"]})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"patch","path":"errors","reset":[]}]})")), "ignored_blank");
  EXPECT_EQ(state(), R"({"errors":["e4"]})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"unset","path":"errors"}]})")), "applied");
  EXPECT_EQ(state(), "{}");
}

// O03: a child got a list, added one item and sent the whole list back, and the parent had all of it twice; once per
// level of nesting. Here each level works on what it had seen and sends back all it has, deepest first.
TEST_F(FieldDefects, O03_AnInheritedListIsNotDoubled) {
  apply(R"({"patch":{"s":{"add":["a"]}},"append":{"log":"m1"}})");
  const std::string net = R"({"base":1,"id":"child","patch":{"s":{"add":["b"]}},"append":{"log":"m2"}})";
  const std::string whole = R"({"base":1,"ops":[{"op":"set","path":"s","value":["a","b"]}]})";
  apply(net, "level 3");
  apply(net, "level 3");  // handed on twice: it counts once
  for (const std::string level : {"level 2", "level 1"}) {
    EXPECT_EQ(says(apply(whole, level)), "applied") << level;
    EXPECT_EQ(state(), R"({"log":["m1","m2"],"s":["a","b"]})") << level;
  }
  EXPECT_EQ(says(apply(R"({"base":2,"ops":[{"op":"set","path":"log","value":["m1","m2"]}]})")), "unchanged(echo)");
  EXPECT_EQ(state(), R"({"log":["m1","m2"],"s":["a","b"]})");
}

// O04: parallel branches that changed different fields failed because both returned the fields they had not touched.
TEST_F(FieldDefects, O04_EchoOfUntouchedFieldsIsNoWrite) {
  for (int i = 0; i < 4; ++i) apply(R"({"ops":[{"op":"incr","path":"warmup"}]})");
  apply(R"({"ops":[{"op":"set","path":"a","value":1},{"op":"set","path":"b","value":"x"}]})");
  const auto x = apply(R"({"base":5,"set":{"a":1,"b":"x","s1":10}})");
  const auto y = apply(R"({"base":5,"set":{"a":1,"b":"x","s2":20}})");
  EXPECT_EQ(says(x), "unchanged(echo),unchanged(echo),applied");
  EXPECT_EQ(says(y), "unchanged(echo),unchanged(echo),applied");
  EXPECT_EQ(says(apply(R"({"base":5,"set":{"a":7}})")), "applied");
  EXPECT_EQ(says(apply(R"({"base":5,"set":{"a":1,"b":"x","s3":30}})")), "unchanged(echo),unchanged(echo),applied");
  EXPECT_EQ(state(), R"({"a":7,"b":"x","s1":10,"s2":20,"s3":30,"warmup":4})");
  EXPECT_EQ(fields().find("conflicts"), std::string::npos);
}

// O05: None deleted in one back-end and was a value in another.
TEST_F(FieldDefects, O05_NullMeansNothingEverywhere) {
  apply(R"({"ops":[{"op":"set","path":"k","value":"v"}]})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"set","path":"k","value":null}]})")), "ignored_blank");
  EXPECT_EQ(state(), R"({"k":"v"})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"unset","path":"k"}]})")), "applied");
  EXPECT_EQ(state(), "{}");
  blackboard::Board mirror;
  for (const auto& event : events_) mirror.apply(event->version, codec::feed_event_of(*event).changes);
  EXPECT_TRUE(mirror.cells().empty());
  EXPECT_EQ(mirror.digest(), load().digest());
  open();
  EXPECT_EQ(state(), "{}");
  EXPECT_TRUE(store_->verify(board_)->defects.empty());
}

// O06: a write was refused as stale although nothing had changed, because clocks were compared.
TEST_F(FieldDefects, O06_VersionsDecideAndTheClockNever) {
  for (int i = 0; i < 10'000; ++i) {
    now_ += i == 5'000 ? -3'600'000 : i % 2;
    const auto receipt = apply("{\"expect\":{\"version\":" + std::to_string(i) +
                               R"(},"ops":[{"op":"set","path":"n","value":)" + std::to_string(i + 1) + "}]}");
    ASSERT_EQ(says(receipt), "applied") << i;
  }
  TimeMs last = 0;
  for (const auto& event : events_) {
    ASSERT_GE(event->time, last);
    last = event->time;
  }
}

// O07: publishers that expected the same revision were all accepted when in flight together.
TEST_F(FieldDefects, O07_OneWinnerOfACompareAndSetInOneBatch) {
  for (int round = 0; round < 50; ++round) {
    board_ = "o07/" + std::to_string(round);
    std::vector<std::string> racers;
    for (int i = 0; i < 64; ++i) {
      racers.push_back(R"({"expect":{"fields":{"lock":0}},"ops":[{"op":"set","path":"lock","value":"agent-)" +
                       std::to_string(i) + "\"}]}");
    }
    std::rotate(racers.begin(), racers.begin() + round, racers.end());
    const auto receipts = apply_all(racers);
    EXPECT_EQ(says(receipts.front()), "applied");
    for (std::size_t i = 1; i < receipts.size(); ++i) {
      ASSERT_EQ(says(receipts[i]), "!stale");
      ASSERT_EQ(*receipts[i].error->found->find("value"), Value("agent-" + std::to_string(round)));
    }
  }
}

// O08: an earlier queued delta was applied after a newer value was visible.
TEST_F(FieldDefects, O08_ALateDeltaRollsNothingBack) {
  apply(R"({"ops":[{"op":"set","path":"attempts","value":0}]})", "a");
  apply(R"({"base":1,"ops":[{"op":"set","path":"attempts","value":1}]})", "b");
  EXPECT_EQ(says(apply(R"({"base":1,"ops":[{"op":"set","path":"attempts","value":0}]})", "a")), "unchanged(echo)");
  EXPECT_EQ(state(), R"({"attempts":1})");
}

// O12: entries without ids got other ids in a replay, so that later edits missed them.
TEST_F(FieldDefects, O12_AReplayInventsNothing) {
  apply(R"({"ops":[{"op":"append","path":"log","value":"一"},{"op":"append","path":"log","value":"二"}]})");
  apply(R"({"append":{"log":"三"}})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"unset","path":"log","entry":"1.1"}]})")), "applied");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"revert","path":"log","to":2}]})")), "applied");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"unset","path":"log","entry":"1.0"}]})")), "applied");  // the ids stay
  blackboard::Board replayed;
  for (const auto& event : events_) replayed.apply(event->version, codec::feed_event_of(*event).changes);
  EXPECT_EQ(replayed.digest(), load().digest());
  std::vector<std::string> ids;
  for (const auto& [key, cell] : replayed.cells()) ids.push_back(mark_text(mark_from_id(key.id)));
  EXPECT_EQ(ids, (std::vector<std::string>{"1.1", "2.0"}));
  open();
  EXPECT_EQ(state(), R"({"log":["二","三"]})");
  EXPECT_TRUE(store_->verify(board_)->defects.empty());
}

// O13: the last digits of a large integer changed.
TEST_F(FieldDefects, O13_AllSixtyFourBitsSurvive) {
  for (const std::string number :
       {"86699530287996692", "9223372036854775807", "-9223372036854775808", "18446744073709551615"}) {
    board_ = "o13/" + number;
    apply(R"({"ops":[{"op":"set","path":"v","value":)" + number + R"(},{"op":"patch","path":"s","add":[)" + number +
          "]}]}");
    EXPECT_EQ(state(), "{\"s\":[" + number + "],\"v\":" + number + "}");
    EXPECT_EQ(says(apply(R"({"expect":{"values":{"v":)" + number + R"(}},"ops":[{"op":"set","path":"w","value":1}]})")),
              "applied");
  }
  board_ = "o13/counter";
  apply(R"({"ops":[{"op":"incr","path":"n","by":9223372036854775807}]})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"incr","path":"n"}]})")), "!out_of_bounds");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"set","path":"v","value":18446744073709551616}]})")), "!bad_value");
}

// O14: one non-finite float made the whole state unsendable.
TEST_F(FieldDefects, O14_NotANumberIsRefusedAtTheDoor) {
  apply(R"({"ops":[{"op":"set","path":"a","value":0}]})");
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Delta delta;
    delta.board = board_;
    Op first;
    first.path = "a";
    first.value = 1;
    first.has_value = true;
    Op second = first;
    second.path = "b.c";
    second.value = bad;
    delta.ops = {first, second};
    const auto committed = pipeline_->commit({{"a", delta}}, now_);
    ASSERT_TRUE(committed);
    const Receipt& receipt = committed->receipts.front();
    ASSERT_EQ(says(receipt), "!bad_value");
    EXPECT_EQ(receipt.error->op, 1U);
    EXPECT_EQ(receipt.error->path, "b.c");
  }
  for (const std::string token : {"1e400", "-1e400", "NaN", "Infinity"}) {
    const auto receipt =
        apply(R"({"ops":[{"op":"set","path":"a","value":1},{"op":"set","path":"b.c","value":)" + token + "}]}");
    ASSERT_EQ(says(receipt), "!bad_value") << token;
    EXPECT_EQ(receipt.error->op, 1U) << token;
    EXPECT_EQ(receipt.error->path, "b.c") << token;
  }
  EXPECT_EQ(state(), R"({"a":0})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"set","path":"z","value":-0.0},{"op":"set","path":"s","value":5e-324}]})")),
            "applied,applied");
  EXPECT_EQ(state(), R"({"a":0,"s":5e-324,"z":-0.0})");
}

// O15: a client library resent after a lost reply, and the write happened twice.
TEST_F(FieldDefects, O15_AResentDeltaTakesEffectOnce) {
  const std::string delta = R"({"id":"D","ops":[{"op":"incr","path":"n"}]})";
  const Receipt first = apply(delta);
  EXPECT_FALSE(first.duplicate);
  for (int i = 0; i < 3; ++i) {
    if (i == 1) open();
    const Receipt again = apply(delta);
    EXPECT_TRUE(again.duplicate);
    EXPECT_EQ(again.version, first.version);
    EXPECT_EQ(says(again), says(first));
  }
  EXPECT_EQ(says(apply(R"({"id":"D","ops":[{"op":"incr","path":"n","by":2}]})")), "!id_reused");
  EXPECT_EQ(says(apply(delta, "another actor")), "applied");
  EXPECT_EQ(state(), R"({"n":2})");
}

// RO4: a fact that contradicts another deleted it and was then dropped itself.
TEST_F(FieldDefects, RO4_OfTwoContradictingFactsNeitherIsLost) {
  apply(R"({"set":{"taste":"likes fish"}})", "ann");
  apply(R"({"set":{"taste":"hates fish"}})", "bot");
  EXPECT_EQ(state(), R"({"taste":"hates fish"})");
  const auto snapshot = store_->snapshot();
  const auto before = (*snapshot)->load(board_, std::nullopt, 1, SIZE_MAX);
  EXPECT_EQ(codec::to_json(blackboard::state(*before, {now_, nullptr})), R"({"taste":"likes fish"})");
  apply(R"({"base":1,"set":{"taste":"allergic to fish"}})", "ann");  // not knowing of the second
  EXPECT_NE(fields().find(R"("conflicts":["hates fish"])"), std::string::npos);
}

// RO5: a rewind nulled the keys that came with the creation of a session, for only later deltas were replayed.
TEST_F(FieldDefects, RO5_ARewindKeepsWhatWasThereFromTheBeginning) {
  apply(R"({"set":{"k":1}})");
  apply(R"({"set":{"k":2,"x":1}})");
  apply(R"({"set":{"k":3},"unset":["x"]})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"revert","path":"k","to":1},{"op":"revert","path":"x","to":1}]})")),
            "applied,unchanged(echo)");
  EXPECT_EQ(state(), R"({"k":1})");
}

// RO7: a patch said "replace" where the follower had nothing.
TEST_F(FieldDefects, RO7_TheFirstDeepWriteReachesAnEmptyMirror) {
  apply(R"({"ops":[{"op":"set","path":"education.undergraduate.gpa","value":3.8}]})");
  blackboard::Board mirror;
  mirror.apply(1, codec::feed_event_of(*events_.front()).changes);
  EXPECT_EQ(codec::to_json(blackboard::state(mirror, {now_, nullptr})),
            R"({"education":{"undergraduate":{"gpa":3.8}}})");
  EXPECT_EQ(mirror.digest(), load().digest());
}

// RO8: a guard for reserved names looked at the first segment only.
TEST_F(FieldDefects, RO8_EverySegmentOfAPathIsChecked) {
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"set","path":"a.__proto__.b","value":1}]})")), "applied");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"set","path":"a.constructor","value":2}]})")), "applied");
  EXPECT_EQ(state(), R"({"a":{"__proto__":{"b":1},"constructor":2}})");
  for (const std::string path : {"a..b", "", ".", "a.b.", "a\\\\", "a\\\\x", "a.\\u0007"}) {
    EXPECT_EQ(says(apply(R"({"ops":[{"op":"set","path":")" + path + R"(","value":1}]})")), "!bad_path") << path;
  }
  std::string long_path = "p";
  for (int i = 0; i < 10'000; ++i) long_path += ".p";
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"set","path":")" + long_path + R"(","value":1}]})")), "!bad_path");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"set","path":"x","value":{"ok":{"":1}}}]})")), "!bad_path");
}

// Two final lists from one base, in either order.
TEST_F(FieldDefects, TwoFinalListsFromOneBaseLoseNothing) {
  const std::string x = R"({"base":1,"ops":[{"op":"set","path":"countries","value":["美国","英国"]}]})";
  const std::string y = R"({"base":1,"ops":[{"op":"set","path":"countries","value":["美国","日本"]}]})";
  for (const bool x_first : {true, false}) {
    board_ = x_first ? "lists/x" : "lists/y";
    apply(R"({"ops":[{"op":"patch","path":"countries","add":["美国","新加坡"]}]})");
    apply(x_first ? x : y);
    apply(x_first ? y : x);
    EXPECT_EQ(state(), x_first ? R"({"countries":["美国","英国","日本"]})" : R"({"countries":["美国","日本","英国"]})");
  }
}

TEST_F(FieldDefects, LooseTalkIsHeldAndVisible) {
  apply(R"({"confidence":"verified","ops":[{"op":"set","path":"language.toefl","value":105}]})");
  const auto receipt =
      apply(R"({"confidence":"guess","ops":[{"op":"set","path":"language.toefl","value":"随便看看吧"}]})");
  EXPECT_EQ(says(receipt), "held");
  EXPECT_EQ(receipt.ops.front().held, std::vector<std::string>{"2.0"});
  EXPECT_EQ(receipt.ops.front().current->value, Value(105));
  EXPECT_EQ(state(), R"({"language":{"toefl":105}})");
  EXPECT_EQ(suggestions(),
            R"({"language.toefl":[{"confidence":"guess","op":"set","value":"随便看看吧","version":2}]})");
}

}  // namespace
}  // namespace tafel
