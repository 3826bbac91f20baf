// What counts as news to a writer: SEMANTICS 5.2, 5.3 and 7.
#include "demo/schedule.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "tests/demo/schedule_fixture.hpp"

namespace tafel::demo {

bool operator==(const Word& a, const Word& b) {
  return a.path == b.path && a.act == b.act && a.value == b.value && a.confidence == b.confidence;
}
std::ostream& operator<<(std::ostream& out, const Word& word) {
  return out << word.path.text() << " " << static_cast<int>(word.act) << " " << brief(word.value) << " "
             << name_of(word.confidence);
}

namespace {

constexpr auto inferred = Confidence::inferred;
constexpr auto stated = Confidence::stated;
constexpr auto confirmed = Confidence::confirmed;

class News : public testing::Test {
 protected:
  News() {
    put_register(seen, "trip.price", {{300, dot_of(1, stated)}});
    put_register(seen, "trip.rating", {{"4.7分", dot_of(2, inferred)}, {4.7, dot_of(3, inferred)}});
    put_element(seen, "s", "a", dot_of(4, stated), 0);
    put_element(seen, "s", "b", dot_of(4, stated), 1);
  }
  std::vector<Word> news(const sdk::DeltaBuilder& delta) const { return news_of(delta.delta(), seen); }

  blackboard::Board seen;
  const std::vector<Word> none;
};

TEST_F(News, BlanksSayNothing) {
  EXPECT_EQ(news(on(4)
                     .confidence(stated)
                     .set("trip.price", "")
                     .set("trip", Map{{"price", Value()}, {"new", List{}}})
                     .add("s", {" "})),
            none);
}

TEST_F(News, RepeatingWhatWasSeenSaysNothing) {
  EXPECT_EQ(news(on(4).confidence(stated).set("trip.price", 300.0).set("trip", Map{{"price", 300}}).add("s", {"a"})),
            none);
}

TEST_F(News, AnotherValueIsNews) {
  EXPECT_EQ(news(on(4).confidence(inferred).set("trip", Map{{"price", 280}})),
            (std::vector{said("trip.price", 280, inferred)}));
}

TEST_F(News, ConfirmingByNameIsNewsButNotInAMap) {
  EXPECT_EQ(news(on(4).confidence(inferred).set("trip.price", 300).op_confidence(confirmed)),
            (std::vector{said("trip.price", 300, confirmed)}));
  EXPECT_EQ(news(on(4).confidence(confirmed).set("trip", Map{{"price", 300}})), none);
  EXPECT_EQ(news(on(4).confidence(confirmed).add("s", {"a"})), (std::vector{added("s", "a", confirmed)}));
}

TEST_F(News, ChoosingAmongConflictingValuesIsNewsButNotInAMap) {
  EXPECT_EQ(news(on(4).confidence(inferred).set("trip.rating", "4.7分")),
            (std::vector{said("trip.rating", "4.7分", inferred)}));
  EXPECT_EQ(news(on(4).confidence(inferred).set("trip", Map{{"rating", "4.7分"}})), none);
}

TEST_F(News, AFinalListIsItsDifferenceFromWhatWasSeen) {
  const std::vector expected{removed("s", "b"), added("s", "c")};
  EXPECT_EQ(news(on(4).confidence(stated).set("s", List{"a", "c"})), expected);
  EXPECT_EQ(news(on(4).confidence(stated).reset("s", {"a", "c"})), expected);
}

TEST_F(News, ARemovalOfWhatWasNotSeenSaysNothing) {
  EXPECT_EQ(news(on(4).confidence(stated).remove("s", {"z", "a"})), (std::vector{removed("s", "a")}));
}

TEST_F(News, IncrementsAndEntriesAreAlwaysNews) {
  const auto words = news(on(4).confidence(stated).incr("n", 2).append("log", "x"));
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0], (Word{path_of("n"), Word::Act::count, 2, stated}));
  EXPECT_EQ(words[1], (Word{path_of("log"), Word::Act::append, "x", stated}));
}

}  // namespace
}  // namespace tafel::demo
