#include "common/codec/msgpack.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/common/support.hpp"

namespace tafel::codec {
namespace {

using test::unhex;

std::string refusal(std::string_view bytes, const DecodeLimits& limits = {}) {
  const auto value = decode(bytes, limits);
  EXPECT_FALSE(value.has_value());
  return value ? "" : value.error().message;
}

bool mentions(const std::string& message, std::string_view part) { return message.find(part) != std::string::npos; }

TEST(MsgpackDecode, ReadsEveryTypeInEveryWidth) {
  const std::pair<std::string_view, std::string_view> examples[] = {
      {"c0", "null"},
      {"c2", "false"},
      {"7f", "127"},
      {"cc01", "1"},
      {"cd0001", "1"},
      {"ce00000001", "1"},
      {"cf0000000000000001", "1"},
      {"d001", "1"},
      {"d3ffffffffffffffff", "-1"},
      {"ff", "-1"},
      {"cfffffffffffffffff", "18446744073709551615"},
      {"d38000000000000000", "-9223372036854775808"},
      {"ca3fc00000", "1.5"},
      {"cb3ff0000000000000", "1.0"},
      {"a161", "\"a\""},
      {"d90161", "\"a\""},
      {"da000161", "\"a\""},
      {"db0000000161", "\"a\""},
      {"a0", "\"\""},
      {"d900", "\"\""},
      {"c40100", R"({"$bytes": "AA=="})"},
      {"c50000", R"({"$bytes": ""})"},
      {"c600000001ff", R"({"$bytes": "/w=="})"},
      {"90", "[]"},
      {"dc000101", "[1]"},
      {"dd0000000101", "[1]"},
      {"80", "{}"},
      {"de0001a16101", R"({"a": 1})"},
      {"df00000001a16101", R"({"a": 1})"},
      {"82a16201a16102", R"({"a": 2, "b": 1})"},
      {"8181a16101", ""},
  };
  for (const auto& [hex, text] : examples) {
    const auto value = decode(unhex(hex));
    if (text.empty()) {
      EXPECT_FALSE(value) << hex;
      continue;
    }
    ASSERT_TRUE(value) << hex << " " << value.error().message;
    EXPECT_TRUE(test::identical(*value, test::json(text))) << hex;
  }
}

TEST(MsgpackDecode, RefusesACountLargerThanTheBytesLeft) {
  for (const char* hex :
       {"ddffffffff", "dfffffffff", "dd04000000", "df7fffffff", "dcffff", "9f", "8f", "92c0", "81a161"}) {
    EXPECT_TRUE(mentions(refusal(unhex(hex)), "larger than the bytes left") ||
                mentions(refusal(unhex(hex)), "end inside"))
        << hex;
  }
  EXPECT_TRUE(mentions(refusal(unhex("dd04000000")), "a count of 67108864 is larger than the bytes left"));
}

TEST(MsgpackDecode, CountsTheTextThatCameBeforeAsUsed) {
  std::string bytes = unhex("92da1000") + std::string(4096, 'x') + unhex("dc0fff");
  EXPECT_TRUE(mentions(refusal(bytes), "larger than the bytes left"));
}

TEST(MsgpackDecode, RefusesNestedHeadersThatTogetherDeclareTooMuch) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) bytes += unhex("dc00a0");
  EXPECT_TRUE(mentions(refusal(bytes), "larger than the bytes left"));
}

TEST(MsgpackDecode, RefusesMoreObjectsThanTheBudget) {
  std::string bytes;
  PackWriter out(bytes);
  out.array(100);
  for (int i = 0; i < 100; ++i) out.nil();
  EXPECT_TRUE(decode(bytes, {.objects_max = 101}));
  EXPECT_TRUE(mentions(refusal(bytes, {.objects_max = 100}), "more than 100 objects"));
}

TEST(MsgpackDecode, RefusesDeepNesting) {
  const DecodeLimits limits;
  const auto nested = [](std::size_t levels) { return std::string(levels, '\x91') + "\xC0"; };
  EXPECT_TRUE(decode(nested(limits.depth_max)));
  for (const std::size_t levels : {limits.depth_max + 1, std::size_t{1000}, std::size_t{1'000'000}}) {
    EXPECT_TRUE(mentions(refusal(nested(levels), {.objects_max = 2'000'000}), "nested deeper")) << levels;
  }
}

TEST(MsgpackDecode, RefusesTrailingBytes) {
  EXPECT_TRUE(mentions(refusal(unhex("c0c0")), "byte 1: 1 bytes follow"));
  EXPECT_TRUE(mentions(refusal(""), "end inside"));
}

TEST(MsgpackDecode, RefusesWhatEndsTooEarly) {
  const std::string whole = encode(test::json(R"({"a": [1, 2.5, "text", {"$bytes": "AAAA"}], "b": -70000})"));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(decode(whole.substr(0, size))) << size;
}

TEST(MsgpackDecode, RefusesExtensionsAndTheUnusedByte) {
  for (const char* hex : {"d400 00", "d6ff00000000", "c70100 00", "c8000100 00", "c90000000100 00", "c1"}) {
    EXPECT_FALSE(refusal(unhex(hex)).empty()) << hex;
  }
}

TEST(MsgpackDecode, RefusesNumbersThatAreNotFinite) {
  for (const char* hex :
       {"cb7ff8000000000000", "cb7ff0000000000000", "cbfff0000000000000", "ca7fc00000", "caff800000"}) {
    EXPECT_TRUE(mentions(refusal(unhex(hex)), "not a finite number")) << hex;
  }
}

TEST(MsgpackDecode, RefusesTextAndKeysThatAreNotUtf8) {
  EXPECT_TRUE(mentions(refusal(unhex("a1ff")), "UTF-8"));
  EXPECT_TRUE(mentions(refusal(unhex("81a1ff01")), "UTF-8"));
  EXPECT_TRUE(mentions(refusal(unhex("a3eda080")), "UTF-8"));
}

TEST(MsgpackDecode, RefusesKeysThatAreNoText) {
  for (const char* hex : {"810101", "81c001", "81c4016101", "819001", "818001", "81cb3ff000000000000001"}) {
    EXPECT_TRUE(mentions(refusal(unhex(hex)), "key that is not text")) << hex;
  }
}

TEST(MsgpackDecode, RefusesAKeyThatStandsTwice) {
  EXPECT_TRUE(mentions(refusal(unhex("82a16101a16102")), "the key \"a\" stands twice"));
  EXPECT_FALSE(refusal(unhex("9182a16101d9016102")).empty());
  EXPECT_FALSE(refusal(unhex("83a16101a16202a16103")).empty());
}

TEST(MsgpackDecode, TreatsKeysOfOtherLanguagesAsPlainData) {
  const Value value = test::json(R"({"__proto__": {"polluted": true}, "constructor": 1, "": 2, "\u0000": 3})");
  EXPECT_TRUE(test::identical(*decode(encode(value)), value));
}

TEST(MsgpackDecode, SpeaksOfTheOffset) { EXPECT_TRUE(mentions(refusal(unhex("9301c1 02")), "near byte 2")); }

TEST(Msgpack, DecodeIsTheInverseOfEncode) {
  test::RandomValues random(2);
  for (int i = 0; i < 3000; ++i) {
    const Value value = random.value(5);
    const auto decoded = decode(encode(value));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_TRUE(test::identical(*decoded, value)) << brief(value);
  }
}

TEST(Msgpack, KeepsAllSixtyFourBits) {
  for (const std::int64_t number :
       {INT64_MAX, INT64_MIN, std::int64_t{9007199254740993}, std::int64_t{-9007199254740993}}) {
    EXPECT_EQ(decode(encode(number))->as_int64(), number);
  }
  EXPECT_EQ(*decode(encode(std::uint64_t{UINT64_MAX}))->get_if<std::uint64_t>(), UINT64_MAX);
}

TEST(Msgpack, KeepsTheFormOfANumber) {
  EXPECT_NE(decode(encode(1.0))->get_if<double>(), nullptr);
  EXPECT_TRUE(std::signbit(*decode(encode(-0.0))->get_if<double>()));
}

}  // namespace
}  // namespace tafel::codec
