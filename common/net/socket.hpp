// cppzmq behind our result type: the only place that knows ZeroMQ. Socket options for servers and clients are set here,
// in one place, after what was measured for libzmq 4.3.4 (docs/operations.md gives the reasons). A socket belongs to
// one thread; only Waker may be called from others. Nothing here throws or aborts the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace tafel::net {

class Context {  // one per process; shared by server and clients when embedded
 public:
  Context();
  ~Context();
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

enum class Sent : std::uint8_t { sent, full, gone };

// A message from a ROUTER: who sent it, and its one payload frame.
struct Received {
  std::string peer;
  std::string bytes;
};

struct RouterOptions {
  std::size_t message_bytes_max = 64 * 1024;
  int receive_queue = 64;
  int send_queue = 256;
};

// Server side: ROUTER, mandatory, never blocking. Messages that are not exactly [peer, payload] are read whole and
// dropped (counted).
class Router {
 public:
  static Result<std::unique_ptr<Router>> bind(Context& context, const std::vector<std::string>& endpoints,
                                              const RouterOptions& options);
  ~Router();
  std::vector<std::string> endpoints() const;  // as really bound
  std::optional<Received> receive();           // does not wait
  Sent send(std::string_view peer, std::string_view bytes);
  std::uint64_t dropped() const;
  struct Impl;
  Impl& impl() { return *impl_; }
  explicit Router(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

// Server side: XPUB with plain topics; what subscribers send is drained by `drain`.
class Publisher {
 public:
  static Result<std::unique_ptr<Publisher>> bind(Context& context, const std::string& endpoint);
  ~Publisher();
  std::string endpoint() const;
  void publish(std::string_view topic, std::string_view bytes);  // drops for slow subscribers, never waits
  void drain();
  struct Impl;
  Impl& impl() { return *impl_; }
  explicit Publisher(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

// Client side: DEALER that reconnects by itself, no ZMTP heartbeats (they abort the process), nothing queued for a dead
// link.
class Dealer {
 public:
  // `receive_queue`: messages kept for a reader that pauses (0: the library's default, for one that always reads).
  static Result<std::unique_ptr<Dealer>> connect(Context& context, const std::string& endpoint,
                                                 std::size_t message_bytes_max, int receive_queue = 0);
  ~Dealer();
  bool send(std::string_view bytes);     // false: cannot now
  std::optional<std::string> receive();  // does not wait
  struct Impl;
  Impl& impl() { return *impl_; }
  explicit Dealer(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

// Wakes a poller from any thread (an eventfd, no ZeroMQ).
class Waker {
 public:
  Waker();
  ~Waker();
  void wake() noexcept;
  void clear() noexcept;  // by the polling thread
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Waits until one of the sockets has input or the waker was called, or the time is over. Pointers may be null.
class Poller {
 public:
  Poller& add(Router* router);
  Poller& add(Publisher* publisher);
  Poller& add(Dealer* dealer);
  Poller& add(Waker* waker);
  void wait(std::chrono::milliseconds timeout);

 private:
  std::vector<void*> sockets_;
  std::vector<int> descriptors_;
};

}  // namespace tafel::net
