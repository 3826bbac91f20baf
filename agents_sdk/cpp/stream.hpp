// The versions of one board, in order, on a connection of their own, into one watcher's queue. It is read only while
// the queue has room: the server then feeds from the log later, so a watcher of any slowness misses nothing and costs
// no memory. Used by Agent::follow, and for watchers of a joined board that were left behind, until they have reached
// the mirror. Belongs to the link's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents_sdk/cpp/board_feed.hpp"
#include "agents_sdk/cpp/channel.hpp"

namespace tafel::sdk {

struct StreamOptions {
  std::uint64_t number = 0;  // of the watch
  std::string board;
  Version from = 0;
  std::vector<std::string> paths;
  std::string epoch;  // of the versions counted so far; empty: whatever the server has
  std::shared_ptr<WatchQueue> queue;
  std::shared_ptr<BoardFeed> home;  // the joined board that the watcher belongs to; null for Agent::follow
  std::function<void(Result<void>)>
      started;  // called once, when the server took or refused the first subscription; may be null
};

class Stream {
 public:
  Stream(std::unique_ptr<Channel> channel, StreamOptions options);

  void tick(const std::string& endpoint, std::int64_t now);
  std::int64_t next(std::int64_t now) const;
  // Nothing more to do: the watcher is with its mirror again, or the watch has ended.
  bool finished() const { return finished_; }
  void close(const Failure& failure) { started(tl::unexpected<Failure>(failure)); }
  // To be polled; null while it is not read.
  net::Dealer* dealer() { return paused_ ? nullptr : channel_->dealer(); }
  std::uint64_t number() const { return options_.number; }
  const BoardFeed* home() const { return options_.home.get(); }

 private:
  void finish() { finished_ = true; }
  void receive(std::int64_t now);
  void subscribe(std::int64_t now);
  void handle(const Channel::Received& received, std::int64_t now);
  void take(std::vector<codec::FeedEvent> events, std::size_t bytes, std::int64_t now);
  void subscribed(const std::string& epoch, std::int64_t now);
  void refused(const codec::Message& message, std::int64_t now);
  void begin_at(Version version, std::int64_t now);
  void subscribe_anew(std::int64_t now);
  void tell_lost();
  void tell_deleted();
  void started(Result<void> result);

  std::unique_ptr<Channel> channel_;
  StreamOptions options_;
  Version position_;
  std::uint64_t generation_ = 0;
  std::uint64_t ask_ = 0;
  std::int64_t asked_at_ = 0;
  bool confirmed_ = false;
  bool live_ = false;
  bool paused_ = false;
  bool finished_ = false;
  std::int64_t not_before_ = 0;
  std::int64_t wait_ms_ = 0;
};

}  // namespace tafel::sdk
