// Times of many events in little room, after the fashion of HdrHistogram: each power of two is cut into 64 equal
// buckets, so that a percentile is too high by at most 1/64 of itself. Below 64 ns it is exact.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tafel::bench {

class Histogram {
 public:
  void record(std::int64_t ns);  // below 0 counts as 0; above `highest` as that

  std::uint64_t count() const { return count_; }
  // The time that `part` (0 to 1) of all events did not exceed: the upper end of its bucket. 0 when nothing was
  // recorded.
  std::int64_t percentile(double part) const;

  static constexpr std::int64_t highest = (std::int64_t{1} << 40) - 1;  // 18 minutes

 private:
  static constexpr int bucket_bits = 6;
  static constexpr std::size_t buckets = std::size_t{1} << bucket_bits;

  static std::size_t index_of(std::uint64_t ns);
  static std::int64_t upper_end(std::size_t index);

  std::array<std::uint64_t, (40 - bucket_bits + 1) * buckets> counts_{};
  std::uint64_t count_ = 0;
};

}  // namespace tafel::bench
