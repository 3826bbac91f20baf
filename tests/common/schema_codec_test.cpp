// Schema documents: what reads, what does not and how that is told, and how documents add up (SEMANTICS 12).
#include "common/codec/schema_codec.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "common/base/limits.hpp"
#include "common/codec/completeness_codec.hpp"
#include "common/codec/json.hpp"
#include "common/model/value_rule.hpp"

namespace tafel {
namespace {

Value json(std::string_view text) {
  auto value = codec::parse_json(text);
  EXPECT_TRUE(value) << text << (value ? "" : value.error().message);
  return value ? *value : Value();
}

SchemaDocument document(std::string_view text) {
  auto read = codec::schema_from_value(json(text));
  EXPECT_TRUE(read) << (read ? "" : codec::in_one_message(read.error()));
  return read ? *read : SchemaDocument();
}

Schema schema(std::initializer_list<std::string_view> nearest_first) {
  Schema schema;
  for (const std::string_view text : nearest_first) schema.add(document(text));
  return schema;
}

const FieldRule& rule(const Schema& schema, std::string_view path) { return schema.rule(*Path::parse(path)); }

Value vectors() {
  std::ifstream stream(TAFEL_VECTORS "/schemas.json");
  return json(std::string((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>()));
}

TEST(SchemaCodec, Section12_WhatIsRightReadsAndIsWrittenAsItWas) {
  const Value cases = vectors();
  ASSERT_GE(cases.find("good")->get_if<List>()->size(), 10U);
  for (const Value& one : *cases.find("good")->get_if<List>()) {
    const auto read = codec::schema_from_value(*one.find("document"));
    ASSERT_TRUE(read) << codec::to_json(one) << codec::in_one_message(read.error());
    Schema first;
    first.add(*read);
    const Value written = codec::schema_to_value(first);
    const auto again = codec::schema_from_value(written);
    ASSERT_TRUE(again) << codec::to_json(written) << codec::in_one_message(again.error());
    Schema second;
    second.add(*again);
    EXPECT_EQ(codec::to_json(codec::schema_to_value(second)), codec::to_json(written));
  }
}

TEST(SchemaCodec, Section12_EachDefectNamesPathMemberAndWhatWouldBeRight) {
  const Value cases = vectors();
  for (const Value& one : *cases.find("bad")->get_if<List>()) {
    const auto read = codec::schema_from_value(*one.find("document"));
    ASSERT_FALSE(read) << codec::to_json(one);
    const std::string told = codec::in_one_message(read.error());
    EXPECT_NE(told.find(*one.find("tells")->get_if<std::string>()), std::string::npos) << codec::to_json(one) << "\n"
                                                                                       << told;
    EXPECT_LE(told.size(), 512U);
  }
}

TEST(SchemaCodec, AllDefectsOfADocumentAreToldUpToABound) {
  const auto several =
      codec::schema_from_value(json(R"({"fields": {"a": {"type": "x", "kind": "y"}, "b": {"weight": 1}}})"));
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().size(), 3U);
  Value fields{Map{}};
  for (int i = 0; i < 100; ++i) fields.set("f" + std::to_string(i), Map{{"type", "x"}});
  const auto many = codec::schema_from_value(Map{{"fields", fields}});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().size(), limits::schema_defects_max);
}

TEST(SchemaCodec, DocumentsAreBounded) {
  Value rules{Map{}};
  for (std::size_t i = 0; i <= limits::schema_rules_max; ++i) rules.set("f" + std::to_string(i), Map{});
  EXPECT_FALSE(codec::schema_from_value(Map{{"fields", rules}}));
  Value patterns{Map{}};
  for (std::size_t i = 0; i <= limits::schema_patterns_max; ++i) patterns.set("f" + std::to_string(i) + ".*", Map{});
  EXPECT_FALSE(codec::schema_from_value(Map{{"fields", patterns}}));
  List values;
  for (std::size_t i = 0; i <= limits::schema_enum_max; ++i) values.emplace_back(static_cast<std::int64_t>(i));
  EXPECT_FALSE(codec::schema_from_value(Map{{"fields", Map{{"a", Map{{"enum", values}}}}}}));
  EXPECT_FALSE(codec::schema_from_value(Map{{"strict", true}, {"title", std::string(limits::schema_bytes_max, 'x')}}));
  const std::string regex(limits::schema_pattern_bytes_max + 1, 'x');
  EXPECT_FALSE(codec::schema_from_value(Map{{"fields", Map{{"a", Map{{"type", "string"}, {"pattern", regex}}}}}}));
}

TEST(SchemaCodec, WarnsOfWhatIsHardlyMeant) {
  const auto warnings = codec::schema_warnings(document(
      R"({"fields": {"a.b.c.d": {"type": "string"}, "a.b": {"type": "string"}, "r": {"required": true, "type": "string"},
                     "id.**": {"sensitivity": "personal"}, "id.no": {"type": "string"}, "x": {}}})"));
  const auto tells = [&](std::string_view text) {
    return std::any_of(warnings.begin(), warnings.end(),
                       [&](const std::string& warning) { return warning.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(tells("\"a.b.c.d\" is nested 4 levels deep"));
  EXPECT_TRUE(tells("\"a.b.c.d\" can hold a value only while \"a.b\" holds none"));
  EXPECT_TRUE(tells("\"r\" is required and has no label"));
  EXPECT_TRUE(tells("\"id.no\" has a rule of its own, so it is not personal"));
  EXPECT_TRUE(tells("\"x\" declares nothing"));
  EXPECT_EQ(warnings.size(), 5U);
}

TEST(Schema, Section12_TrimIsOnForStringsAndTransitionsReject) {
  const Schema s =
      schema({R"({"fields": {"a": {"type": "string"}, "b": {"type": "text"}, "c": {"type": "string", "trim": false},
                                          "p": {"transitions": {"x": ["y"]}}}})"});
  EXPECT_TRUE(rule(s, "a").trim);
  EXPECT_FALSE(rule(s, "b").trim);
  EXPECT_FALSE(rule(s, "c").trim);
  EXPECT_EQ(rule(s, "p").on_conflict, OnConflict::reject);
  EXPECT_EQ(rule(s, "p").kind, Kind::register_);
  EXPECT_EQ(rule(s, "a").with_text_rules("　 x y "), Value("x y"));
  EXPECT_EQ(rule(s, "b").with_text_rules(" x "), Value(" x "));
}

TEST(Schema, APathBeatsPatternsAndAmongThoseTheMoreLiteral) {
  const Schema s = schema(
      {R"({"fields": {"**": {"label": "any"}, "a.*": {"label": "one"}, "a.**": {"label": "many"}, "*.b": {"label": "b"},
                                          "a.b": {"label": "path"}, "x.*.*": {"label": "three"}, "x.**": {"label": "short"}}})"});
  EXPECT_EQ(rule(s, "a.b").label, "path");
  EXPECT_EQ(rule(s, "a.c").label, "one");  // as literal and as long as a.**: the text decides
  EXPECT_EQ(rule(s, "c.b").label, "b");
  EXPECT_EQ(rule(s, "x.y.z").label, "three");
  EXPECT_EQ(rule(s, "x.y").label, "short");
  EXPECT_EQ(rule(s, "q").label, "any");
  EXPECT_EQ(rule(s, "$schema.board").label, "");  // patterns do not speak of what is reserved
}

TEST(Schema, TheNearestDocumentWinsRuleByRule) {
  const Schema s = schema(
      {R"({"fields": {"a": {"type": "string"}}})",
       R"({"strict": true, "fields": {"a": {"type": "number", "label": "far"}, "b": {"type": "number"}, "a.*": {}}})"});
  EXPECT_EQ(rule(s, "a").type, FieldType::string);
  EXPECT_EQ(rule(s, "a").label, "");  // as a whole
  EXPECT_EQ(rule(s, "b").type, FieldType::number);
  EXPECT_TRUE(s.is_strict());
  EXPECT_FALSE(schema({R"({"strict": false})", R"({"strict": true})"}).is_strict());
}

TEST(Schema, PatternsTakeNoTimeWhateverTheyAre) {
  std::string wide = "**";
  std::string path = "a";
  for (int i = 0; i < 15; ++i) wide += ".a.**";
  for (int i = 0; i < 31; ++i) path += ".a";
  const Schema s = schema({R"({"fields": {")" + wide + R"(.z": {"label": "x"}}})"});
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(rule(s, path).label, "");
  EXPECT_EQ(rule(s, path.substr(0, path.size() - 1) + "z").label, "x");
}

TEST(ValueRule, Section12_EachRuleTellsWhatWouldBeRight) {
  const Schema s = schema(
      {R"({"fields": {"i": {"type": "integer"}, "n": {"type": "number", "range": [0, 4]}, "e": {"enum": ["甲", "乙"]},
       "s": {"type": "string", "max_length": 3, "pattern": "^[a-z]+$"}, "o": {"type": "object"}, "b": {"type": "boolean"},
       "p": {"transitions": {"x": ["y"]}}, "z": {"type": "string", "max_length": 3, "allow_blank": true}}})"});
  const auto broken = [&](std::string_view path, const Value& value) {
    const auto violation = find_violation(rule(s, path), value);
    return violation ? violation->rule + ": " + violation->right : "";
  };
  EXPECT_EQ(broken("i", 3), "");
  EXPECT_EQ(broken("i", 3.0), "");
  EXPECT_EQ(broken("i", 3.5), "type: be an integer");
  EXPECT_EQ(broken("i", true), "type: be an integer");
  EXPECT_EQ(broken("n", 4.0), "");
  EXPECT_EQ(broken("n", 4.01), "range: be a number from 0 to 4");
  EXPECT_EQ(broken("e", "丙"), R"(enum: be one of "甲", "乙")");
  EXPECT_EQ(broken("s", "abcd"), "max_length: have at most 3 characters");
  EXPECT_EQ(broken("s", "ab1"), "pattern: match the pattern ^[a-z]+$");
  EXPECT_EQ(broken("z", "上海市"), "");  // characters, not bytes
  EXPECT_EQ(broken("z", ""), "");        // a blank that is let in is held against nothing
  EXPECT_EQ(broken("o", List{}), "type: be an object (a map)");
  EXPECT_EQ(broken("b", 1), "type: be true or false");
  EXPECT_EQ(broken("p", "z"), R"(transitions: be one of the states "x", "y")");
}

TEST(CompletenessCodec, IsReadAsItWasWritten) {
  const Completeness completeness{0.7, {{*Path::parse("a.b"), "预算范围"}}};
  const auto read = codec::completeness_from_value(codec::completeness_to_value(completeness));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, completeness);
}

}  // namespace
}  // namespace tafel
