// The three threads of the server, each owning its socket: commit (request endpoint), query, feed. They share the store
// (made for it), the feed queue and the counters; nothing else.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "broker/feed_queue.hpp"
#include "broker/feed_service.hpp"
#include "broker/open_feed.hpp"
#include "broker/peer_sender.hpp"
#include "broker/query_service.hpp"
#include "broker/request_service.hpp"
#include "common/base/clock.hpp"
#include "common/net/socket.hpp"

namespace tafel::broker {

// What `stat` tells of the other threads.
class Counters {
 public:
  void set(const RequestService::Stats& stats, std::uint64_t frames_dropped, std::uint64_t answers_dropped);
  void set(const FeedService::Stats& stats, std::uint64_t overflows);
  Value to_value() const;

 private:
  mutable std::mutex mutex_;  // guards copies of a few numbers, written once a turn and read when somebody asks
  RequestService::Stats requests_;
  std::uint64_t frames_dropped_ = 0;
  std::uint64_t answers_dropped_ = 0;
  FeedService::Stats feed_;
  std::uint64_t feed_overflows_ = 0;
};

// One thread's loop: waits for input, takes a turn, until it is asked to stop; then `finish`. A loop is made and
// destroyed while no thread runs it.
class Loop {
 public:
  Loop(Clock& clock, std::unique_ptr<net::Router> router);
  virtual ~Loop() = default;

  void run();
  void ask_to_stop() noexcept;  // from any thread
  void wake() noexcept { waker_.wake(); }

 protected:
  static constexpr std::int64_t idle_wait_ms =
      50;  // an idle socket is looked at so often, for its watch over endless messages
  static constexpr std::int64_t retry_wait_ms = 10;  // while a peer takes nothing

  // Handles what is there; gives back how long to wait for more, at the most.
  virtual std::int64_t turn() = 0;
  virtual void finish() {}
  virtual net::Publisher* publisher() { return nullptr; }

  // What is waiting now, as much as one batch may hold.
  std::vector<Inbound> receive();

  Clock& clock_;
  std::unique_ptr<net::Router> router_;
  PeerSender sender_;

 private:
  net::Waker waker_;
  std::atomic<bool> stop_{false};
};

class CommitLoop final : public Loop {
 public:
  using OnFatal = std::function<void(const Failure&)>;  // called on the loop's thread; the loop ends after it

  CommitLoop(Clock& clock, std::unique_ptr<net::Router> router, RequestService service, FeedQueue& queue,
             std::function<void()> wake_feed, Counters& counters, OnFatal on_fatal);

 private:
  std::int64_t turn() override;
  void finish() override;                                   // commits and answers what is waiting
  bool commit_waiting();                                    // false: nothing was waiting, or the store failed
  bool tidy();                                              // true: there is more to do at once
  bool take(RequestService::Turn turn, std::size_t bytes);  // sends and publishes; false: the store failed

  RequestService service_;
  FeedQueue& queue_;
  std::function<void()> wake_feed_;
  Counters& counters_;
  OnFatal on_fatal_;
  bool failed_ = false;
  std::int64_t next_tidy_ms_ = 0;
};

class QueryLoop final : public Loop {
 public:
  QueryLoop(Clock& clock, std::unique_ptr<net::Router> router, QueryService service);

 private:
  std::int64_t turn() override;

  QueryService service_;
};

class FeedLoop final : public Loop {
 public:
  // `open` may be null.
  FeedLoop(Clock& clock, std::unique_ptr<net::Router> router, std::unique_ptr<net::Publisher> open, FeedService service,
           FeedQueue& queue, Counters& counters, std::int64_t heartbeat_ms);

 private:
  std::int64_t turn() override;
  void finish() override;  // the last events go out
  net::Publisher* publisher() override { return open_.get(); }
  void publish();
  void heartbeat();

  std::unique_ptr<net::Publisher> open_;
  std::optional<OpenFeed> open_feed_;
  FeedService service_;
  FeedQueue& queue_;
  Counters& counters_;
  std::int64_t heartbeat_ms_;
  std::int64_t next_heartbeat_ms_ = 0;
  Send send_;
};

}  // namespace tafel::broker
