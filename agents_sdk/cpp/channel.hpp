// One connection to one socket of the server: the DEALER, its hello, its pings, and a new connection when the old one
// is worth nothing. Whoever uses it compares `generation` to see that the server greeted us anew and has forgotten what
// was asked before. Belongs to the link's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agents_sdk/cpp/liveness.hpp"
#include "common/base/result.hpp"
#include "common/codec/protocol.hpp"

namespace tafel::net {
class Context;
class Dealer;
}  // namespace tafel::net

namespace tafel::sdk {

class Channel {
 public:
  // `receive_queue`: as in net::Dealer::connect.
  Channel(std::shared_ptr<net::Context> context, codec::Hello hello, int receive_queue = 0);
  ~Channel();

  // Where to connect; another endpoint than before ends the old connection.
  void aim(const std::string& endpoint);
  // Connects, greets and pings when it is time for it.
  void tick(std::int64_t now);
  std::int64_t next(std::int64_t now) const;

  // False: cannot now, try again later.
  bool send(std::string_view bytes, std::int64_t now);
  // The next message that is not about the connection itself, with its size.
  struct Received {
    codec::Message message;
    std::size_t bytes = 0;
  };
  std::optional<Received> receive(std::int64_t now);

  bool open() const { return liveness_.open(); }
  std::uint64_t generation() const { return generation_; }  // counts welcomes
  const codec::Welcome& welcome() const { return welcome_; }
  std::uint64_t new_id() { return ++last_id_; }  // of a message on this channel
  // Why the server did not welcome us the last time; nullopt while it has not answered.
  const std::optional<Failure>& refusal() const { return refusal_; }
  bool refused_for_good() const { return refusal_ && !refusal_may_pass_; }
  Liveness& liveness() { return liveness_; }
  net::Dealer* dealer() { return dealer_.get(); }
  // Asks at once whether the server still knows us.
  void probe(std::int64_t now);

 private:
  void connect(std::int64_t now);
  void greet(std::int64_t now);
  void ping(std::int64_t now);
  bool is_own(const codec::Message& message, std::int64_t now);
  void take_welcome(const codec::Message& message, std::int64_t now);
  void refuse(Failure failure, bool may_pass);

  std::shared_ptr<net::Context> context_;
  codec::Hello hello_;
  int receive_queue_;
  std::string endpoint_;
  std::unique_ptr<net::Dealer> dealer_;
  Liveness liveness_;
  codec::Welcome welcome_;
  std::uint64_t generation_ = 0;
  std::uint64_t last_id_ = 0;
  std::uint64_t hello_id_ = 0;
  std::optional<Failure> refusal_;
  bool refusal_may_pass_ = true;
};

}  // namespace tafel::sdk
