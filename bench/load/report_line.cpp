#include "bench/load/report_line.hpp"

#include <fmt/format.h>

namespace tafel::bench {
namespace {

double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

double per_update(std::int64_t cpu_us, const Outcome& outcome) {
  return outcome.acked == 0 ? 0 : static_cast<double>(cpu_us) / static_cast<double>(outcome.acked);
}

// In µs; null when nothing was measured, which is no time of 0.
std::string percentile(const Histogram& histogram, double part) {
  return histogram.count() == 0 ? "null" : fmt::format("{:.1f}", us(histogram.percentile(part)));
}

std::string measured_cpu(std::optional<std::int64_t> cpu_us, const Outcome& outcome) {
  return !cpu_us || outcome.acked == 0 ? "null" : fmt::format("{:.2f}", per_update(*cpu_us, outcome));
}

double per_second(std::uint64_t count, const Outcome& outcome) { return static_cast<double>(count) / outcome.seconds; }

}  // namespace

// Names of peers are our own and need no escaping.
std::string json_line(const std::string& peer, const Settings& settings, const Outcome& outcome) {
  const Shape& shape = settings.shape;
  const bool follows = shape.subscribers > 0;
  return fmt::format(
      "{{\"peer\": \"{}\", \"agents\": {}, \"depth\": {}, \"subs\": {}, \"boards\": {}, \"elements\": {}, "
      "\"spread\": {}, \"secs\": {}, \"warmup\": {}, \"seed\": {}, "
      "\"updates_per_s\": {:.1f}, \"delivered_per_s\": {}, \"ack_p50_us\": {}, \"ack_p99_us\": {}, "
      "\"sub_p50_us\": {}, \"sub_p99_us\": {}, \"server_cpu_us_per_delta\": {}, \"load_cpu_us_per_delta\": {}, "
      "\"other_cores\": {:.3f}, "
      "\"checks\": {{\"ok\": {}, \"submitted\": {}, \"receipts\": {}, \"refused\": {}, \"unchanged\": {}, "
      "\"versions\": {}, \"events\": {}, \"events_expected\": {}, \"gaps\": {}, \"strangers\": {}}}}}",
      peer, shape.agents, shape.depth, shape.subscribers, shape.boards, settings.elements, settings.is_spread,
      settings.seconds, settings.warmup_seconds, settings.seed, per_second(outcome.acked, outcome),
      follows ? fmt::format("{:.1f}", per_second(outcome.completed, outcome)) : "null", percentile(outcome.ack_ns, 0.5),
      percentile(outcome.ack_ns, 0.99), percentile(outcome.sub_ns, 0.5), percentile(outcome.sub_ns, 0.99),
      measured_cpu(outcome.server_cpu_us, outcome), measured_cpu(outcome.load_cpu_us, outcome), outcome.other_cores,
      outcome.is_right(shape), outcome.submitted, outcome.receipts, outcome.refused, outcome.unchanged,
      outcome.versions, outcome.events, outcome.events_expected(shape), outcome.gaps, outcome.strangers);
}

std::string plain_line(const std::string& peer, const Settings& settings, const Outcome& outcome) {
  const Shape& shape = settings.shape;
  std::string line = fmt::format("{} {}x{}, {} subscribers: {:.0f} updates/s, ack p50 {:.2f} p99 {:.2f} ms", peer,
                                 shape.agents, shape.depth, shape.subscribers, per_second(outcome.acked, outcome),
                                 us(outcome.ack_ns.percentile(0.5)) / 1e3, us(outcome.ack_ns.percentile(0.99)) / 1e3);
  if (shape.subscribers > 0) {
    line += fmt::format(", last subscriber p50 {:.2f} p99 {:.2f} ms", us(outcome.sub_ns.percentile(0.5)) / 1e3,
                        us(outcome.sub_ns.percentile(0.99)) / 1e3);
  }
  line += fmt::format(", load {:.1f} CPU µs an update", per_update(outcome.load_cpu_us, outcome));
  if (outcome.server_cpu_us) line += fmt::format(", server {:.1f}", per_update(*outcome.server_cpu_us, outcome));
  return line + fmt::format("; {} receipts, {} versions, {} events of {}, {} gaps, {} refused: {}", outcome.receipts,
                            outcome.versions, outcome.events, outcome.events_expected(shape), outcome.gaps,
                            outcome.refused, outcome.is_right(shape) ? "right" : "WRONG");
}

}  // namespace tafel::bench
