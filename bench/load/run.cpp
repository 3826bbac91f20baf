#include "bench/load/run.hpp"

#include <algorithm>
#include <thread>

#include "bench/load/agents.hpp"
#include "bench/load/cpu_time.hpp"
#include "bench/load/subscribers.hpp"
#include "bench/load/tracker.hpp"
#include "bench/load/window.hpp"

namespace tafel::bench {
namespace {

constexpr std::size_t tracked_max = std::size_t{1} << 22;

// What was used until now: by this process, by the machine, by the server.
struct CpuTimes {
  std::int64_t taken_ns = now_ns();
  std::int64_t own_us = own_cpu_us();
  std::int64_t machine_us = machine_cpu_us();
  std::optional<std::int64_t> server_us;

  explicit CpuTimes(const Settings& settings) {
    if (settings.server) server_us = process_cpu_us(*settings.server);
  }
};

void sleep_until(std::int64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns - now_ns())); }

Window window_of(const Settings& settings) {
  const auto ns = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9); };
  const std::int64_t begin = now_ns() + ns(settings.warmup_seconds);
  const std::int64_t end = begin + ns(settings.seconds);
  return {begin, end, end + ns(settings.drain_seconds)};
}

// `load_us`: of the two threads that drive the load.
void settle_cpu(const Settings& settings, const CpuTimes& begin, const CpuTimes& end, std::int64_t load_us,
                Outcome& outcome) {
  const std::int64_t own_us = end.own_us - begin.own_us;
  outcome.load_cpu_us = settings.is_embedded ? load_us : own_us;
  if (settings.is_embedded) outcome.server_cpu_us = own_us - load_us;
  if (begin.server_us && end.server_us) outcome.server_cpu_us = *end.server_us - *begin.server_us;
  const std::int64_t known_us = outcome.load_cpu_us + outcome.server_cpu_us.value_or(0);
  const double wall_us = static_cast<double>(end.taken_ns - begin.taken_ns) / 1e3;
  const std::int64_t others_us = std::max<std::int64_t>(end.machine_us - begin.machine_us - known_us, 0);
  outcome.other_cores = static_cast<double>(others_us) / wall_us;
}

}  // namespace

bool Outcome::is_right(const Shape& shape) const {
  return receipts > 0 && receipts == submitted && refused == 0 && versions == receipts - unchanged &&
         events == events_expected(shape) && gaps == 0 && strangers == 0;
}

Result<Outcome> run_load(Peer& peer, const Settings& settings) {
  if (auto prepared = peer.prepare(settings.shape, settings.elements); !prepared) {
    return tl::unexpected(prepared.error());
  }
  if (auto started = peer.start_subscribers(settings.shape.subscribers); !started) {
    return tl::unexpected(started.error());
  }
  if (auto started = peer.start_agents(settings.shape.agents); !started) return tl::unexpected(started.error());

  Tracker tracker(settings.shape, tracked_max);
  Shared shared;
  shared.window = window_of(settings);
  Agents agents(peer, settings, tracker, shared);
  Subscribers subscribers(peer, tracker, shared);
  Result<void> sent;
  Result<void> seen;
  std::jthread agents_thread([&] {
    sent = agents.run();
    if (!sent) shared.stops = true;
    shared.expected = static_cast<std::int64_t>(agents.receipts() - agents.unchanged());
  });
  std::jthread subscribers_thread([&] {
    if (settings.shape.subscribers > 0) seen = subscribers.run();
    if (!seen) shared.stops = true;
  });
  sleep_until(shared.window.begin_ns);
  const CpuTimes begin(settings);
  sleep_until(shared.window.end_ns);
  const CpuTimes end(settings);
  agents_thread.join();
  subscribers_thread.join();
  if (!seen) return tl::unexpected(seen.error());
  if (!sent) return tl::unexpected(sent.error());
  const auto versions = peer.versions();
  if (!versions) return tl::unexpected(versions.error());

  Outcome outcome;
  outcome.seconds = settings.seconds;
  outcome.acked = agents.acked();
  outcome.completed = subscribers.completed();
  outcome.ack_ns = agents.ack_ns();
  outcome.sub_ns = subscribers.sub_ns();
  settle_cpu(settings, begin, end, agents.cpu_us() + subscribers.cpu_us(), outcome);
  outcome.submitted = agents.submitted();
  outcome.receipts = agents.receipts();
  outcome.refused = agents.refused();
  outcome.unchanged = agents.unchanged();
  outcome.versions = *versions;
  outcome.events = tracker.arrivals();
  outcome.gaps = tracker.gaps();
  outcome.strangers = tracker.strangers();
  return outcome;
}

}  // namespace tafel::bench
