#include "broker/feed_queue.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "common/base/limits.hpp"

namespace tafel::broker {

void FeedQueue::push(const Events& events, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  events_.insert(events_.end(), events.begin(), events.end());
  ++batches_;
  bytes_ += bytes;
  if (batches_ > limits::feed_queue_batches_max || bytes_ > limits::feed_queue_bytes_max) keep_newest();
}

FeedQueue::Events FeedQueue::take() {
  const std::lock_guard lock(mutex_);
  batches_ = 0;
  bytes_ = 0;
  return std::exchange(events_, {});
}

std::uint64_t FeedQueue::overflows() const {
  const std::lock_guard lock(mutex_);
  return overflows_;
}

void FeedQueue::keep_newest() {
  ++overflows_;
  std::unordered_set<std::string_view> seen;
  Events newest;
  for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
    if (seen.insert((*event)->board).second) newest.push_back(*event);
  }
  std::reverse(newest.begin(), newest.end());
  events_ = std::move(newest);
  batches_ = 0;
  bytes_ = 0;
}

}  // namespace tafel::broker
