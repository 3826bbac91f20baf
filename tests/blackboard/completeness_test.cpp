// How complete a board is (SEMANTICS 12).
#include "blackboard/completeness.hpp"

#include <gtest/gtest.h>

namespace tafel::blackboard {
namespace {

Path path(std::string_view text) { return *Path::parse(text); }

FieldRule required(double weight, std::string label) {
  FieldRule rule;
  rule.required = true;
  rule.weight = weight;
  rule.label = std::move(label);
  return rule;
}

Schema profile() {
  Schema schema;
  schema.declare(path("major"), required(0.3, "目标专业"));
  schema.declare(path("countries"), required(0.3, "意向国家"));
  schema.declare(path("gpa"), required(0.2, ""));
  schema.declare(path("other"), FieldRule());
  schema.declare(path("budget"), required(0.2, "预算范围"));
  return schema;
}

void put(Board& board, std::string_view at, Value value, std::optional<TimeMs> expires = std::nullopt) {
  Dot dot;
  dot.expires = expires;
  board.put(leaf_key(path(at)), RegisterCell{{{std::move(value), dot}}});
}

TEST(Completeness, Section12_WeightsOfWhatIsThereOverAllWeights) {
  const auto fields = required_fields(profile());
  ASSERT_EQ(fields.size(), 4U);
  EXPECT_EQ(fields[2].label, "gpa");
  EXPECT_EQ(completeness(fields, {false, false, false, false}).score, 0);
  EXPECT_EQ(completeness(fields, {true, false, true, false}).score, 0.5);
  EXPECT_EQ(completeness(fields, {true, true, true, true}).score, 1);
  const auto partly = completeness(fields, {true, false, true, false});
  ASSERT_EQ(partly.missing.size(), 2U);
  EXPECT_EQ(partly.missing[0].label, "意向国家");  // in the order of the schema
  EXPECT_EQ(partly.missing[1].label, "预算范围");
}

TEST(Completeness, TheScoreIsRounded) {
  Schema schema;
  for (const std::string_view name : {"a", "b", "c"}) schema.declare(path(name), required(1, "x"));
  EXPECT_EQ(completeness(required_fields(schema), {true, false, false}).score, 0.333333);
  EXPECT_EQ(completeness(required_fields(schema), {true, true, false}).score, 0.666667);
}

TEST(Completeness, OfABoardWhatIsBlankOrExpiredIsMissing) {
  const auto fields = required_fields(profile());
  Board board;
  put(board, "major", "");
  put(board, "gpa", 0);
  put(board, "countries", "美国", 100);
  put(board, "budget.max", 5);
  EXPECT_EQ(completeness(board, fields, {50, nullptr}).score, 0.7);
  EXPECT_EQ(completeness(board, fields, {100, nullptr}).score, 0.4);
}

}  // namespace
}  // namespace tafel::blackboard
