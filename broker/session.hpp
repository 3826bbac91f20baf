// Who is on a connection. Without identities (loopback and ipc only) the actor is claimed in the hello; it is bound to
// the connection then, and no later message can change or forge it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "broker/peer.hpp"
#include "common/codec/protocol.hpp"

namespace tafel::broker {

struct Session {
  std::string actor;
  std::int64_t last_seen_ms = 0;  // steady time
};

class Sessions {
 public:
  explicit Sessions(codec::Welcome welcome) : welcome_(std::move(welcome)) {}

  // Answers a hello: welcome, or an error (protocol not spoken, bad actor name, another actor than before, too many
  // sessions).
  codec::Message greet(const PeerId& peer, const codec::Message& hello, std::int64_t steady_ms);
  // The session of a peer, touched; null before its hello.
  const Session* find(const PeerId& peer, std::int64_t steady_ms);
  void forget(const PeerId& peer) { sessions_.erase(peer); }
  // Drops sessions that were silent for `idle_ms`; returns how many.
  std::size_t drop_idle(std::int64_t steady_ms, std::int64_t idle_ms);
  std::size_t size() const { return sessions_.size(); }

 private:
  codec::Welcome welcome_;
  std::map<PeerId, Session> sessions_;
};

}  // namespace tafel::broker
