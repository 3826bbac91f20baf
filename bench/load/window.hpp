// The part of a run that is measured, and what the threads of a run tell each other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "bench/load/cpu_time.hpp"

namespace tafel::bench {

inline constexpr std::chrono::milliseconds poll_wait{20};

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t given_up_ns = 0;  // what is on its way must have arrived by then
  bool holds(std::int64_t ns) const { return ns >= begin_ns && ns < end_ns; }
  bool is_overdue(std::int64_t ns) const { return ns > given_up_ns; }
};

struct Shared {
  Window window;
  std::atomic<bool> stops{false};          // a thread has failed
  std::atomic<std::int64_t> expected{-1};  // updates that must reach every subscriber; -1: not known yet
};

// Processor time of the calling thread between the ends of the window. To be told the time again and again.
class ThreadCpu {
 public:
  void look(const Window& window, std::int64_t ns) {
    if (begin_us_ < 0 && ns >= window.begin_ns) begin_us_ = thread_cpu_us();
    if (used_us_ < 0 && ns >= window.end_ns) used_us_ = thread_cpu_us() - begin_us_;
  }
  std::int64_t used_us() const { return used_us_ < 0 ? 0 : used_us_; }

 private:
  std::int64_t begin_us_ = -1;
  std::int64_t used_us_ = -1;
};

}  // namespace tafel::bench
