// All agents of a run, driven by one thread: keeps `depth` updates of each on their way until the window ends, then
// waits for what is left.
#pragma once

#include <vector>

#include "bench/load/run.hpp"
#include "bench/load/tracker.hpp"
#include "bench/load/window.hpp"

namespace tafel::bench {

class Agents {
 public:
  Agents(Peer& peer, const Settings& settings, Tracker& tracker, const Shared& shared);
  Result<void> run();

  std::uint64_t acked() const { return acked_; }  // in the window
  const Histogram& ack_ns() const { return ack_ns_; }
  std::int64_t cpu_us() const { return cpu_.used_us(); }
  std::uint64_t submitted() const { return submitted_; }
  std::uint64_t receipts() const { return receipts_; }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t unchanged() const { return unchanged_; }

 private:
  // When the updates of one agent began, a ring in their order.
  struct Pending {
    std::vector<std::int64_t> began_ns;
    std::size_t first = 0;
    std::size_t count = 0;
  };
  void submit(std::size_t agent);
  void submit_again(const std::vector<Ack>& acks);
  void take(const Ack& ack, std::int64_t now);

  Peer& peer_;
  Tracker& tracker_;
  const Shared& shared_;
  Updates updates_;
  std::vector<Pending> pending_;
  std::vector<std::size_t> held_back_;  // agents with an update to be made when the tracker has room
  Histogram ack_ns_;
  ThreadCpu cpu_;
  std::uint64_t acked_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t receipts_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t unchanged_ = 0;
};

}  // namespace tafel::bench
