#include "bench/load/tracker.hpp"

#include <bit>

namespace tafel::bench {

Tracker::Tracker(const Shape& shape, std::size_t capacity)
    : subscribers_(shape.subscribers),
      boards_(shape.boards),
      slots_(shape.subscribers == 0 ? 1 : std::bit_ceil(capacity)),
      last_versions_(shape.subscribers * shape.boards) {}

// Half of the slots only: updates on several boards, or of several agents, do not complete in their order.
bool Tracker::has_room(std::uint64_t number) const {
  if (subscribers_ == 0) return true;
  const std::uint64_t done = completed_.load(std::memory_order_acquire) + unseen_.load(std::memory_order_relaxed);
  return number - done < slots_.size() / 2;
}

void Tracker::began(std::uint64_t number, std::int64_t now_ns) {
  if (subscribers_ == 0) return;
  Slot& slot = slots_[number & (slots_.size() - 1)];
  slot.began_ns.store(now_ns, std::memory_order_relaxed);
  slot.awaited.store(static_cast<std::uint32_t>(subscribers_), std::memory_order_release);
}

std::optional<std::int64_t> Tracker::arrived(const Delivery& delivery, std::int64_t now_ns) {
  ++arrivals_;
  std::uint64_t& last = last_versions_[delivery.subscriber * boards_ + delivery.board];
  if (delivery.version != 0) {
    if (last != 0 && delivery.version != last + 1) ++gaps_;
    last = delivery.version;
  }
  Slot& slot = slots_[delivery.number & (slots_.size() - 1)];
  const std::uint32_t awaited = slot.awaited.load(std::memory_order_acquire);
  if (awaited == 0) {
    ++strangers_;
    return std::nullopt;
  }
  slot.awaited.store(awaited - 1, std::memory_order_relaxed);
  if (awaited > 1) return std::nullopt;
  const std::int64_t began_ns = slot.began_ns.load(std::memory_order_relaxed);
  completed_.fetch_add(1, std::memory_order_release);
  return now_ns - began_ns;
}

}  // namespace tafel::bench
