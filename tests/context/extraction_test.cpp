// The contract with a model that reads facts: the tool it is given, and what is made of its answer.
#include "context/extraction.hpp"

#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/json.hpp"
#include "common/codec/schema_codec.hpp"

namespace tafel::context {
namespace {

Value json(std::string_view text) {
  auto value = codec::parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : Value();
}

Schema schema_of(std::string_view text) {
  const auto document = codec::schema_from_value(json(text));
  EXPECT_TRUE(document) << (document ? "" : codec::in_one_message(document.error()));
  Schema schema;
  if (document) schema.add(*document);
  return schema;
}

const Schema& profile() {
  static const Schema schema = schema_of(R"({"fields": {
      "profile.major": {"type": "string", "label": "目标专业", "description": "the subject"},
      "profile.countries": {"kind": "set", "type": "string", "max_length": 5},
      "profile.gpa": {"type": "number", "range": [0, 5]},
      "profile.id": {"type": "string", "sensitivity": "personal"},
      "profile.address": {"type": "object"},
      "phase": {"type": "enum", "transitions": {"talking": ["deciding"]}},
      "toefl": {"kind": "max", "type": "integer"},
      "log": {"kind": "log", "type": "text"},
      "visits": {"kind": "counter"},
      "notes.*": {"type": "text", "label": "notes"}}})");
  return schema;
}

Extraction read(std::string_view answer) {
  auto extraction = read_extraction(answer, profile());
  EXPECT_TRUE(extraction) << answer << (extraction ? "" : correction(extraction.error()));
  return extraction ? *extraction : Extraction();
}

// Its delta as JSON, without what an empty source makes.
std::string delta_json(std::string_view answer) {
  return codec::to_json(codec::delta_to_value(delta_of(read(answer), {})));
}

std::string defects(std::string_view answer) {
  const auto extraction = read_extraction(answer, profile());
  EXPECT_FALSE(extraction) << answer;
  return extraction ? "" : correction(extraction.error());
}

void expect_strict(const Value& schema) {
  const Value* properties = schema.find("properties");
  if (properties != nullptr) {
    EXPECT_EQ(*schema.find("additionalProperties"), Value(false));
    EXPECT_EQ(schema.find("required")->get_if<List>()->size(), properties->get_if<Map>()->size());
    for (const auto& [name, property] : *properties->get_if<Map>()) expect_strict(property);
  }
  if (const Value* items = schema.find("items")) expect_strict(*items);
}

TEST(Extraction, TheToolIsClosedAndAsksForEachDeclaredField) {
  const Value tool = extraction_tool(profile());
  EXPECT_EQ(*tool.find("strict"), Value(true));
  expect_strict(*tool.find("parameters"));
  const Value& fields = *tool.find("parameters")->find("properties")->find("fields")->find("properties");
  EXPECT_EQ(fields.find("visits"), nullptr);  // a dialogue does not count
  EXPECT_EQ(fields.find("notes.*"), nullptr);
  const Value& gpa = *fields.find("profile.gpa");
  EXPECT_EQ(codec::to_json(*gpa.find("type")), R"(["object","null"])");
  EXPECT_EQ(codec::to_json(*gpa.find("properties")->find("value")), R"({"type":["number","null"]})");
  EXPECT_EQ(codec::to_json(*gpa.find("properties")->find("intent")->find("enum")), R"(["OVERWRITE","IGNORE"])");
  EXPECT_NE(gpa.find("description")->get_if<std::string>()->find("At most 5."), std::string::npos);
  const Value& countries = *fields.find("profile.countries");
  EXPECT_EQ(codec::to_json(*countries.find("properties")->find("intent")->find("enum")),
            R"(["OVERWRITE","APPEND","IGNORE"])");
  EXPECT_EQ(codec::to_json(*countries.find("properties")->find("value")),
            R"({"items":{"type":"string"},"type":["array","null"]})");
  EXPECT_EQ(codec::to_json(*fields.find("phase")->find("properties")->find("value")->find("enum")),
            R"(["talking","deciding",null])");
  EXPECT_NE(fields.find("profile.major")->find("description")->get_if<std::string>()->find("目标专业: the subject."),
            std::string::npos);
}

TEST(Extraction, OverwriteSetsAndResetsAppendAddsIgnoreIsANote) {
  EXPECT_EQ(
      delta_json(R"({"fields": {"profile.major": {"intent": "OVERWRITE", "value": " 计算机 ", "confidence": "stated"},
                                     "profile.countries": {"intent": "OVERWRITE", "value": ["美国", "英国"], "confidence": null}},
                          "unset": ["profile.gpa"]})"),
      R"({"ops":[{"op":"unset","path":"profile.gpa"},{"op":"patch","path":"profile.countries","reset":["美国","英国"]},)"
      R"({"confidence":"stated","op":"set","path":"profile.major","value":"计算机"}]})");
  EXPECT_EQ(
      delta_json(R"({"fields": {"profile.countries": {"intent": "APPEND", "value": ["日本"], "confidence": "inferred"},
                                     "log": {"intent": "APPEND", "value": "x", "confidence": null},
                                     "toefl": {"intent": "OVERWRITE", "value": 105, "confidence": null}}, "unset": null})"),
      R"({"ops":[{"op":"append","path":"log","value":"x"},{"add":["日本"],"confidence":"inferred","op":"patch","path":"profile.countries"},)"
      R"({"op":"max","path":"toefl","value":105}]})");
  const Extraction ignored =
      read(R"({"fields": {"profile.gpa": {"intent": "IGNORE", "value": 3.9, "confidence": "guess"},
                                                 "profile.id": {"intent": "IGNORE", "value": "P123", "confidence": null}}, "unset": []})");
  EXPECT_TRUE(ignored.changes_nothing());
  EXPECT_EQ(ignored.ignored,
            (std::vector<std::string>{"IGNORE profile.gpa: 3.9", "IGNORE profile.id"}));  // P123 is personal
  const Delta delta = delta_of(ignored, {"turn", "turn-3", {"E-1"}, ""});
  EXPECT_EQ(delta.source.evidence, (std::vector<std::string>{"E-1", "IGNORE profile.gpa: 3.9", "IGNORE profile.id"}));
}

TEST(Extraction, AnswersAreReadThroughTheirPadding) {
  const std::string plain =
      R"({"fields": {"profile.gpa": {"intent": "OVERWRITE", "value": 3.8, "confidence": null}}, "unset": null})";
  const std::string expected = delta_json(plain);
  EXPECT_EQ(delta_json("```json\n" + plain + "\n```"), expected);
  EXPECT_EQ(delta_json("好的，{根据}对话：\n" + plain + "\n以上 {就是} 全部。"), expected);
  EXPECT_EQ(delta_json(R"({"name": "update_board", "arguments": )" + codec::to_json(Value(plain)) + "}"), expected);
  EXPECT_EQ(delta_json(R"({"tool_calls": [{"type": "function", "function": {"name": "x", "arguments": )" +
                       codec::to_json(Value(plain)) + "}}]}"),
            expected);
  EXPECT_EQ(delta_json(R"({"type": "tool_use", "input": )" + plain + "}"), expected);
}

TEST(Extraction, WhatIsWrongIsToldSoThatTheModelCanCorrectIt) {
  EXPECT_NE(defects("随便看看吧").find("there is no JSON object in it"), std::string::npos);
  EXPECT_NE(defects(R"({"fields": {"profile.gpa": )").find("cut off"), std::string::npos);
  EXPECT_NE(defects(R"({"fields": {},})").find("JSON"), std::string::npos);  // a trailing comma
  EXPECT_NE(defects(R"({"fields": {"profile.gpa": {"intent": "OVERWRITE", "value": "高", "confidence": null}}})")
                .find(R"(profile.gpa: "value" must be a number (type), found "高")"),
            std::string::npos);
  EXPECT_NE(
      defects(
          R"({"fields": {"profile.countries": {"intent": "APPEND", "value": ["太长的国家名"], "confidence": null}}})")
          .find("must have at most 5 characters"),
      std::string::npos);
  EXPECT_NE(defects(R"({"fields": {"profile.gap": null, "profile.gpb": {"intent": "OVERWRITE", "value": 1}}})")
                .find(R"(there is no field "profile.gpb"; did you mean "profile.gpa"?)"),
            std::string::npos);
  EXPECT_NE(defects(R"({"fields": {"profile.gpa": {"intent": "APPEND", "value": 1}}})").find("OVERWRITE or IGNORE"),
            std::string::npos);
  EXPECT_NE(defects(R"({"fields": {"log": {"intent": "OVERWRITE", "value": "x"}}})").find("APPEND or IGNORE"),
            std::string::npos);
  EXPECT_NE(defects(R"({"fields": {"profile.gpa": {"intent": "SET", "value": 1}}})").find("\"intent\" must be"),
            std::string::npos);
  EXPECT_NE(defects(R"({"fields": {"profile.gpa": {"intent": "OVERWRITE", "value": 1, "confidence": "sure"}}})")
                .find("\"confidence\" must be"),
            std::string::npos);
  EXPECT_NE(defects(R"({"unset": ["profile/gpa", 5]})").find("there is no field \"profile/gpa\""), std::string::npos);
  EXPECT_NE(
      defects(R"({"fields": {"visits": {"intent": "OVERWRITE", "value": 1}}})").find("there is no field \"visits\""),
      std::string::npos);
  EXPECT_NE(defects(R"({"fields": {"profile.gpa": 3.8}})").find("must be an object with intent, value and confidence"),
            std::string::npos);
  // Several at once.
  const std::string several = defects(
      R"({"fields": {"profile.gpa": {"intent": "OVERWRITE", "value": 9}, "phase": {"intent": "OVERWRITE", "value": "x"}}})");
  EXPECT_NE(several.find("from 0 to 5"), std::string::npos);
  EXPECT_NE(several.find("one of the states"), std::string::npos);
}

TEST(Extraction, BlanksAreLeftToTheBoardAndObjectsComeAsText) {
  EXPECT_EQ(delta_json(R"({"fields": {"profile.major": {"intent": "OVERWRITE", "value": null, "confidence": null}}})"),
            R"({"ops":[{"op":"set","path":"profile.major","value":null}]})");
  EXPECT_EQ(
      delta_json(
          R"({"fields": {"profile.address": {"intent": "OVERWRITE", "value": "{\"city\": \"上海\"}", "confidence": null}}})"),
      R"({"ops":[{"op":"set","path":"profile.address","value":{"city":"上海"}}]})");
}

TEST(Extraction, FieldsOfAPatternAreNamedByTheModel) {
  EXPECT_EQ(
      delta_json(
          R"({"fields": {}, "others": [{"path": "notes.签证", "intent": "OVERWRITE", "value": "急", "confidence": null}], "unset": ["notes.x"]})"),
      R"({"ops":[{"op":"unset","path":"notes.x"},{"op":"set","path":"notes.签证","value":"急"}]})");
}

TEST(Extraction, NotesNeverMakeASourceTooLarge) {
  Extraction extraction;
  for (int i = 0; i < 100; ++i) extraction.ignored.push_back("IGNORE a." + std::to_string(i) + std::string(60, 'x'));
  const Delta delta = delta_of(extraction, {"turn", "t", {}, ""});
  EXPECT_TRUE(codec::delta_from_value(codec::delta_to_value(delta)));
  EXPECT_GT(delta.source.evidence.size(), 10U);
}

TEST(Extraction, KnownFactsAreTheSureOnesThatAreDeclared) {
  blackboard::Board board;
  const auto put = [&](std::string_view path, Value value, Confidence confidence) {
    Dot dot;
    dot.mark = {1, 0};
    dot.confidence = confidence;
    dot.actor = "a";
    board.put(leaf_key(*Path::parse(path)), RegisterCell{{{std::move(value), dot}}});
  };
  put("profile.major", "CS", Confidence::confirmed);
  put("profile.gpa", 3.8, Confidence::stated);
  put("profile.id", "P123", Confidence::verified);
  put("other", "x", Confidence::verified);
  board.set_version(1);
  const std::string facts = known_facts(board, profile(), 0, Rights::everything());
  EXPECT_NE(facts.find("\"profile.major\""), std::string::npos);
  EXPECT_EQ(facts.find("profile.gpa"), std::string::npos);
  EXPECT_EQ(facts.find("other"), std::string::npos);
  const auto schema = std::make_shared<Schema>(profile());
  const Rights plain =
      Rights({{*Pattern::for_boards("**"), *Pattern::for_paths("**"), 1, confidence_highest}}).under(schema);
  EXPECT_EQ(known_facts(board, profile(), 0, plain).find("P123"), std::string::npos);
  EXPECT_NE(facts.find("P123"), std::string::npos);
}

}  // namespace
}  // namespace tafel::context
