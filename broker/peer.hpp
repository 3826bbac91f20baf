// Seam: transport. The services take messages in and give messages out; sockets are bound to them by the threads of
// server.cpp, and simulations bind them to queues.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tafel::broker {

// One connection, named by the transport (for ROUTER sockets: the routing id). Never an identity of its own.
using PeerId = std::string;

struct Inbound {
  PeerId peer;
  std::string bytes;  // one message frame; a multipart message of any other shape is dropped by the transport
};

struct Outbound {
  PeerId peer;
  std::string bytes;
};

enum class SendResult : std::uint8_t {
  sent,
  full,  // the peer takes nothing more now: try later
  gone,  // the peer is not connected any more
};
using Send = std::function<SendResult(const PeerId& peer, std::string_view bytes)>;

}  // namespace tafel::broker
