#include "broker/feed_cache.hpp"

#include "common/base/check.hpp"
#include "common/base/limits.hpp"
#include "common/codec/protocol.hpp"

namespace tafel::broker {

FeedPage make_page(const std::string& board, Version first, const std::vector<std::string_view>& events) {
  TAFEL_CHECK(!events.empty(), "a page holds an event");
  return {std::make_shared<const std::string>(codec::encode_events_message(board, events)), first,
          first + events.size() - 1};
}

std::vector<FeedPage> make_pages(const std::string& board, Version first, const std::vector<std::string_view>& events,
                                 std::size_t bytes_max) {
  std::vector<FeedPage> pages;
  std::vector<std::string_view> part;
  std::size_t bytes = 0;
  const auto close = [&] {
    pages.push_back(make_page(board, first, part));
    first += part.size();
    part.clear();
    bytes = 0;
  };
  for (const std::string_view event : events) {
    if (!part.empty() && bytes + event.size() > bytes_max) close();
    part.push_back(event);
    bytes += event.size();
  }
  if (!part.empty()) close();
  return pages;
}

void FeedTail::add(Version version, std::string encoded) {
  if (!events_.empty() && version <= last()) return;
  if (!events_.empty() && version != last() + 1) clear();
  if (events_.empty()) first_ = version;
  bytes_ += encoded.size();
  events_.push_back(std::move(encoded));
  while (events_.size() > limits::feed_tail_events_max || bytes_ > limits::feed_tail_bytes_max) drop_first();
}

void FeedTail::age() {
  while (!events_.empty() && first_ <= last_at_age_) drop_first();
  if (!events_.empty()) last_at_age_ = last();
}

void FeedTail::drop_first() {
  bytes_ -= events_.front().size();
  events_.pop_front();
  ++first_;
}

void FeedTail::clear() {
  events_.clear();
  bytes_ = 0;
}

std::vector<std::string_view> FeedTail::from(Version first, std::size_t bytes_max) const {
  TAFEL_CHECK(holds(first), "only what the tail holds is taken from it");
  std::vector<std::string_view> taken;
  std::size_t bytes = 0;
  for (std::size_t i = first - first_; i < events_.size(); ++i) {
    bytes += events_[i].size();
    if (!taken.empty() && bytes > bytes_max) break;
    taken.emplace_back(events_[i]);
  }
  return taken;
}

const FeedPage* FeedPages::find(const std::string& board, Version first) const {
  const auto found = pages_.find({board, first});
  return found == pages_.end() ? nullptr : &found->second;
}

void FeedPages::add(const std::string& board, const FeedPage& page) {
  const Key key{board, page.first};
  if (!pages_.emplace(key, page).second) return;
  order_.push_back(key);
  bytes_ += page.message->size();
  while (bytes_ > bytes_max_) {
    const auto oldest = pages_.find(order_.front());
    bytes_ -= oldest->second.message->size();
    pages_.erase(oldest);
    order_.pop_front();
  }
}

void FeedPages::forget(const std::string& board) {
  std::erase_if(order_, [&](const Key& key) { return key.first == board; });
  for (auto page = pages_.lower_bound({board, 0}); page != pages_.end() && page->first.first == board;) {
    bytes_ -= page->second.message->size();
    page = pages_.erase(page);
  }
}

}  // namespace tafel::broker
