// One run of the load: all agents on one thread, all subscribers on another, a warm-up, a window that is measured, and
// then everything on its way is waited for, so that it can be checked that nothing was lost.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "bench/load/histogram.hpp"
#include "bench/load/peer.hpp"

namespace tafel::bench {

struct Settings {
  Shape shape;
  std::uint64_t elements = 1000;  // in the set of each board before the run
  bool is_spread = false;         // names are drawn from all of them instead of `hot_elements`
  double seconds = 5;
  double warmup_seconds = 1;
  double drain_seconds = 60;  // after the window; a slow peer with 2,048 updates on their way needs a few
  std::uint64_t seed = 1;
  std::optional<pid_t> server;  // its processor time is measured, with that of its children
  bool is_embedded = false;     // the server is in this process: its time is what the two threads did not use
};

struct Outcome {
  // In the window.
  double seconds = 0;
  std::uint64_t acked = 0;
  std::uint64_t completed = 0;  // reached the last subscriber
  Histogram ack_ns;
  Histogram sub_ns;
  std::optional<std::int64_t> server_cpu_us;
  std::int64_t load_cpu_us = 0;
  double other_cores = 0;  // busy with neither the server nor the load; includes the kernel's own threads

  // Of the whole run, warm-up and end included.
  std::uint64_t submitted = 0;
  std::uint64_t receipts = 0;
  std::uint64_t refused = 0;
  std::uint64_t unchanged = 0;  // receipts that made no version
  std::uint64_t versions = 0;   // as the server counts
  std::uint64_t events = 0;     // deliveries to all subscribers
  std::uint64_t gaps = 0;
  std::uint64_t strangers = 0;

  std::uint64_t events_expected(const Shape& shape) const { return (receipts - unchanged) * shape.subscribers; }
  // receipts = versions = events delivered to all subscribers, no gaps, no errors.
  bool is_right(const Shape& shape) const;
};

// The peer is prepared, started and driven. A failure: the run could not be done, or did not end in time.
Result<Outcome> run_load(Peer& peer, const Settings& settings);

}  // namespace tafel::bench
