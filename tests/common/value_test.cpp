// Equality of values (by value, exactly), blankness, defects, canonical form.
#include "common/model/value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "tests/common/support.hpp"

namespace tafel {
namespace {

constexpr std::int64_t two_to_53 = 9007199254740992;
constexpr double two_to_53_double = 9007199254740992.0;
constexpr double two_to_63_double = 9223372036854775808.0;
constexpr double two_to_64_double = 18446744073709551616.0;

struct Pair {
  Value left;
  Value right;
  bool equal;
};

Value list(List items) { return items; }
Value map(Map members) { return members; }
Value bytes(std::string data) { return Bytes{std::move(data)}; }
Value nul_text() { return std::string(1, '\0'); }

// Every pair in which an encoding, a conversion or a careless comparison could decide wrongly.
std::vector<Pair> pairs() {
  return {
      {Nil{}, Nil{}, true},
      {Nil{}, false, false},
      {Nil{}, 0, false},
      {Nil{}, "", false},
      {Nil{}, list({}), false},
      {Nil{}, map({}), false},
      {true, true, true},
      {true, false, false},
      {true, 1, false},
      {false, 0, false},
      {true, "true", false},
      {1, 1, true},
      {1, 1.0, true},
      {1, std::uint64_t{1}, true},
      {1.0, std::uint64_t{1}, true},
      {1, 2, false},
      {1, -1, false},
      {1, "1", false},
      {1, 1.5, false},
      {0, -0.0, true},
      {0.0, -0.0, true},
      {0, 5e-324, false},
      {-1, std::uint64_t{UINT64_MAX}, false},
      {-1, -1.0, true},
      {two_to_53, two_to_53_double, true},
      {two_to_53 + 1, two_to_53_double, false},
      {two_to_53 - 1, two_to_53_double - 1, true},
      {two_to_53 - 1, two_to_53_double, false},
      {-two_to_53 - 1, -two_to_53_double, false},
      {two_to_53 + 1, two_to_53 + 1, true},
      {two_to_53 + 2, two_to_53_double + 2, true},
      {INT64_MAX, two_to_63_double, false},
      {INT64_MAX - 1, INT64_MAX, false},
      {INT64_MIN, -two_to_63_double, true},
      {INT64_MIN, two_to_63_double, false},
      {std::uint64_t{1} << 63U, two_to_63_double, true},
      {std::uint64_t{UINT64_MAX}, two_to_64_double, false},
      {std::uint64_t{UINT64_MAX}, std::uint64_t{UINT64_MAX}, true},
      {std::uint64_t{UINT64_MAX}, std::uint64_t{UINT64_MAX} - 1, false},
      {std::uint64_t{UINT64_MAX} - 2046, two_to_64_double - 2048, false},
      {std::uint64_t{UINT64_MAX} - 2047, std::nextafter(two_to_64_double, 0.0), true},
      {static_cast<std::uint64_t>(INT64_MAX), INT64_MAX, true},
      {0.1, 0.1, true},
      {0.1, 0.1F, false},
      {0.5, 0.5F, true},
      {1e300, 1e300, true},
      {"a", "a", true},
      {"a", "A", false},
      {"", nul_text(), false},
      {"\xC3\xA9", "e\xCC\x81", false},
      {"a", bytes("a"), false},
      {bytes("a"), bytes("a"), true},
      {bytes(""), "", false},
      {list({}), map({}), false},
      {list({1, 2}), list({1, 2}), true},
      {list({1, 2}), list({1.0, 2.0}), true},
      {list({1, 2}), list({2, 1}), false},
      {list({1}), list({1, Nil{}}), false},
      {list({1}), 1, false},
      {map({{"a", 1}, {"b", 2}}), map({{"b", 2}, {"a", 1}}), true},
      {map({{"a", 1}}), map({{"a", 1.0}}), true},
      {map({{"a", 1}}), map({{"b", 1}}), false},
      {map({{"a", Nil{}}}), map({}), false},
      {map({{"a", list({map({{"b", -0.0}})})}}), map({{"a", list({map({{"b", 0}})})}}), true},
  };
}

TEST(ValueEquality, HoldsForTheWholeTable) {
  for (const Pair& pair : pairs()) {
    const std::string what = brief(pair.left) + " and " + brief(pair.right);
    EXPECT_EQ(pair.left == pair.right, pair.equal) << what;
    EXPECT_EQ(pair.right == pair.left, pair.equal) << what;
  }
}

TEST(ValueEquality, IsEqualityOfCanonicalEncodings) {
  for (const Pair& pair : pairs()) {
    EXPECT_EQ(canonical(pair.left) == canonical(pair.right), pair.equal)
        << brief(pair.left) << " and " << brief(pair.right);
  }
}

TEST(ValueEquality, AgreesWithTheCanonicalEncodingOnRandomValues) {
  test::RandomValues random(1);
  for (int i = 0; i < 2000; ++i) {
    const Value left = random.value();
    const Value right = random.chance(4) ? left : random.value(1);
    EXPECT_EQ(left == right, canonical(left) == canonical(right)) << brief(left) << " and " << brief(right);
  }
}

TEST(NumberOrder, IsExactAcrossForms) {
  const std::vector<Value> ascending{-1e300,
                                     INT64_MIN,
                                     -1.5,
                                     -1,
                                     0,
                                     5e-324,
                                     0.5,
                                     1,
                                     two_to_53_double,
                                     two_to_53 + 1,
                                     INT64_MAX,
                                     two_to_63_double,
                                     (std::uint64_t{1} << 63U) + 1,
                                     std::uint64_t{UINT64_MAX},
                                     two_to_64_double,
                                     1e300};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      const int expected = i < j ? -1 : (i > j ? 1 : 0);
      EXPECT_EQ(compare_numbers(ascending[i], ascending[j]), expected)
          << brief(ascending[i]) << " " << brief(ascending[j]);
    }
  }
}

TEST(ValueForm, KeepsOneFormOfEachInteger) {
  EXPECT_NE(Value(std::uint64_t{5}).get_if<std::int64_t>(), nullptr);
  EXPECT_NE(Value(std::uint64_t{UINT64_MAX}).get_if<std::uint64_t>(), nullptr);
  EXPECT_EQ(Value(1.0).as_int64(), 1);
  EXPECT_EQ(Value(1.5).as_int64(), std::nullopt);
  EXPECT_EQ(Value(two_to_63_double).as_int64(), std::nullopt);
  EXPECT_EQ(Value(true).as_int64(), std::nullopt);
}

TEST(ValueMap, FindsAndSetsMembersInKeyOrder) {
  Value value;
  value.set("b", 1).set("a", 2).set("b", 3);
  EXPECT_EQ(value, test::json(R"({"a": 2, "b": 3})"));
  EXPECT_EQ(value.find("c"), nullptr);
  EXPECT_EQ(Value(1).find("a"), nullptr);
}

TEST(Blank, IsNilEmptyOrOnlyWhiteSpace) {
  for (const char* blank : {"null", "\"\"", "\" \\t\\u00a0\"", "[]", "{}"})
    EXPECT_TRUE(is_blank(test::json(blank))) << blank;
  for (const char* full : {"0", "0.0", "false", "\"x\"", "[null]", "{\"a\": null}"})
    EXPECT_FALSE(is_blank(test::json(full))) << full;
}

Value nested(std::size_t levels) {
  Value value = 1;
  for (std::size_t i = 0; i < levels; ++i) value = List{std::move(value)};
  return value;
}

TEST(Defect, IsFoundAtTheDepthLimit) {
  EXPECT_FALSE(find_defect(nested(limits::value_depth_max)));
  ASSERT_TRUE(find_defect(nested(limits::value_depth_max + 1)));
  EXPECT_FALSE(find_defect(nested(limits::value_depth_max + 1))->too_large);
}

TEST(Defect, IsAnInfiniteNumberOrBadText) {
  EXPECT_TRUE(find_defect(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(find_defect(List{-std::numeric_limits<double>::infinity()}));
  EXPECT_TRUE(find_defect("\xFF"));
  EXPECT_TRUE(find_defect(Map{{"\xFF", 1}}));
  EXPECT_FALSE(find_defect(Bytes{"\xFF"}));
}

TEST(Defect, IsASizeAboveTheLimit) {
  EXPECT_FALSE(find_defect(List(limits::value_items_max, Value(1))));
  ASSERT_TRUE(find_defect(List(limits::value_items_max + 1, Value(1))));
  EXPECT_TRUE(find_defect(List(limits::value_items_max + 1, Value(1)))->too_large);
  EXPECT_TRUE(find_defect(std::string(limits::value_bytes_max, 'x'))->too_large);
  EXPECT_TRUE(find_defect(Map{{std::string(limits::key_bytes_max + 1, 'k'), 1}})->too_large);
}

TEST(Canonical, IsTheShortestFormWithSortedKeys) {
  EXPECT_EQ(to_hex(canonical(test::json(R"({"b": 1.0, "a": -0.0})"))), "82a16100a16201");
  EXPECT_EQ(to_hex(canonical(1.5)), "cb3ff8000000000000");
}

TEST(Brief, IsShortAndStaysUtf8) {
  const std::string text = brief(std::string(200, 'x'));
  EXPECT_LE(text.size(), 64U);
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "\xE2\x82\xAC";
  EXPECT_TRUE(is_utf8(brief(wide)));
  EXPECT_EQ(brief(test::json(R"({"a": [1, null]})")), R"({"a":[1,null]})");
}

}  // namespace
}  // namespace tafel
