// Paths, board ids, names and patterns.
#include "common/model/names.hpp"

#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "common/model/rights.hpp"

namespace tafel {
namespace {

using Segments = std::vector<std::string>;

struct GoodPath {
  std::string_view text;
  Segments segments;
};

TEST(Path, ReadsItsSegments) {
  const std::vector<GoodPath> corpus{
      {"a", {"a"}},
      {"education.undergraduate.gpa", {"education", "undergraduate", "gpa"}},
      {R"(a\.b)", {"a.b"}},
      {R"(a\\.b)", {"a\\", "b"}},
      {R"(\\\.)", {"\\."}},
      {"a b.c/d", {"a b", "c/d"}},
      {"0.1", {"0", "1"}},
      {"__proto__.constructor", {"__proto__", "constructor"}},
      {"$run.state", {"$run", "state"}},
      {"\xC3\xA9.\xF0\x9F\x98\x80", {"\xC3\xA9", "\xF0\x9F\x98\x80"}},
      {"~0~1-*", {"~0~1-*"}},
      {" ", {" "}},
  };
  for (const GoodPath& example : corpus) {
    const auto path = Path::parse(example.text);
    ASSERT_TRUE(path) << example.text;
    EXPECT_EQ(path->segments(), example.segments) << example.text;
    EXPECT_EQ(path->text(), example.text);
    EXPECT_EQ(Path::from_segments(example.segments)->text(), path->text());
    EXPECT_EQ(Path::from_key(path->key()), *path);
    EXPECT_EQ(path->depth(), example.segments.size());
    EXPECT_EQ(path->first_segment(), example.segments.front());
  }
}

TEST(Path, RefusesWhatIsNoPath) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {""sv, "."sv, "a."sv, ".a"sv, "a..b"sv, "a\\"sv, "a\\b"sv, "a\tb"sv, "a\0b"sv,
                                      "\x7F"sv, "\xC2\x85"sv, "\xFF"sv, "\xED\xA0\x80"sv}) {
    const auto path = Path::parse(text);
    EXPECT_FALSE(path) << text;
    if (!path) {
      EXPECT_FALSE(path.error().message.empty());
    }
  }
}

TEST(Path, RefusesWhatIsTooLongOrTooDeep) {
  EXPECT_TRUE(Path::parse(std::string(limits::path_bytes_max, 'a')));
  EXPECT_FALSE(Path::parse(std::string(limits::path_bytes_max + 1, 'a')));
  std::string deep = "a";
  for (std::size_t i = 1; i < limits::path_segments_max; ++i) deep += ".a";
  EXPECT_TRUE(Path::parse(deep));
  EXPECT_FALSE(Path::parse(deep + ".a"));
  std::string very_deep;
  for (int i = 0; i < 10'000; ++i) very_deep += "a.";
  EXPECT_FALSE(Path::parse(very_deep + "a"));
}

TEST(Path, StandsBeforeAllThatIsBelowItAndThatBeforeTheRest) {
  const std::vector<std::string_view> ascending{"a", "a.b", "a.b.c", R"(a\.b)", "a-b", "a0", "b"};
  std::vector<Path> paths;
  for (const auto text : ascending) paths.push_back(*Path::parse(text));
  EXPECT_TRUE(paths[1].is_below(paths[0]));
  EXPECT_TRUE(paths[2].is_below(paths[0]));
  EXPECT_FALSE(paths[3].is_below(paths[0]));
  EXPECT_FALSE(paths[0].is_below(paths[0]));
  EXPECT_TRUE(paths[0].is_at_or_below(paths[0]));
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 3; j < paths.size(); ++j) EXPECT_LT(paths[i], paths[j]);
  }
}

TEST(Path, HasParentsAndChildren) {
  const Path path = *Path::parse(R"(a.b\.c)");
  EXPECT_EQ(path.parent(), Path::parse("a").value());
  EXPECT_EQ(path.parent()->parent(), std::nullopt);
  EXPECT_EQ(path.parent()->child("b.c"), path);
  EXPECT_TRUE(Path::parse("$run.x")->is_reserved());
  EXPECT_FALSE(Path::parse("a.$run")->is_reserved());
}

TEST(BoardId, HasOneToEightSegments) {
  EXPECT_FALSE(board_id_defect("acme"));
  EXPECT_FALSE(board_id_defect("acme/trips/42"));
  EXPECT_FALSE(board_id_defect("1/2/3/4/5/6/7/8"));
  for (const char* bad : {"", "/", "a/", "/a", "a//b", "1/2/3/4/5/6/7/8/9", "a\nb", "\xFF"})
    EXPECT_TRUE(board_id_defect(bad)) << bad;
  EXPECT_TRUE(board_id_defect(std::string(limits::board_id_bytes_max + 1, 'a')));
  EXPECT_EQ(tenant_of("acme/trips"), "acme");
  EXPECT_EQ(tenant_of("acme"), "acme");
}

TEST(Name, IsShortTextWithoutControlCharacters) {
  EXPECT_FALSE(name_defect("agent \xC3\xA9"));
  for (const char* bad : {"", "a\x01", "\xFF", "\xC2\x80"}) EXPECT_TRUE(name_defect(bad)) << bad;
  EXPECT_FALSE(name_defect(std::string(limits::name_bytes_max, 'n')));
  EXPECT_TRUE(name_defect(std::string(limits::name_bytes_max + 1, 'n')));
}

bool path_matches(std::string_view pattern, std::string_view path) {
  const auto parsed = Pattern::for_paths(pattern);
  EXPECT_TRUE(parsed) << pattern;
  return parsed && parsed->matches(Path::parse(path)->segments());
}

TEST(Pattern, MatchesSegmentsNotText) {
  EXPECT_TRUE(path_matches("budget.max", "budget.max"));
  EXPECT_FALSE(path_matches("budget", "budget.max"));
  EXPECT_FALSE(path_matches("budget.*", "budget"));
  EXPECT_TRUE(path_matches("budget.*", "budget.max"));
  EXPECT_FALSE(path_matches("budget.*", "budget.max.usd"));
  EXPECT_FALSE(path_matches("budget.*", "budgets.max"));
  EXPECT_TRUE(path_matches("budget.**", "budget"));
  EXPECT_TRUE(path_matches("budget.**", "budget.max.usd"));
  EXPECT_TRUE(path_matches("**", "a.b.c"));
  EXPECT_TRUE(path_matches("**.c", "a.b.c"));
  EXPECT_TRUE(path_matches("a.**.c", "a.c"));
  EXPECT_FALSE(path_matches("a.**.c", "a.c.d"));
  EXPECT_TRUE(path_matches("*.b.**.d.*", "a.b.d.x.d.e"));
  EXPECT_TRUE(path_matches(R"(a\.b)", R"(a\.b)"));
  EXPECT_FALSE(path_matches(R"(a\.b)", "a.b"));
  EXPECT_FALSE(Pattern::for_paths("pre*"));
}

TEST(Pattern, OfBoardsIsSplitAtSlashes) {
  EXPECT_TRUE(Pattern::for_boards("acme/**")->matches(board_segments("acme/trips/42")));
  EXPECT_FALSE(Pattern::for_boards("acme/*")->matches(board_segments("acme/trips/42")));
  EXPECT_TRUE(Pattern::for_boards("**")->matches_everything());
  EXPECT_FALSE(Pattern::for_boards("*")->matches_everything());
  EXPECT_FALSE(Pattern::for_boards(""));
  EXPECT_FALSE(Pattern::for_paths("a\\x"));
}

Grant grant(std::string_view paths, std::vector<Right> rights, Confidence cap = confidence_highest) {
  Grant made{*Pattern::for_boards("acme/**"), *Pattern::for_paths(paths), 0, cap};
  for (const Right right : rights) made.rights |= 1U << static_cast<unsigned>(right);
  return made;
}

TEST(Rights, AreTheHighestOfAllGrantsThatFit) {
  const Rights rights({grant("**", {Right::read}), grant("budget.**", {Right::set}, Confidence::inferred),
                       grant("budget.max", {Right::set}, Confidence::confirmed)});
  EXPECT_EQ(rights.cap(*Path::parse("budget.min"), Right::set), Confidence::inferred);
  EXPECT_EQ(rights.cap(*Path::parse("budget.max"), Right::set), Confidence::confirmed);
  EXPECT_EQ(rights.cap(*Path::parse("visa"), Right::set), std::nullopt);
  EXPECT_TRUE(rights.may_read_everything());
  EXPECT_TRUE(rights.may_read(*Path::parse("visa")));
}

TEST(Rights, WithoutGrantsAreNone) {
  const Rights none({});
  EXPECT_FALSE(none.may_read_anything());
  EXPECT_FALSE(none.may_read(*Path::parse("a")));
}

TEST(RoleTable, RestrictsNobodyUntilItHasARole) {
  RoleTable roles;
  EXPECT_TRUE(roles.rights_of("anyone", "acme/x").may_read_everything());
  EXPECT_TRUE(roles.is_open("acme/x"));
  roles.add_role("reader", {grant("a.**", {Right::read})});
  EXPECT_FALSE(roles.rights_of("anyone", "acme/x").may_read_anything());
  roles.add_actor("analyst", {"reader"});
  EXPECT_TRUE(roles.rights_of("analyst", "acme/x").may_read(*Path::parse("a.b")));
  EXPECT_FALSE(roles.rights_of("analyst", "other/x").may_read_anything());
  roles.add_actor("*", {"reader"});
  EXPECT_TRUE(roles.rights_of("booker", "acme/x").may_read_anything());
  EXPECT_FALSE(roles.is_open("acme/x"));
}

}  // namespace
}  // namespace tafel
