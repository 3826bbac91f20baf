#include <gtest/gtest.h>

#include <set>

#include "common/base/bytes.hpp"
#include "common/base/hash.hpp"
#include "common/base/nfc.hpp"
#include "common/base/pack.hpp"
#include "common/base/random.hpp"
#include "common/base/regex.hpp"
#include "common/base/result.hpp"
#include "common/base/spelling.hpp"
#include "common/base/text.hpp"

namespace tafel {
namespace {

TEST(Utf8, AcceptsEveryLengthOfCodePoint) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
  EXPECT_TRUE(is_utf8("\xC2\x80 \xE0\xA0\x80 \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF"));
}

TEST(Utf8, RefusesWhatDecodersDisagreeAbout) {
  EXPECT_FALSE(is_utf8("\x80"));              // a follower alone
  EXPECT_FALSE(is_utf8("\xC3"));              // cut off
  EXPECT_FALSE(is_utf8("\xC0\xAF"));          // overlong "/"
  EXPECT_FALSE(is_utf8("\xE0\x80\xAF"));      // overlong
  EXPECT_FALSE(is_utf8("\xED\xA0\x80"));      // a surrogate
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_FALSE(is_utf8("\xFF"));
}

TEST(Text, FindsControlCharactersOfBothBlocks) {
  EXPECT_TRUE(has_control_character("a\tb"));
  EXPECT_TRUE(has_control_character(std::string_view("\0", 1)));
  EXPECT_TRUE(has_control_character("\x7F"));
  EXPECT_TRUE(has_control_character("\xC2\x9F"));
  EXPECT_FALSE(has_control_character("a b"));
  EXPECT_FALSE(has_control_character("\xC2\xA0\xF0\x9F\x98\x80"));
}

TEST(Text, KnowsTheWhiteSpaceOfUnicode) {
  EXPECT_TRUE(is_white_space(""));
  EXPECT_TRUE(is_white_space(" \t\r\n\xC2\xA0\xE2\x80\x83\xE3\x80\x80"));
  EXPECT_FALSE(is_white_space(" x "));
  EXPECT_FALSE(is_white_space("\xE2\x80\x8B"));  // U+200B zero width space is no White_Space
}

TEST(Text, WritesHexInLowerCase) { EXPECT_EQ(to_hex(std::string_view("\x00\xAF\xFF", 3)), "00afff"); }

TEST(Base64, GoesBothWays) {
  const std::pair<std::string_view, std::string_view> examples[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xFF\xFE\xFD", "//79"}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), std::string(bytes));
  }
}

TEST(Base64, RefusesWhatHasASecondSpelling) {
  EXPECT_FALSE(from_base64("Zg"));    // no padding
  EXPECT_FALSE(from_base64("Zh=="));  // stray bits
  EXPECT_FALSE(from_base64("Z==="));
  EXPECT_FALSE(from_base64("===="));
  EXPECT_FALSE(from_base64("Zg==Zg=="));
  EXPECT_FALSE(from_base64("Zm9-"));
  EXPECT_FALSE(from_base64("Zm 9"));
}

TEST(Hash, Sha256OfTheStandardExamples) {
  EXPECT_EQ(to_hex(as_view(sha256(""))), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(as_view(sha256("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_from_bytes(as_view(sha256("abc"))), sha256("abc"));
}

TEST(Hash, ChecksumFindsOneFlippedBit) { EXPECT_NE(checksum64("tafel"), checksum64("tagel")); }

TEST(Sum, AddsAndSubtractsModulo2To128) {
  Sum128 sum{UINT64_MAX, UINT64_MAX};
  const Sum128 one{0, 1};
  sum += one;
  EXPECT_EQ(sum, Sum128{});
  sum -= one;
  EXPECT_EQ(sum, (Sum128{UINT64_MAX, UINT64_MAX}));
}

TEST(Sum, DoesNotDependOnTheOrderOfItsParts) {
  const Sum128 parts[] = {sum_of("a"), sum_of("b"), sum_of("c")};
  Sum128 forth;
  for (const Sum128& part : parts) forth += part;
  Sum128 back = parts[2];
  back += parts[1];
  back += parts[0];
  EXPECT_EQ(forth, back);
  back -= parts[1];
  back -= parts[2];
  EXPECT_EQ(back, parts[0]);
}

TEST(Sum, GoesThroughSixteenBytes) { EXPECT_EQ(sum_from_bytes(to_bytes(sum_of("x"))), sum_of("x")); }

TEST(BigEndian, SortsAsNumbersDo) {
  std::string small;
  std::string large;
  put_be64(small, 255);
  put_be64(large, 256);
  EXPECT_LT(small, large);
  EXPECT_EQ(get_be64(large), 256U);
  std::string four;
  put_be32(four, 0xDEADBEEF);
  EXPECT_EQ(get_be32(four), 0xDEADBEEFU);
}

template <class Write>
std::string packed(Write write) {
  std::string bytes;
  PackWriter out(bytes);
  write(out);
  return to_hex(bytes);
}

std::string integer(std::int64_t value) {
  return packed([&](PackWriter& out) { out.integer(value); });
}

TEST(Pack, WritesIntegersInTheirShortestForm) {
  EXPECT_EQ(integer(0), "00");
  EXPECT_EQ(integer(127), "7f");
  EXPECT_EQ(integer(128), "cc80");
  EXPECT_EQ(integer(255), "ccff");
  EXPECT_EQ(integer(256), "cd0100");
  EXPECT_EQ(integer(65535), "cdffff");
  EXPECT_EQ(integer(65536), "ce00010000");
  EXPECT_EQ(integer(4294967295), "ceffffffff");
  EXPECT_EQ(integer(4294967296), "cf0000000100000000");
  EXPECT_EQ(integer(INT64_MAX), "cf7fffffffffffffff");
  EXPECT_EQ(integer(-1), "ff");
  EXPECT_EQ(integer(-32), "e0");
  EXPECT_EQ(integer(-33), "d0df");
  EXPECT_EQ(integer(-128), "d080");
  EXPECT_EQ(integer(-129), "d1ff7f");
  EXPECT_EQ(integer(-32769), "d2ffff7fff");
  EXPECT_EQ(integer(-2147483649), "d3ffffffff7fffffff");
  EXPECT_EQ(integer(INT64_MIN), "d38000000000000000");
  EXPECT_EQ(packed([](PackWriter& out) { out.unsigned_integer(UINT64_MAX); }), "cfffffffffffffffff");
}

TEST(Text, TrimsTheWhiteSpaceOfEveryScriptAtBothEnds) {
  EXPECT_EQ(trimmed("  a b\t"), "a b");
  EXPECT_EQ(trimmed("　上海 "), "上海");
  EXPECT_EQ(trimmed("   "), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("x"), "x");
}

TEST(Text, CountsCodePoints) {
  EXPECT_EQ(count_code_points("上海a"), 3U);
  EXPECT_EQ(count_code_points("😀"), 1U);
  EXPECT_EQ(count_code_points(""), 0U);
}

TEST(Nfc, ComposesLettersAndKeepsTheRest) {
  EXPECT_EQ(to_nfc("é"), "é");
  EXPECT_EQ(to_nfc("plain"), "plain");
  EXPECT_EQ(to_nfc("上海"), "上海");
  EXPECT_EQ(to_nfc(std::string_view("a\0\xC3\xA9", 4)), std::string_view("a\0\xC3\xA9", 4));
  EXPECT_EQ(to_nfc("한"), "한");
}

TEST(Regex, FindsAndSaysWhatIsWrong) {
  const auto regex = Regex::compile("^[上-海]+$");
  ASSERT_TRUE(regex) << regex.error().message;
  EXPECT_TRUE(regex->is_found_in("上海"));
  EXPECT_FALSE(regex->is_found_in("上海x"));
  EXPECT_TRUE(Regex::compile("b")->is_found_in("abc"));
  EXPECT_FALSE(Regex::compile("(a"));
  EXPECT_FALSE(Regex::compile("a{99999}"));
}

TEST(Regex, TakesNoTimeWhateverTheExpressionIs) {
  const auto regex = Regex::compile("(a*)*(a*)*(a*)*b");
  ASSERT_TRUE(regex);
  EXPECT_FALSE(regex->is_found_in(std::string(30'000, 'a')));
}

TEST(Spelling, NamesTheClosest) {
  const std::vector<std::string> known{"profile.gpa", "profile.major", "required", "x.gpa"};
  EXPECT_EQ(close_names("profile.gap", known, 3), (std::vector<std::string>{"profile.gpa"}));
  EXPECT_EQ(close_names("gpa", known, 3), (std::vector<std::string>{"x.gpa", "profile.gpa"}));
  EXPECT_EQ(close_names("requird", known, 1), (std::vector<std::string>{"required"}));
  EXPECT_TRUE(close_names("something else", known, 3).empty());
}

TEST(Pack, WritesHeadersByTheSizeThatFits) {
  const auto text_header = [](std::size_t size) {
    return packed([&](PackWriter& out) { out.text(std::string(size, 'x')); }).substr(0, 6);
  };
  EXPECT_EQ(text_header(0), "a0");
  EXPECT_EQ(text_header(31).substr(0, 2), "bf");
  EXPECT_EQ(text_header(32).substr(0, 4), "d920");
  EXPECT_EQ(text_header(256), "da0100");
  EXPECT_EQ(text_header(65536), "db0001");
  EXPECT_EQ(packed([](PackWriter& out) { out.binary(""); }), "c400");
  EXPECT_EQ(packed([](PackWriter& out) { out.array(15); }), "9f");
  EXPECT_EQ(packed([](PackWriter& out) { out.array(16); }), "dc0010");
  EXPECT_EQ(packed([](PackWriter& out) { out.map(65536); }), "df00010000");
}

TEST(Pack, WritesTheOtherTypes) {
  EXPECT_EQ(packed([](PackWriter& out) { out.nil(); }), "c0");
  EXPECT_EQ(packed([](PackWriter& out) { out.boolean(true); }), "c3");
  EXPECT_EQ(packed([](PackWriter& out) { out.boolean(false); }), "c2");
  EXPECT_EQ(packed([](PackWriter& out) { out.number(1.0); }), "cb3ff0000000000000");
  EXPECT_EQ(packed([](PackWriter& out) { out.raw("\xC0"); }), "c0");
}

TEST(Random, RepeatsFromASeed) {
  SeededRandom one(7);
  SeededRandom two(7);
  SeededRandom other(8);
  const std::string bytes = one.bytes(40);
  EXPECT_EQ(bytes, two.bytes(40));
  EXPECT_NE(bytes, other.bytes(40));
}

TEST(Random, IdsAreSortedByTimeAndUnique) {
  SystemRandom random;
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.insert(new_id(1'700'000'000'000, random));
  EXPECT_EQ(ids.size(), 100U);
  EXPECT_LT(*ids.rbegin(), new_id(1'700'000'000'001, random));
  EXPECT_EQ(ids.begin()->size(), 26U);
}

TEST(Failure, HasANameForEachFault) {
  std::set<std::string> names;
  for (int fault = 0; fault <= static_cast<int>(Fault::deleted); ++fault)
    names.insert(fault_name(static_cast<Fault>(fault)));
  EXPECT_EQ(names.size(), 11U);
  const Result<int> failed = fail(Fault::full, "no room");
  EXPECT_EQ(failed.error().message, "no room");
}

}  // namespace
}  // namespace tafel
