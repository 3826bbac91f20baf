// All subscribers of a run, driven by one thread: reads what they are sent until every update has reached all of them.
#pragma once

#include "bench/load/histogram.hpp"
#include "bench/load/peer.hpp"
#include "bench/load/tracker.hpp"
#include "bench/load/window.hpp"

namespace tafel::bench {

class Subscribers {
 public:
  Subscribers(Peer& peer, Tracker& tracker, const Shared& shared) : peer_(peer), tracker_(tracker), shared_(shared) {}
  Result<void> run();

  std::uint64_t completed() const { return completed_; }  // in the window
  const Histogram& sub_ns() const { return sub_ns_; }
  std::int64_t cpu_us() const { return cpu_.used_us(); }

 private:
  Peer& peer_;
  Tracker& tracker_;
  const Shared& shared_;
  Histogram sub_ns_;
  ThreadCpu cpu_;
  std::uint64_t completed_ = 0;
};

}  // namespace tafel::bench
