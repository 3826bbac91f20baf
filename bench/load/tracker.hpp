// Follows each update from the moment it is made to its last subscriber. The agents' thread writes down when an update
// began; the subscribers' thread counts its arrivals.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/load/peer.hpp"

namespace tafel::bench {

class Tracker {
 public:
  // At most `capacity` updates may be between their beginning and their last subscriber.
  Tracker(const Shape& shape, std::size_t capacity);

  // --- on the thread of the agents

  bool has_room(std::uint64_t number) const;
  void began(std::uint64_t number, std::int64_t now_ns);
  void makes_no_version() { unseen_.fetch_add(1, std::memory_order_relaxed); }

  // --- on the thread of the subscribers

  // The time since it began, when this was the last of its arrivals.
  std::optional<std::int64_t> arrived(const Delivery& delivery, std::int64_t now_ns);

  std::uint64_t arrivals() const { return arrivals_; }
  std::uint64_t gaps() const { return gaps_; }            // versions that did not follow the one before
  std::uint64_t strangers() const { return strangers_; }  // changes of nobody's update, or one too many
  std::uint64_t completed() const { return completed_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    std::atomic<std::int64_t> began_ns{0};
    std::atomic<std::uint32_t> awaited{0};  // arrivals to come
  };

  const std::size_t subscribers_;
  const std::size_t boards_;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> last_versions_;  // by subscriber and board
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint64_t> unseen_{0};
  std::uint64_t arrivals_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t strangers_ = 0;
};

}  // namespace tafel::bench
