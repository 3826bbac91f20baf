// The link between an agent and the server: one thread that owns all connections of the agent (requests, queries, feed,
// and one more for each stream), the outbox and the duties of the mirrors. It reconnects for ever. All methods may be
// called from any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agents_sdk/cpp/outbox.hpp"
#include "agents_sdk/cpp/stream.hpp"

namespace tafel::net {
class Waker;
}

namespace tafel::sdk {

struct LinkOptions {
  std::string server;
  std::string actor;
  milliseconds connect_timeout{5000};
  std::size_t outbox_deltas_max = 0;
  std::shared_ptr<net::Context> context;
};

class Link {
 public:
  // Returns when the server has welcomed the agent. Fault::unreachable, refused, or what is wrong with the endpoint.
  static Result<std::shared_ptr<Link>> start(LinkOptions options);
  ~Link();

  // Ends the thread; everything that has no answer gets Fault::closed.
  void close();

  // Keeps the order of calls. Fault::busy when the outbox is full, Fault::closed.
  Result<void> submit(Outbox::Entry entry);
  Result<Value> query(const Value& body, milliseconds timeout);
  void join(std::shared_ptr<BoardFeed> board);
  void leave(std::shared_ptr<BoardFeed> board);
  // Waits until the server took or refused the subscription.
  Result<void> follow(StreamOptions options, milliseconds timeout);
  void unfollow(std::uint64_t number);
  // To be called when a watcher's queue has room again. Usable after the link has ended.
  std::function<void()> waker() const;

  std::string epoch() const;
  std::size_t delta_bytes_max() const;  // what one delta may take, encoded
  std::size_t outbox_size() const;
  bool connected() const;

 private:
  class Loop;
  struct Shared;

  Link(std::shared_ptr<Shared> shared, std::size_t outbox_deltas_max)
      : shared_(std::move(shared)), outbox_deltas_max_(outbox_deltas_max) {}
  bool post(std::function<void(Loop&)> command);
  Result<void> wait_for_welcome(const LinkOptions& options);

  const std::shared_ptr<Shared> shared_;
  const std::size_t outbox_deltas_max_;
  std::mutex close_mutex_;  // guards `thread_` against two threads that both wait for its end
  std::thread thread_;
};

}  // namespace tafel::sdk
