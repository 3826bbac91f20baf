#include "common/model/cell.hpp"

#include <gtest/gtest.h>

#include "tests/common/cells.hpp"

namespace tafel {
namespace {

using test::dot;
using test::path;

TEST(ElementId, IsEqualExactlyForEqualValues) {
  EXPECT_EQ(element_id(1), element_id(1.0));
  EXPECT_EQ(element_id(Map{{"a", 1}, {"b", -0.0}}), element_id(Map{{"b", 0}, {"a", 1.0}}));
  EXPECT_NE(element_id("1"), element_id(1));
  EXPECT_NE(element_id(Bytes{"a"}), element_id("a"));
}

TEST(ElementId, HasAtMost33Bytes) {
  EXPECT_EQ(element_id(std::string(31, 'x')).size(), 32U);
  EXPECT_EQ(element_id(std::string(32, 'x')).size(), 33U);
  EXPECT_EQ(element_id(std::string(1000, 'x')).size(), 33U);
  EXPECT_NE(element_id(std::string(1000, 'x')), element_id(std::string(1000, 'y')));
}

TEST(Mark, HasATextAndAnIdThatSorts) {
  const Mark mark{258, 7};
  EXPECT_EQ(mark_text(mark), "258.7");
  EXPECT_EQ(mark_from_text("258.7"), mark);
  EXPECT_EQ(mark_from_id(mark_id(mark)), mark);
  EXPECT_LT(mark_id({255, 9}), mark_id({256, 0}));
  for (const char* bad :
       {"", "1", "1.", ".1", "01.0", "1.00", "1.0 ", "-1.0", "1.4294967296", "18446744073709551616.0", "1.0.0"}) {
    EXPECT_FALSE(mark_from_text(bad)) << bad;
  }
}

TEST(CellKey, SortsByPathThenPartThenId) {
  EXPECT_LT(leaf_key(path("a")), element_key(path("a"), 1));
  EXPECT_LT(element_key(path("a"), 1), suggestion_key(path("a"), {1, 0}));
  EXPECT_LT(suggestion_key(path("a"), {9, 9}), leaf_key(path("a.b")));
  EXPECT_LT(entry_key(path("a"), {1, 1}), entry_key(path("a"), {2, 0}));
}

TEST(Digest, IsTheSameForEqualCells) {
  const RegisterCell integer{{{1, dot(3, 0, Confidence::stated)}}};
  const RegisterCell number{{{1.0, dot(3, 0, Confidence::stated)}}};
  EXPECT_EQ(digest_of(leaf_key(path("a")), integer), digest_of(leaf_key(path("a")), number));
}

TEST(Digest, DiffersInEveryPartOfACell) {
  const auto digest = [](const char* at, Value value, const Dot& d) {
    return digest_of(leaf_key(path(at)), RegisterCell{{{std::move(value), d}}});
  };
  const Dot base = dot(3, 0, Confidence::stated);
  const Sum128 sum = digest("a", 1, base);
  EXPECT_NE(sum, digest("b", 1, base));
  EXPECT_NE(sum, digest("a", 2, base));
  EXPECT_NE(sum, digest("a", 1, dot(4, 0, Confidence::stated)));
  EXPECT_NE(sum, digest("a", 1, dot(3, 1, Confidence::stated)));
  EXPECT_NE(sum, digest("a", 1, dot(3, 0, Confidence::guess)));
  Dot other = base;
  other.expires = 5;
  EXPECT_NE(sum, digest("a", 1, other));
  other = base;
  other.source = std::make_shared<const Source>(Source{"turn", "", {}, ""});
  EXPECT_NE(sum, digest("a", 1, other));
}

TEST(Digest, DiffersByKindAndPart) {
  const Dot d = dot(1, 0, Confidence::stated);
  EXPECT_NE(digest_of(leaf_key(path("a")), ExtremumCell{true, 1, d}),
            digest_of(leaf_key(path("a")), ExtremumCell{false, 1, d}));
  EXPECT_NE(digest_of(leaf_key(path("a")), CounterCell{1, d}), digest_of(leaf_key(path("a")), RegisterCell{{{1, d}}}));
}

TEST(Expiry, RemovesTheDotsThatAreDue) {
  Dot brief_dot = dot(3, 0, Confidence::stated);
  brief_dot.expires = 100;
  const RegisterCell both{{{1, dot(2, 0, Confidence::stated)}, {2, brief_dot}}};
  EXPECT_TRUE(may_expire(both));
  EXPECT_EQ(std::get<RegisterCell>(*without_expired(both, 99)).siblings.size(), 2U);
  EXPECT_EQ(std::get<RegisterCell>(*without_expired(both, 100)).siblings.size(), 1U);
  EXPECT_FALSE(without_expired(EntryCell{1, brief_dot}, 100));
  EXPECT_FALSE(without_expired(ElementCell{1, {}, 0, {brief_dot}}, 100));
  EXPECT_TRUE(without_expired(CounterCell{1, dot(1, 0, Confidence::stated)}, 100));
}

TEST(Register, ShowsWhoseWriterHadSeenMost) {
  Dot late = dot(9, 0, Confidence::stated);
  late.base = 1;
  RegisterCell cell{{{"first", dot(5, 0, Confidence::stated)}, {"second", late}}};
  EXPECT_EQ(shown_sibling(cell).value, Value("first"));
  cell.siblings[1].dot.base = 4;
  EXPECT_EQ(shown_sibling(cell).value, Value("second"));
}

TEST(Kind, FollowsFromTheCell) {
  std::vector<std::optional<Kind>> kinds;
  for (const Change& change : test::sample_changes()) {
    if (change.image) kinds.push_back(kind_of(*change.image));
  }
  const std::vector<std::optional<Kind>> expected{Kind::register_, Kind::counter, Kind::max, Kind::min,
                                                  Kind::set,       Kind::set,     Kind::log, std::nullopt,
                                                  std::nullopt,    std::nullopt};
  EXPECT_EQ(kinds, expected);
}

TEST(Names, GoBothWays) {
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(confidence_from(name_of(static_cast<Confidence>(i))), static_cast<Confidence>(i));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(kind_from(name_of(static_cast<Kind>(i))), static_cast<Kind>(i));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(verb_from(name_of(static_cast<Verb>(i))), static_cast<Verb>(i));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(outcome_from(name_of(static_cast<Outcome>(i))), static_cast<Outcome>(i));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(reason_from(name_of(static_cast<Reason>(i))), static_cast<Reason>(i));
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(error_code_from(name_of(static_cast<ErrorCode>(i))), static_cast<ErrorCode>(i));
  EXPECT_FALSE(confidence_from("Stated"));
}

}  // namespace
}  // namespace tafel
