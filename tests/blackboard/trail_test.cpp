#include "blackboard/trail.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace tafel::blackboard {
namespace {

// The changes of one cell at random versions, with the pointers that the log would keep.
struct LoggedTrail {
  Trail trail;
  std::map<Version, Trail::Pointers> log;

  LoggedTrail(std::uint64_t seed, int changes) {
    std::mt19937_64 random(seed);
    Version version = 0;
    for (int i = 0; i < changes; ++i) {
      version += 1 + random() % 5;
      log[version] = trail.push(version);
    }
  }

  // The newest change at or below `version`, found by the pointers alone; counts the events that had to be read.
  Version find(Version version, int& reads) const {
    Version at = trail.newest() <= version ? trail.newest() : trail.start_for(version);
    for (reads = 0; at > version; ++reads) {
      const Trail::Pointers& pointers = log.at(at);
      at = pointers.jump >= version && pointers.jump > 0 ? pointers.jump : pointers.previous;
    }
    return at;
  }

  Version find_naively(Version version) const {
    const auto after = log.upper_bound(version);
    return after == log.begin() ? 0 : std::prev(after)->first;
  }
};

int log2_of(std::size_t count) {
  int log = 0;
  for (; count > 1; count /= 2) ++log;
  return log;
}

TEST(Trail, FindsEveryVersionAsANaiveSearchDoes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LoggedTrail logged(seed, static_cast<int>(seed * 37));
    for (Version version = 0; version <= logged.trail.newest() + 2; ++version) {
      int reads = 0;
      ASSERT_EQ(logged.find(version, reads), logged.find_naively(version))
          << "seed " << seed << ", version " << version;
    }
  }
}

TEST(Trail, ReadsLogarithmicallyManyEvents) {
  const LoggedTrail logged(1, 20'000);
  int most = 0;
  for (Version version = 1; version <= logged.trail.newest(); version += 7) {
    int reads = 0;
    logged.find(version, reads);
    most = std::max(most, reads);
  }
  EXPECT_LE(most, 2 * log2_of(20'000));
}

TEST(Trail, KeepsLogarithmicallyManySteps) {
  Trail trail;
  for (Version version = 1; version <= 5000; ++version) {
    trail.push(version);
    ASSERT_LE(static_cast<int>(trail.steps().size()), log2_of(version) + 2) << "after " << version << " changes";
  }
}

TEST(Trail, NewestStepsComeFirstAndOnlyTheFirstTwoMayBeOfOneHeight) {
  Trail trail;
  for (Version version = 1; version <= 1000; ++version) {
    trail.push(version);
    const auto& steps = trail.steps();
    for (std::size_t i = 1; i < steps.size(); ++i) {
      ASSERT_GT(steps[i - 1].version, steps[i].version);
      ASSERT_TRUE(steps[i - 1].height < steps[i].height || (i == 1 && steps[0].height == steps[1].height)) << version;
    }
  }
}

TEST(Trail, TheFirstChangeLeadsNowhere) {
  Trail trail;
  const auto pointers = trail.push(7);
  EXPECT_EQ(pointers.previous, 0U);
  EXPECT_EQ(pointers.jump, 0U);
  EXPECT_EQ(trail.newest(), 7U);
}

TEST(Trail, AnEmptyTrailHasNoStart) {
  EXPECT_EQ(Trail().newest(), 0U);
  EXPECT_EQ(Trail().start_for(1), 0U);
}

TEST(Trail, GoesOnFromItsStoredSteps) {
  Trail whole;
  Trail stored;
  for (Version version = 1; version <= 300; ++version) {
    const auto expected = whole.push(version);
    Trail reopened(stored.steps());
    const auto pointers = reopened.push(version);
    ASSERT_EQ(pointers.previous, expected.previous);
    ASSERT_EQ(pointers.jump, expected.jump);
    stored = reopened;
  }
}

TEST(TrailDeathTest, RefusesToGoBack) {
  Trail trail;
  trail.push(5);
  EXPECT_DEATH(trail.push(5), "a trail grows by newer versions only");
}

}  // namespace
}  // namespace tafel::blackboard
