// Cuts off a peer that sends without end and never ends a message. libzmq keeps such a message out of sight until it is
// whole, and no option of its bounds it; but the kernel knows how many bytes of each connection were taken, and the
// socket which connections gave whole messages. Called by the thread that owns the socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

namespace tafel::net {

// Ends a connection that libzmq serves. libzmq sees the end of the stream and drops the peer; the peer is told at once,
// even while it waits for room to send more.
bool cut_connection(int descriptor);

class ByteWatch {
 public:
  // `bytes_max` must be above what one peer may have waiting in whole messages, or honest peers would be cut.
  explicit ByteWatch(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  void add_port(std::uint16_t port) { ports_.push_back(port); }  // a tcp port that the socket is bound to
  void delivered(int descriptor);                                // a whole message came out of this connection

  // Shuts down every connection that took more than `bytes_max` since its last whole message. To be called when the
  // socket has been read empty; looks once in `period`, or less often when there are very many. Returns how many were
  // cut.
  std::size_t check(std::chrono::steady_clock::time_point now);

  static constexpr std::chrono::milliseconds period{50};

 private:
  struct Connection {
    std::uint64_t deliveries = 0;  // of its descriptor, when last looked at
    std::uint64_t taken = 0;       // bytes, when it had last delivered
    std::uint64_t round = 0;       // of the look that saw it last
  };
  bool is_abusive(int descriptor, std::uint64_t cookie);
  bool is_ours(int descriptor) const;

  std::uint64_t bytes_max_;
  std::vector<std::uint16_t> ports_;
  std::vector<std::uint64_t> deliveries_;            // by descriptor
  std::map<std::uint64_t, Connection> connections_;  // by the kernel's cookie, which is never used twice
  std::uint64_t round_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace tafel::net
