// Percentiles of the histogram against those of the sorted times.
#include "bench/load/histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tafel::bench {
namespace {

TEST(Histogram, OfNothingIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.percentile(0.5), 0);
}

TEST(Histogram, IsExactBelow64Nanoseconds) {
  Histogram histogram;
  for (std::int64_t ns = 1; ns <= 60; ++ns) histogram.record(ns);
  EXPECT_EQ(histogram.percentile(0.5), 30);
  EXPECT_EQ(histogram.percentile(1), 60);
  EXPECT_EQ(histogram.percentile(0), 1);
}

TEST(Histogram, IsTooHighByAtMostASixtyFourth) {
  std::mt19937_64 dice(7);
  std::vector<std::int64_t> times;
  Histogram histogram;
  for (int i = 0; i < 20'000; ++i) {
    const auto ns = static_cast<std::int64_t>(dice() >> (24 + dice() % 32));  // of every size, up to 2^40
    times.push_back(ns);
    histogram.record(ns);
  }
  std::sort(times.begin(), times.end());
  for (const double part : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(part * 20'000)) - 1;
    const std::int64_t exact = times[rank];
    const std::int64_t told = histogram.percentile(part);
    EXPECT_GE(told, exact) << part;
    EXPECT_LE(static_cast<double>(told), static_cast<double>(exact) * (1 + 1.0 / 64) + 1) << part;
  }
}

TEST(Histogram, TakesWhatIsOutOfItsRange) {
  Histogram histogram;
  histogram.record(-5);
  histogram.record(Histogram::highest * 4);
  EXPECT_EQ(histogram.count(), 2U);
  EXPECT_EQ(histogram.percentile(0.5), 0);
  EXPECT_EQ(histogram.percentile(1), Histogram::highest);
}

}  // namespace
}  // namespace tafel::bench
