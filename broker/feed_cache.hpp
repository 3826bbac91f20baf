// Encoded parts of the feed that are likely to be sent again. Leaving something out of a cache costs time, never
// correctness: events do not change.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/delta.hpp"

namespace tafel::broker {

// One `events` message: the versions first .. last of a board, without a gap.
struct FeedPage {
  std::shared_ptr<const std::string> message;
  Version first = 0;
  Version last = 0;

  std::uint64_t events() const { return last - first + 1; }
};

// The page of `events` (at least one), the first of which is of version `first`.
FeedPage make_page(const std::string& board, Version first, const std::vector<std::string_view>& events);
// Pages of at most `bytes_max` of events each (or one event that is larger).
std::vector<FeedPage> make_pages(const std::string& board, Version first, const std::vector<std::string_view>& events,
                                 std::size_t bytes_max);

// The newest whole events of one board, encoded: what a follower needs that was full for a moment.
class FeedTail {
 public:
  // A version that does not follow the last one begins a new tail.
  void add(Version version, std::string encoded);
  // Called at each heartbeat: drops what was there at the call before.
  void age();
  void clear();
  bool empty() const { return events_.empty(); }
  bool holds(Version version) const {
    return !events_.empty() && version >= first_ && version - first_ < events_.size();
  }
  Version last() const { return first_ + events_.size() - 1; }
  // Events from `first` on (which it holds), at most `bytes_max` of them (at least one). Views end with the next
  // change.
  std::vector<std::string_view> from(Version first, std::size_t bytes_max) const;
  std::size_t bytes() const { return bytes_; }

 private:
  void drop_first();

  Version first_ = 0;
  Version last_at_age_ = 0;
  std::deque<std::string> events_;
  std::size_t bytes_ = 0;
};

// Pages read from the log that others who catch up will ask for too; the oldest go first.
class FeedPages {
 public:
  explicit FeedPages(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  const FeedPage* find(const std::string& board, Version first) const;
  void add(const std::string& board, const FeedPage& page);
  void forget(const std::string& board);
  std::size_t bytes() const { return bytes_; }

 private:
  using Key = std::pair<std::string, Version>;

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::map<Key, FeedPage> pages_;
  std::deque<Key> order_;
};

}  // namespace tafel::broker
