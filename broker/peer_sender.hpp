// Sends to the peers of one ROUTER. An answer for a peer whose queue is full waits here and goes first when there is
// room; what a service sends of its own accord (events) is told `full` meanwhile, so nothing overtakes. Used by the
// thread that owns the socket.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "broker/peer.hpp"
#include "common/net/socket.hpp"

namespace tafel::broker {

class PeerSender {
 public:
  explicit PeerSender(net::Router& router) : router_(router) {}

  // Sent or kept. Where too much waits it is dropped: a client that reads nothing asks again, under the same ids.
  // Tells whether the peer is still there.
  bool answer(const Outbound& outbound);
  SendResult offer(const PeerId& peer, std::string_view bytes);
  void retry();

  bool has_waiting() const { return !waiting_.empty(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  SendResult send(const PeerId& peer, std::string_view bytes);

  net::Router& router_;
  std::map<PeerId, std::deque<std::string>> waiting_;  // no empty queues
  std::size_t waiting_bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace tafel::broker
