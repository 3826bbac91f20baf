#include "common/codec/json.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "common/base/limits.hpp"
#include "common/codec/msgpack.hpp"
#include "tests/common/support.hpp"

namespace tafel::codec {
namespace {

using Steps = std::vector<std::string>;

JsonError refusal(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_FALSE(value.has_value()) << text;
  return value ? JsonError{} : value.error();
}

bool mentions(const std::string& message, std::string_view part) { return message.find(part) != std::string::npos; }

TEST(JsonParse, KeepsIntegersExact) {
  EXPECT_EQ(parse_json("9007199254740993")->as_int64(), 9007199254740993);
  EXPECT_EQ(parse_json("-9223372036854775808")->as_int64(), INT64_MIN);
  EXPECT_EQ(*parse_json("18446744073709551615")->get_if<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(parse_json("-0")->as_int64(), 0);
}

TEST(JsonParse, KeepsTheFormOfNumbers) {
  EXPECT_NE(parse_json("1")->get_if<std::int64_t>(), nullptr);
  EXPECT_NE(parse_json("1.0")->get_if<double>(), nullptr);
  EXPECT_NE(parse_json("1e2")->get_if<double>(), nullptr);
  EXPECT_TRUE(std::signbit(*parse_json("-0.0")->get_if<double>()));
  EXPECT_EQ(*parse_json("5e-324")->get_if<double>(), 5e-324);
}

TEST(JsonParse, RefusesNumbersThatNoValueHolds) {
  for (const char* number : {"18446744073709551616", "-9223372036854775809", "123456789012345678901234567890", "1e400",
                             "-1e400", "NaN", "Infinity", "-Infinity", "nan", "inf", "-inf", "+Infinity", "-NaN"}) {
    for (const auto& [before, after] : {std::pair{"", ""}, std::pair{"{\"a\": ", "}"}, std::pair{"[1, ", ",2]"}}) {
      const JsonError error = refusal(before + std::string(number) + after);
      EXPECT_TRUE(error.bad_number) << before << number << ": " << error.message;
      EXPECT_TRUE(mentions(error.message, "is not a number that a value can hold")) << error.message;
    }
  }
}

TEST(JsonParse, SaysWhereABadNumberStandsAndKeepsWhatCameBefore) {
  const JsonError error =
      refusal(R"({"board": "b", "ops": [{"op": "unset"}, {"op": "set", "path": "a", "value": {"x": [1, NaN]}}]})");
  EXPECT_EQ(error.location, (Steps{"ops", "1", "value", "x", "1"}));
  const auto* ops = error.partial.find("ops")->get_if<List>();
  ASSERT_NE(ops, nullptr);
  ASSERT_EQ(ops->size(), 2U);
  EXPECT_EQ(*(*ops)[1].find("path"), Value("a"));
  EXPECT_EQ(*error.partial.find("board"), Value("b"));
}

TEST(JsonParse, TellsTheOffset) {
  EXPECT_TRUE(mentions(refusal(R"({"a": 1e400})").message, "near byte 1")) << refusal(R"({"a": 1e400})").message;
  EXPECT_TRUE(mentions(refusal("[1, 2").message, "near byte 5")) << refusal("[1, 2").message;
  EXPECT_TRUE(mentions(refusal("").message, "near byte 0")) << refusal("").message;
  EXPECT_TRUE(mentions(refusal("[1,]").message, "near byte 3")) << refusal("[1,]").message;
}

TEST(JsonParse, RefusesWhatIsNotOneValue) {
  for (const char* text :
       {"",       " ",   "1 2", "[1]]", "{\"a\":1,}", "[1,]", "{a:1}", "{'a':1}", "\"a",    "[",
        "{\"a\"", "tru", "01",  "1.",   ".5",         "+1",   "0x10",  "// c\n1", "\"\t\"", "\"\\x\""}) {
    const JsonError error = refusal(text);
    EXPECT_FALSE(error.bad_number) << text;
    EXPECT_FALSE(error.message.empty());
  }
}

TEST(JsonParse, RefusesDuplicateKeys) {
  const JsonError error = refusal(R"({"a": {"k": 1, "x": 2, "\u006b": 3}})");
  EXPECT_TRUE(mentions(error.message, "the key \"k\" stands twice"));
  EXPECT_EQ(error.location, (Steps{"a", "k"}));
}

TEST(JsonParse, RefusesBadTextButKeepsItsMessageUtf8) {
  for (const std::string_view text : {"\"\xFF\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"",
                                      "\"\xED\xA0\x80\"", "\"\xC0\xAF\"", "{\"\xFF\": 1}"}) {
    const JsonError error = refusal(text);
    EXPECT_TRUE(decode(encode(Value(error.message)))) << error.message;
  }
  EXPECT_EQ(*parse_json(R"("\ud83d\ude00")"), Value("\xF0\x9F\x98\x80"));
  EXPECT_EQ(*parse_json(R"("\u0000")"), Value(std::string(1, '\0')));
}

TEST(JsonParse, KeepsMessagesShort) {
  EXPECT_LT(refusal('"' + std::string(100'000, 'x')).message.size(), 300U);
  EXPECT_LT(refusal(std::string(100'000, '9')).message.size(), 300U);
  EXPECT_LT(refusal('{' + std::string(100'000, 'x')).message.size(), 300U);
}

TEST(JsonParse, RefusesDeepNesting) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  const std::size_t deepest = DecodeLimits{}.depth_max;
  EXPECT_TRUE(parse_json(nested(deepest)));
  for (const std::size_t levels : {deepest + 1, std::size_t{1000}, std::size_t{1'000'000}}) {
    EXPECT_TRUE(mentions(refusal(nested(levels)).message, "nested deeper")) << levels;
  }
}

TEST(JsonParse, TakesKeysOfOtherLanguagesAsPlainData) {
  EXPECT_EQ(*parse_json(R"({"__proto__": {"a": 1}})")->find("__proto__")->find("a"), Value(1));
}

TEST(JsonBytes, AreBase64InAMapOfTheirOwn) {
  EXPECT_EQ(to_json(Bytes{"foo"}), R"({"$bytes":"Zm9v"})");
  EXPECT_TRUE(test::identical(*parse_json(R"([{"$bytes": "Zm9v"}])"), List{Bytes{"foo"}}));
  EXPECT_EQ(*parse_json(R"({"$bytes": "Zm9v", "a": 1})")->find("$bytes"), Value("Zm9v"));
}

TEST(JsonBytes, AreToldFromMapsThatLookLikeThem) {
  const Value looks = Map{{"$bytes", "Zm9v"}};
  EXPECT_EQ(to_json(looks), R"({"$map":{"$bytes":"Zm9v"}})");
  EXPECT_TRUE(test::identical(*parse_json(to_json(looks)), looks));
  const Value wraps = Map{{"$map", looks}};
  EXPECT_EQ(to_json(wraps), R"({"$map":{"$map":{"$map":{"$bytes":"Zm9v"}}}})");
  EXPECT_TRUE(test::identical(*parse_json(to_json(wraps)), wraps));
  EXPECT_EQ(*parse_json(R"({"$map": {"a": {"$bytes": ""}}})"), Value(Map{{"a", Bytes{}}}));
}

TEST(JsonBytes, AreRefusedWhereTheyAreWrong) {
  EXPECT_EQ(refusal(R"({"a": [{"$bytes": "Zg"}]})").location, (Steps{"a", "0"}));
  EXPECT_TRUE(mentions(refusal(R"({"$bytes": 5})").message, "base64"));
  EXPECT_TRUE(mentions(refusal(R"({"$map": 5})").message, "$map"));
}

TEST(JsonText, WritesDoublesInTheirShortestExactForm) {
  const std::pair<double, std::string_view> examples[] = {
      {1.0, "1.0"},     {-0.0, "-0.0"},    {0.1, "0.1"},
      {1.5, "1.5"},     {1e21, "1e+21"},   {5e-324, "5e-324"},
      {100.0, "100.0"}, {1e300, "1e+300"}, {0.1 + 0.2, "0.30000000000000004"}};
  for (const auto& [number, text] : examples) {
    EXPECT_EQ(to_json(number), text);
    EXPECT_TRUE(test::identical(*parse_json(text), number));
  }
}

TEST(JsonText, EscapesControlCharactersOnly) {
  EXPECT_EQ(to_json(std::string("a\"\\/\n\t\0\x7F\xC2\x9F\xC3\xA9", 12)),
            "\"a\\\"\\\\/\\n\\u0009\\u0000\\u007f\\u009f\xC3\xA9\"");
}

TEST(JsonText, SortsKeysAndIndentsOnDemand) {
  const Value value = test::json(R"({"b": [1, {}], "a": {"$bytes": ""}})");
  EXPECT_EQ(to_json(value), R"({"a":{"$bytes":""},"b":[1,{}]})");
  EXPECT_EQ(to_json(test::json(R"({"b": [1, []]})"), 1), "{\n \"b\": [\n  1,\n  []\n ]\n}");
}

TEST(JsonText, NeverWritesAnInfiniteNumberAsSomethingElse) { EXPECT_TRUE(refusal(to_json(std::nan(""))).bad_number); }

TEST(JsonText, OfCanonicalValuesHasNoIntegralDoubles) {
  EXPECT_EQ(to_canonical_json(test::json("[1.0, -0.0, 2.5, 1e18, 1e19, 1e300, {\"a\": 3.0}]")),
            "[1,0,2.5,1000000000000000000,10000000000000000000,1e+300,{\"a\":3}]");
  EXPECT_EQ(to_canonical_json("US"), "\"US\"");
}

TEST(Json, ParseIsTheInverseOfWrite) {
  test::RandomValues random(3);
  for (int i = 0; i < 3000; ++i) {
    const Value value = random.value(5);
    for (const int indent : {0, 2}) {
      const auto parsed = parse_json(to_json(value, indent));
      ASSERT_TRUE(parsed) << to_json(value) << parsed.error().message;
      EXPECT_TRUE(test::identical(*parsed, value)) << to_json(value);
    }
  }
}

TEST(Json, GoesBothWaysAtTheDepthLimitEvenWhereEveryMapIsEscaped) {
  Value value = 1;
  for (std::size_t i = 0; i < limits::value_depth_max; ++i) value = Map{{"$map", std::move(value)}};
  EXPECT_TRUE(test::identical(*parse_json(to_json(value)), value));
}

}  // namespace
}  // namespace tafel::codec
