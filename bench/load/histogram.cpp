#include "bench/load/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tafel::bench {

// The first power has the buckets 0 to 63, of one nanosecond each; each further one has 64 of twice the width.
std::size_t Histogram::index_of(std::uint64_t ns) {
  if (ns < buckets) return ns;
  const int shift = static_cast<int>(std::bit_width(ns)) - 1 - bucket_bits;
  return (static_cast<std::size_t>(shift) + 1) * buckets + ((ns >> shift) - buckets);
}

std::int64_t Histogram::upper_end(std::size_t index) {
  if (index < buckets) return static_cast<std::int64_t>(index);
  const std::size_t shift = index / buckets - 1;
  return static_cast<std::int64_t>(((index % buckets + buckets + 1) << shift) - 1);
}

void Histogram::record(std::int64_t ns) {
  ++counts_[index_of(static_cast<std::uint64_t>(std::clamp<std::int64_t>(ns, 0, highest)))];
  ++count_;
}

std::int64_t Histogram::percentile(double part) const {
  if (count_ == 0) return 0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t index = 0; index < counts_.size(); ++index) {
    seen += counts_[index];
    if (seen > 0 && seen >= wanted) return upper_end(index);
  }
  return highest;
}

}  // namespace tafel::bench
