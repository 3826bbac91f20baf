// What agents write: the same from the same seed, of the sizes that the work names.
#include "bench/load/updates.hpp"

#include <gtest/gtest.h>

namespace tafel::bench {
namespace {

std::string words(const Update& update) {
  return fmt::format("{} +{} -{} {}={}", update.number, update.add, update.remove, update.field, update.value);
}

TEST(Updates, AreTheSameFromTheSameSeed) {
  Updates one(5, hot_elements);
  Updates two(5, hot_elements);
  Updates other(6, hot_elements);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const std::string made = words(one.next());
    EXPECT_EQ(made, words(two.next()));
    differs |= made != words(other.next());
  }
  EXPECT_TRUE(differs);
}

TEST(Updates, HaveTheSizesOfTheWork) {
  Updates updates(1, 1'000'000);
  std::set<std::string> fields;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Update update = updates.next();
    EXPECT_EQ(update.number, i);
    EXPECT_EQ(update.add.size(), 12U);
    EXPECT_EQ(update.remove.size(), 12U);
    EXPECT_NE(update.add, update.remove);
    EXPECT_EQ(update.value.size(), 16U);
    fields.emplace(update.field);
  }
  EXPECT_EQ(fields.size(), field_count);
  EXPECT_TRUE(fields.contains("field.07"));
}

TEST(Updates, DrawNamesFromAllElementsThatWereLoaded) {
  std::set<std::string> loaded;
  for (std::uint64_t i = 0; i < 50; ++i) loaded.insert(element_name(i));
  EXPECT_EQ(loaded.size(), 50U);
  std::set<std::string> drawn;
  Updates updates(3, 50);
  for (int i = 0; i < 2000; ++i) {
    const Update update = updates.next();
    drawn.emplace(update.add);
    drawn.emplace(update.remove);
  }
  EXPECT_EQ(drawn, loaded);
}

TEST(Updates, OfTwoElementsNeverAddWhatTheyRemove) {
  Updates updates(1, 0);
  for (int i = 0; i < 100; ++i) {
    const Update update = updates.next();
    EXPECT_NE(update.add, update.remove);
  }
}

}  // namespace
}  // namespace tafel::bench
