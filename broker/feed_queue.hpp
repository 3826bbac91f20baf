// Committed events on their way from the commit thread to the feed thread. When the feed falls far behind, all but the
// newest event of each board are dropped: who follows a board sees the gap and is fed from the log.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/model/event.hpp"

namespace tafel::broker {

class FeedQueue {
 public:
  using Events = std::vector<std::shared_ptr<const Event>>;

  // `bytes`: the size of the messages that the events came from. Never waits for the taker.
  void push(const Events& events, std::size_t bytes);
  // Everything, in the order of commit.
  Events take();
  std::uint64_t overflows() const;

 private:
  void keep_newest();

  mutable std::mutex mutex_;  // guards all members; it is held for a few moves only, and the order of the hand-over is
                              // the order of commit
  Events events_;
  std::size_t batches_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t overflows_ = 0;
};

}  // namespace tafel::broker
