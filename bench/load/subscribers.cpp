#include "bench/load/subscribers.hpp"

#include <fmt/format.h>

namespace tafel::bench {

Result<void> Subscribers::run() {
  std::vector<Delivery> deliveries;
  while (!shared_.stops) {
    deliveries.clear();
    if (auto polled = peer_.poll_deliveries(poll_wait, deliveries); !polled) return polled;
    const std::int64_t now = now_ns();
    cpu_.look(shared_.window, now);
    const bool is_inside = shared_.window.holds(now);
    for (const Delivery& delivery : deliveries) {
      const auto took = tracker_.arrived(delivery, now);
      if (!took || !is_inside) continue;
      ++completed_;
      sub_ns_.record(*took);
    }
    const std::int64_t expected = shared_.expected;
    if (expected >= 0 && tracker_.completed() >= static_cast<std::uint64_t>(expected)) return {};
    if (shared_.window.is_overdue(now)) {
      return fail(Fault::unreachable,
                  fmt::format("only {} of {} updates have reached every subscriber", tracker_.completed(), expected));
    }
  }
  return {};
}

}  // namespace tafel::bench
