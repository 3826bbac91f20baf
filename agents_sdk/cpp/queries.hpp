// Questions to the query endpoint that wait for their answers. A question may be asked twice without harm, so all that
// are open are sent again after a reconnect. Belongs to the link's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "agents_sdk/cpp/channel.hpp"

namespace tafel::sdk {

class Queries {
 public:
  // Called on the link's thread, once.
  using Done = std::function<void(Result<Value>)>;
  static constexpr std::int64_t no_deadline = std::numeric_limits<std::int64_t>::max();

  // The answer's body, or Fault::refused with the server's words; Fault::unreachable after the deadline.
  void ask(Channel& channel, Value body, std::int64_t deadline, Done done);
  void handle(const codec::Message& message, std::int64_t now);  // `answer` or `error`
  // Sends what waits, ends what is late.
  void tick(Channel& channel, std::int64_t now);
  std::int64_t next(std::int64_t now) const;
  void close(const Failure& failure);

  bool awaits_answer() const { return !open_.empty(); }
  std::size_t size() const { return open_.size(); }

 private:
  struct Open {
    std::string bytes;
    std::int64_t deadline = 0;
    std::int64_t sent_at = 0;
    std::int64_t not_before = 0;  // the server was busy
    std::int64_t wait_ms = 0;
    bool sent = false;
    Done done;
  };

  void end(std::map<std::uint64_t, Open>::iterator at, Result<Value> result);

  std::map<std::uint64_t, Open> open_;  // by message id: in the order of asking
  std::uint64_t generation_ = 0;
};

}  // namespace tafel::sdk
