// A client of the protocol for tests: one connection, messages in and out, waiting for conditions up to a patience that
// only a broken server uses up. And a raw TCP peer that may send what it likes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/codec/protocol.hpp"
#include "common/net/socket.hpp"

namespace tafel::testing {

inline constexpr std::chrono::seconds patience{60};

// Until `condition` holds or the patience is over; false then. `pause` lets other threads work between two looks.
bool eventually(const std::function<bool()>& condition);

class WireClient {
 public:
  WireClient(net::Context& context, const std::string& endpoint);

  // Says hello and gives back the welcome.
  codec::Welcome greet(const std::string& actor);
  void send(std::string_view type, std::uint64_t id, Value body);
  bool try_send(std::string_view bytes) { return dealer_->send(bytes); }
  // The next message; nullopt when none comes in time.
  std::optional<codec::Message> receive(std::chrono::milliseconds wait = patience);
  // The next message of this type; others are left out.
  std::optional<codec::Message> receive(std::string_view type);
  // Submits one delta and waits for its receipt.
  std::optional<Receipt> submit(const Value& delta);

 private:
  std::unique_ptr<net::Dealer> dealer_;
  std::uint64_t next_id_ = 100;
};

// Speaks TCP to 127.0.0.1 and nothing else.
class RawPeer {
 public:
  explicit RawPeer(const std::string& tcp_endpoint);
  ~RawPeer();
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  // False when the other side has closed. Waits while the other side takes nothing, up to the patience.
  bool send(std::string_view bytes);
  // True when the other side closes in time.
  bool is_cut(std::chrono::milliseconds wait = patience);
  // The greeting and handshake of ZMTP 3.0 with the NULL mechanism. False when it was refused.
  bool shake_hands(const std::string& socket_type = "DEALER");

 private:
  int descriptor_ = -1;
};

std::string zmtp_greeting();
// One ZMTP frame with its header.
std::string zmtp_frame(std::string_view body, bool more);

std::size_t resident_bytes();

}  // namespace tafel::testing
