// A board with a schema: what gets in, by whatever op, and what a change of schema is held against (SEMANTICS 5, 12).
#include "common/base/limits.hpp"
#include "common/codec/receipt_codec.hpp"
#include "common/codec/schema_codec.hpp"
#include "tests/conflict/board_fixture.hpp"

namespace tafel {
namespace {

using testing::BoardFixture;
using testing::says;

class BoardSchema : public BoardFixture {
 protected:
  // The receipt of a change of schema.
  Receipt declare(const std::string& document, const std::string& place = "$schema.board",
                  const std::string& actor = "a") {
    return apply(R"({"ops":[{"op":"schema","path":")" + place + R"(","value":)" + document + "}]}", actor);
  }
  void declare_fields(const std::string& fields) {
    const auto receipt = declare(R"({"fields":)" + fields + "}");
    ASSERT_EQ(says(receipt), "applied") << (receipt.error ? receipt.error->message : "");
  }
  Receipt on(const std::string& board, const std::string& json) {
    board_ = board;
    return apply(json);
  }
  void grant(const std::string& actor, const std::string& paths, std::initializer_list<Right> rights) {
    Grant grant{*Pattern::for_boards("**"), *Pattern::for_paths(paths), 0, confidence_highest};
    for (const Right right : rights) grant.rights |= 1U << static_cast<unsigned>(right);
    grants_[actor].push_back(grant);
    roles_.add_role(actor, grants_[actor]);
    roles_.add_actor(actor, {actor});
  }
  std::map<std::string, std::vector<Grant>> grants_;
};

std::string text(const std::optional<Value>& value) { return value ? codec::to_json(*value) : "nothing"; }

TEST_F(BoardSchema, Section12_EveryWayInIsHeldAgainstTheSchema) {
  declare_fields(R"({"gpa":{"type":"number","range":[0,4]},"tags":{"kind":"set","type":"string","max_length":3},
                     "log":{"kind":"log","type":"string"},"best":{"kind":"max","range":[0,120]}})");
  const std::vector<std::string> ways{
      R"({"set":{"gpa":"3.9"}})",
      R"({"ops":[{"op":"set","path":"","value":1}]})",
      R"({"ops":[{"op":"set","path":"tags","value":["ok","long"]}]})",
      R"({"patch":{"tags":{"add":["long"]}}})",
      R"({"patch":{"tags":{"reset":["long"]}}})",
      R"({"append":{"log":5}})",
      R"({"max":{"best":121}})",
      R"({"json_patch":[{"op":"add","path":"/gpa","value":5}]})",
      R"({"json_patch":[{"op":"add","path":"/tags/-","value":"long"}]})",
      R"({"json_patch":[{"op":"add","path":"/log/-","value":7}]})",
      R"({"json_patch":[{"op":"add","path":"/free","value":"x"},{"op":"copy","from":"/free","path":"/gpa"}]})",
      R"({"json_patch":[{"op":"add","path":"/free","value":"x"},{"op":"move","from":"/free","path":"/gpa"}]})"};
  for (const std::string& way : ways) {
    const auto receipt = apply(way);
    EXPECT_EQ(says(receipt), way.find("\"\"") == std::string::npos ? "!schema_violation" : "!bad_path") << way;
  }
  EXPECT_EQ(state(), "{}");
  EXPECT_EQ(says(apply(R"({"set":{"gpa":3.9,"tags":["美国"]},"append":{"log":"x"},"max":{"best":105}})")),
            "applied,applied,applied,applied");
}

TEST_F(BoardSchema, Section12_AMapIsSpreadAndEachLeafIsChecked) {
  declare_fields(R"({"p.gpa":{"type":"number"},"p.addr":{"type":"object"}})");
  const auto receipt = apply(R"({"ops":[{"op":"set","path":"p","value":{"gpa":"x","city":"上海"}}]})");
  ASSERT_EQ(says(receipt), "!schema_violation");
  EXPECT_EQ(receipt.error->path, "p.gpa");
  EXPECT_EQ(says(apply(R"({"set":{"p":{"gpa":3,"addr":{"zip":"200000"}}}})")), "applied");
  EXPECT_EQ(codec::to_json(*blackboard::value_at(load(), *Path::parse("p.addr"), {now_, nullptr})),
            R"({"zip":"200000"})");
}

TEST_F(BoardSchema, TheErrorSaysRuleFoundAndWhatWouldBeRight) {
  declare_fields(R"({"gpa":{"type":"number","range":[0,4]}})");
  const auto receipt = apply(R"({"ops":[{"op":"set","path":"x","value":1},{"op":"set","path":"gpa","value":4.5}]})");
  ASSERT_EQ(says(receipt), "!schema_violation");
  EXPECT_EQ(receipt.error->op, 1U);
  EXPECT_EQ(receipt.error->path, "gpa");
  EXPECT_EQ(receipt.error->message, "gpa must be a number from 0 to 4 (range), found 4.5");
  EXPECT_EQ(text(receipt.error->expected), R"({"range":[0,4]})");
  EXPECT_EQ(text(receipt.error->found), "4.5");
}

TEST_F(BoardSchema, Section5_TextRulesComeFirst) {
  declare_fields(R"({"city":{"type":"string","nfc":true},"note":{"type":"text"},"s":{"kind":"set","type":"string"}})");
  apply(R"({"set":{"city":"　上海 ","note":" x "},"patch":{"s":{"add":[" a","a"]}}})");
  EXPECT_EQ(state(), R"({"city":"上海","note":" x ","s":["a"]})");
  EXPECT_EQ(says(apply(R"({"set":{"city":"上海 "}})")), "unchanged(echo)");
  EXPECT_EQ(says(apply(R"({"set":{"city":"e\u0301"}})")), "applied");
  EXPECT_EQ(codec::to_json(*blackboard::value_at(load(), *Path::parse("city"), {now_, nullptr})), "\"\u00e9\"");
  EXPECT_EQ(says(apply(R"({"patch":{"s":{"remove":["a "]}}})")), "applied");
  EXPECT_EQ(says(apply(R"({"set":{"city":"　"}})")), "ignored_blank");
}

TEST_F(BoardSchema, Section12_TransitionFromTheVisibleValue) {
  declare_fields(R"({"phase":{"transitions":{"planning":["executing","cancelled"],"executing":["done"]}}})");
  EXPECT_EQ(says(apply(R"({"set":{"phase":"nowhere"}})")), "!schema_violation");  // no state
  EXPECT_EQ(says(apply(R"({"set":{"phase":"planning"}})")), "applied");           // the first is free
  const auto wrong = apply(R"({"set":{"phase":"done"}})");
  ASSERT_EQ(says(wrong), "!bad_transition");
  EXPECT_EQ(wrong.error->message,
            R"(phase is "planning" and may not become "done" (transitions); may follow: executing, cancelled)");
  EXPECT_EQ(text(wrong.error->expected), R"(["executing","cancelled"])");
  EXPECT_EQ(text(wrong.error->found), R"({"from":"planning","to":"done"})");
  EXPECT_EQ(says(apply(R"({"confidence":"confirmed","set":{"phase":"planning"}})")), "applied");  // the same is no step
  EXPECT_EQ(says(apply(R"({"confidence":"confirmed","set":{"phase":"executing"}})")), "applied");
  // Two move on from what both saw: the step is judged from what is visible now.
  const std::string base = std::to_string(version());
  EXPECT_EQ(says(apply(R"({"confidence":"confirmed","set":{"phase":"done"}})")), "applied");
  EXPECT_EQ(says(apply(R"({"confidence":"confirmed","base":)" + base + R"(,"set":{"phase":"executing"}})")),
            "unchanged(echo)");
  EXPECT_EQ(says(apply(R"({"confidence":"confirmed","set":{"phase":"planning"}})")), "!bad_transition");
  EXPECT_EQ(says(apply(R"({"confidence":"confirmed","unset":["phase"]})")), "applied");
  EXPECT_EQ(says(apply(R"({"set":{"phase":"done"}})")), "applied");
}

TEST_F(BoardSchema, Section12_OfTwoStepsAtOnceTheSecondIsStale) {
  declare_fields(R"({"phase":{"transitions":{"a":["b","c"],"b":["c"]}}})");
  apply(R"({"set":{"phase":"a"}})");
  const std::string base = std::to_string(version());
  EXPECT_EQ(says(apply(R"({"base":)" + base + R"(,"set":{"phase":"b"}})")), "applied");
  EXPECT_EQ(says(apply(R"({"base":)" + base + R"(,"set":{"phase":"c"}})")), "!stale");
}

TEST_F(BoardSchema, Section12_KindBoundsAndKeepComeFromTheSchema) {
  declare_fields(
      R"({"seats":{"kind":"counter","initial":2,"floor":0,"ceil":3},"tags":{"kind":"set"},"log":{"kind":"log","keep":2}})");
  EXPECT_EQ(says(apply(R"({"set":{"seats":5}})")), "!kind_mismatch");
  EXPECT_EQ(says(apply(R"({"incr":{"seats":2}})")), "!out_of_bounds");
  EXPECT_EQ(says(apply(R"({"incr":{"seats":1}})")), "applied");
  EXPECT_EQ(says(apply(R"({"append":{"tags":1}})")), "!kind_mismatch");
  EXPECT_EQ(says(apply(R"({"set":{"tags":["x"]}})")), "applied");
  for (int i = 0; i < 3; ++i) apply(R"({"append":{"log":)" + std::to_string(i) + "}}");
  EXPECT_EQ(state(), R"({"log":[1,2],"seats":3,"tags":["x"]})");
}

TEST_F(BoardSchema, Section12_StrictRefusesUnknownPathsAndNamesCloseOnes) {
  declare(R"({"strict":true,"fields":{"profile.countries":{"kind":"set"},"notes.*":{},"n":{"kind":"counter"}}})");
  const auto receipt = apply(R"({"set":{"profile.country":"美国"}})");
  ASSERT_EQ(says(receipt), "!schema_violation");
  EXPECT_EQ(receipt.error->message,
            "the schema of this board is strict and does not declare profile.country; did you mean profile.countries?");
  EXPECT_EQ(text(receipt.error->expected), R"(["profile.countries"])");
  for (const char* way : {R"({"incr":{"m":1}})", R"({"append":{"m":1}})", R"({"max":{"m":1}})",
                          R"({"patch":{"m":{"add":[1]}}})", R"({"set":{"notes.a.b":1}})"})
    EXPECT_EQ(says(apply(way)), "!schema_violation") << way;
  EXPECT_EQ(says(apply(R"({"set":{"notes.a":1},"incr":{"n":1},"patch":{"profile.countries":{"add":["美国"]}}})")),
            "applied,applied,applied");
}

TEST_F(BoardSchema, Section12_ATtlOfTheSchemaIsTheDefault) {
  declare_fields(
      R"({"presence.*":{"ttl_ms":200},"beat":{"kind":"counter","ttl_ms":200},"s":{"kind":"set","ttl_ms":200}})");
  apply(R"({"set":{"presence.a":1},"incr":{"beat":1},"patch":{"s":{"add":[1]}}})");
  apply(R"({"ops":[{"op":"set","path":"presence.b","value":1,"ttl_ms":1000}]})");
  EXPECT_EQ(state(), R"({"beat":1,"presence":{"a":1,"b":1},"s":[1]})");
  now_ += 200;
  EXPECT_EQ(state(), R"({"presence":{"b":1}})");
}

TEST_F(BoardSchema, Section9_AnAcceptedSuggestionIsHeldAgainstTheSchemaOfNow) {
  apply(R"({"confidence":"verified","set":{"gpa":3.5}})");
  ASSERT_EQ(says(apply(R"({"confidence":"guess","set":{"gpa":"好"}})")), "held");
  declare_fields(R"({"gpa":{"type":"number"}})");
  EXPECT_EQ(says(apply(R"({"confidence":"verified","ops":[{"op":"accept","path":"gpa","suggestion":"2.0"}]})")),
            "!schema_violation");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"dismiss","path":"gpa","suggestion":"2.0"}]})")), "applied");
}

TEST_F(BoardSchema, ANonAtomicDeltaLosesOnlyTheOpsThatBreakIt) {
  declare_fields(R"({"a":{"type":"number"}})");
  const auto receipt =
      apply(R"({"atomic":false,"ops":[{"op":"set","path":"a","value":"x"},{"op":"set","path":"b","value":1}]})");
  EXPECT_EQ(says(receipt), "rejected(schema_violation),applied");
}

TEST_F(BoardSchema, WhatARevertBringsBackIsHeldAgainstTheSchemaOfNow) {
  apply(R"({"set":{"gpa":"好","phase":"planning"}})");
  apply(R"({"set":{"gpa":3.5,"phase":"executing"}})");
  declare_fields(
      R"({"gpa":{"type":"number"},"phase":{"transitions":{"planning":["executing"],"executing":["done"]}}})");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"revert","path":"gpa","to":1}]})")), "!schema_violation");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"revert","path":"phase","to":1}]})")), "!bad_transition");
  EXPECT_EQ(state(), R"({"gpa":3.5,"phase":"executing"})");
}

// --- the op ---

TEST_F(BoardSchema, TheDocumentIsACellThatReadsLeaveOutUnlessItIsNamed) {
  declare_fields(R"({"a":{"type":"number"}})");
  apply(R"({"set":{"a":1}})");
  EXPECT_EQ(state(), R"({"a":1})");
  EXPECT_EQ(codec::to_json(*blackboard::value_at(load(), *Path::parse("$schema.board"), {now_, nullptr})),
            R"({"fields":{"a":{"type":"number"}}})");
  EXPECT_TRUE(store_->verify(board_)->defects.empty());
}

TEST_F(BoardSchema, TheDocumentIsReplacedAsAWholeAndNilTakesItAway) {
  declare_fields(R"({"a":{"type":"number"}})");
  EXPECT_EQ(says(declare(R"({"fields":{"a":{"type":"number"}}})")), "unchanged(echo)");
  declare_fields(R"({"b":{"type":"number"}})");
  EXPECT_EQ(says(apply(R"({"set":{"a":"text"}})")), "applied");
  EXPECT_EQ(says(apply(R"({"set":{"b":"text"}})")), "!schema_violation");
  EXPECT_EQ(says(declare("null")), "applied");
  EXPECT_EQ(says(declare("null")), "unchanged(absent)");
  EXPECT_EQ(says(apply(R"({"set":{"b":"text"}})")), "applied");
}

TEST_F(BoardSchema, AConcurrentChangeOfSchemaIsStale) {
  declare_fields(R"({"a":{"type":"number"}})");
  declare_fields(R"({"a":{"type":"integer"}})");
  EXPECT_EQ(says(apply(R"({"base":1,"ops":[{"op":"schema","path":"$schema.board","value":{"strict":true}}]})")),
            "!stale");
  EXPECT_EQ(says(apply(R"({"base":1,"ops":[{"op":"schema","path":"$schema.board","value":null}]})")), "!stale");
}

TEST_F(BoardSchema, WhatIsNoSchemaIsRefusedWithItsDefects) {
  const auto receipt = declare(R"({"fields":{"a":{"type":"float"}}})");
  ASSERT_EQ(says(receipt), "!bad_value");
  EXPECT_NE(receipt.error->message.find("\"a\".type: must be one of"), std::string::npos) << receipt.error->message;
  EXPECT_EQ(says(declare("{}", "$schema.else")), "!bad_path");
  EXPECT_EQ(says(declare("{}", "profile")), "!bad_path");
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"schema","path":"$schema.board"}]})")), "!bad_value");
}

TEST_F(BoardSchema, Section13_NoOtherOpWritesIt) {
  for (const char* way : {R"({"set":{"$schema.board":{"strict":true}}})", R"({"unset":["$schema.board"]})",
                          R"({"json_patch":[{"op":"add","path":"/$schema/board","value":1}]})"})
    EXPECT_EQ(says(apply(way)), "!forbidden") << way;
}

TEST_F(BoardSchema, ASchemaIsTheOnlyOpOfItsDelta) {
  EXPECT_EQ(
      says(apply(
          R"({"ops":[{"op":"set","path":"a","value":1},{"op":"schema","path":"$schema.board","value":{"strict":true}}]})")),
      "!bad_value");
}

TEST_F(BoardSchema, Section12_AChangeThatDataViolateIsRefusedWithTheOffenders) {
  apply(
      R"({"set":{"gpa":"3.9","major":"CS","ok":1},"patch":{"tags":{"add":["a","b"]}},"incr":{"n":9},"append":{"log":7}})");
  const auto receipt = declare(R"({"fields":{"gpa":{"type":"number"},"tags":{"kind":"set","enum":["a"]},
      "n":{"kind":"counter","ceil":5},"log":{"kind":"log","type":"string"},"major":{"kind":"set"},"ok":{"type":"number"}}})");
  ASSERT_EQ(says(receipt), "!schema_violation");
  EXPECT_EQ(receipt.error->path, "$schema.board");
  const List& offenders = *receipt.error->found->get_if<List>();
  std::map<std::string, std::string> rules;
  for (const Value& offender : offenders)
    rules[*offender.find("path")->get_if<std::string>()] = *offender.find("rule")->get_if<std::string>();
  EXPECT_EQ(rules, (std::map<std::string, std::string>{
                       {"gpa", "type"}, {"log", "type"}, {"major", "kind"}, {"n", "ceil"}, {"tags", "enum"}}));
  EXPECT_EQ(version(), 1U);
  EXPECT_EQ(says(declare(R"({"strict":true,"fields":{"gpa":{}}})")), "!schema_violation");
}

TEST_F(BoardSchema, OffendersAreListedUpToABound) {
  for (int i = 0; i < 30; ++i) apply(R"({"set":{"x.)" + std::to_string(i) + R"(":"text"}})");
  const auto receipt = declare(R"({"fields":{"x.*":{"type":"number"}}})");
  ASSERT_EQ(says(receipt), "!schema_violation");
  EXPECT_EQ(receipt.error->found->get_if<List>()->size(), limits::schema_defects_max);
}

TEST_F(BoardSchema, ADryRunTellsOffendersAndChangesNothing) {
  apply(R"({"set":{"gpa":"x"}})");
  EXPECT_EQ(
      says(apply(
          R"({"check":true,"ops":[{"op":"schema","path":"$schema.board","value":{"fields":{"gpa":{"type":"number"}}}}]})")),
      "!schema_violation");
  EXPECT_EQ(
      says(apply(
          R"({"check":true,"ops":[{"op":"schema","path":"$schema.board","value":{"fields":{"gpa":{"type":"text"}}}}]})")),
      "applied");
  EXPECT_EQ(version(), 1U);
  EXPECT_EQ(says(apply(R"({"set":{"gpa":5}})")), "applied");  // not in force
}

TEST_F(BoardSchema, BelowSpeaksOfTheBoardsBelowAndTheNearestRuleWins) {
  board_ = "acme";
  ASSERT_EQ(says(declare(R"({"fields":{"a":{"type":"number"},"b":{"type":"number"}}})", "$schema.below")), "applied");
  EXPECT_EQ(says(on("acme", R"({"set":{"a":"x"}})")), "applied");  // not of the board itself
  EXPECT_EQ(says(on("acmes/x", R"({"set":{"a":"x"}})")), "applied");
  EXPECT_EQ(says(on("acme/trips/42", R"({"set":{"a":"x"}})")), "!schema_violation");
  board_ = "acme/trips";
  ASSERT_EQ(says(declare(R"({"fields":{"a":{"type":"string"}}})", "$schema.below")), "applied");
  EXPECT_EQ(says(on("acme/trips/42", R"({"set":{"a":"x"}})")), "applied");
  EXPECT_EQ(says(on("acme/trips/42", R"({"set":{"b":"x"}})")), "!schema_violation");
  open();  // and after a restart
  EXPECT_EQ(says(on("acme/trips/42", R"({"set":{"b":"x"}})")), "!schema_violation");
}

TEST_F(BoardSchema, Section12_DataOfBoardsBelowAreOffendersToo) {
  on("acme/trips/42", R"({"set":{"a":"x"}})");
  on("acme/trips/43", R"({"set":{"a":5}})");
  board_ = "acme";
  const auto receipt = declare(R"({"fields":{"a":{"type":"number"}}})", "$schema.below");
  ASSERT_EQ(says(receipt), "!schema_violation");
  const List& offenders = *receipt.error->found->get_if<List>();
  ASSERT_EQ(offenders.size(), 1U);
  EXPECT_EQ(codec::to_json(offenders.front()),
            R"({"board":"acme/trips/42","found":"\"x\"","path":"a","right":"must be a number","rule":"type"})");
}

TEST_F(BoardSchema, ASchemaCountsForTheNextDeltaOfTheSameBatch) {
  const auto receipts =
      apply_all({R"({"set":{"a":"x"}})",
                 R"({"ops":[{"op":"schema","path":"$schema.board","value":{"fields":{"b":{"type":"number"}}}}]})",
                 R"({"set":{"b":"x"}})", R"({"set":{"b":1}})"});
  EXPECT_EQ(says(receipts[1]), "applied");
  EXPECT_EQ(says(receipts[2]), "!schema_violation");
  EXPECT_EQ(says(receipts[3]), "applied");
}

TEST_F(BoardSchema, NewBoardsOfTheSameBatchAreHeldAgainstIt) {
  std::vector<broker::Submission> batch;
  for (const auto& [board, json] : std::vector<std::pair<std::string, std::string>>{
           {"acme/1", R"({"set":{"a":"x"}})"},
           {"acme",
            R"({"ops":[{"op":"schema","path":"$schema.below","value":{"fields":{"a":{"type":"number"}}}}]})"}}) {
    batch.push_back({"a", *codec::delta_from_json(json)});
    batch.back().delta.board = board;
  }
  const auto done = pipeline_->commit(batch, now_);
  ASSERT_TRUE(done);
  EXPECT_EQ(says(done->receipts[1]), "!schema_violation");
}

// --- rights and sensitivity ---

TEST_F(BoardSchema, Section12_TheRightToChangeASchemaIsOneOfItsOwn) {
  grant("lee", "**", {Right::read, Right::set});
  grant("boss", "**", {Right::read, Right::schema});
  EXPECT_EQ(says(declare(R"({"strict":true})", "$schema.board", "lee")), "!forbidden");
  EXPECT_EQ(says(declare(R"({"strict":true})", "$schema.board", "boss")), "applied");
}

TEST_F(BoardSchema, Section12_PersonalValuesAreShownInNoRefusalToWhoMayNotReadThem) {
  grant("boss", "**", {Right::read, Right::read_personal, Right::read_secret, Right::set, Right::schema});
  grant("bot", "**", {Right::read, Right::set, Right::schema});
  ASSERT_EQ(
      says(declare(
          R"({"fields":{"id":{"type":"string","pattern":"^P","sensitivity":"personal"},"phase":{"transitions":{"甲甲":["乙"],"丙":["乙"]},"sensitivity":"secret"}}})",
          "$schema.board", "boss")),
      "applied");
  apply(R"({"set":{"id":"P1234567","phase":"甲甲"}})", "boss");
  const std::vector<std::string> attempts{
      R"({"set":{"id":"Q7654321"}})",
      R"({"expect":{"values":{"id":"P1"}},"set":{"z":1}})",
      R"({"base":1,"set":{"id":"P7777777"}})",
      R"({"set":{"phase":"丙"}})",
      R"({"ops":[{"op":"schema","path":"$schema.board","value":{"fields":{"id":{"type":"number"}}}}]})",
      R"({"confidence":"guess","set":{"id":"P0000000"}})"};
  for (const std::string& attempt : attempts) {
    const std::string told = codec::to_json(codec::receipt_to_value(apply(attempt, "bot")));
    EXPECT_EQ(told.find("P1234567"), std::string::npos) << told;
    EXPECT_EQ(told.find("Q7654321"), std::string::npos) << told;
    EXPECT_EQ(told.find("甲甲"), std::string::npos) << told;
  }
  const auto shown = apply(R"({"set":{"id":"Q7654321"}})", "boss");
  ASSERT_EQ(says(shown), "!schema_violation");
  EXPECT_EQ(text(shown.error->found), "\"Q7654321\"");
}

TEST_F(BoardSchema, APlainRightToReadDoesNotShowWhatIsPersonalOrSecret) {
  const auto schema = std::make_shared<Schema>();
  schema->add(*codec::schema_from_value(
      *codec::parse_json(R"({"fields":{"id":{"sensitivity":"personal"},"key.*":{"sensitivity":"secret"}}})")));
  grant("plain", "**", {Right::read});
  grant("person", "**", {Right::read, Right::read_personal});
  grant("all", "**", {Right::read, Right::read_personal, Right::read_secret});
  const auto sees = [&](const std::string& actor, const std::string& path) {
    return roles_.rights_of(actor, "b").under(schema).may_read(*Path::parse(path));
  };
  EXPECT_TRUE(sees("plain", "city") && !sees("plain", "id") && !sees("plain", "key.a"));
  EXPECT_TRUE(sees("person", "id") && !sees("person", "key.a"));
  EXPECT_TRUE(sees("all", "id") && sees("all", "key.a"));
  EXPECT_FALSE(roles_.rights_of("plain", "b").under(schema).may_read_everything());
  EXPECT_TRUE(roles_.rights_of("all", "b").under(schema).may_read_everything());
  EXPECT_TRUE(RoleTable().rights_of("anybody", "b").under(schema).may_read_everything());
}

}  // namespace
}  // namespace tafel
