// The open feed: a PUB/SUB socket that any ZeroMQ language can follow with a plain SUB. It carries only boards that
// everybody may read, since it knows no subscribers. Used by the feed thread.
//
//   topic (24 bytes) = first 8 bytes of SHA-256(tenant) ‖ first 16 bytes of SHA-256(board id); the second frame is an
//   `events` or `heartbeat` message as on the feed socket. Subscribers of 8 bytes follow a tenant. Nothing is repeated:
//   who sees a gap in the versions, or a head above its own in a heartbeat, reads the log from the query endpoint.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/model/event.hpp"
#include "common/net/socket.hpp"

namespace tafel::broker {

std::string open_feed_topic(std::string_view board);

class OpenFeed {
 public:
  // Whether everybody may see all of a board.
  using IsOpen = std::function<bool(const std::string& board)>;

  explicit OpenFeed(net::Publisher& publisher) : publisher_(publisher) {}  // which outlives it

  void publish(const std::vector<std::shared_ptr<const Event>>& events, const IsOpen& is_open);
  // For each board that changed lately.
  void heartbeat();

 private:
  struct Recent {
    Version version = 0;
    unsigned beats_left = 0;
  };
  void remember(const Event& event);

  net::Publisher& publisher_;
  std::map<std::string, Recent> recent_;
};

}  // namespace tafel::broker
