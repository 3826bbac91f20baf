// One connection to NATS that speaks its text protocol itself, without waiting: PUB, SUB and MSG are all that is
// needed, and the client library would hand every message from thread to thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bench/load/stream.hpp"
#include "bench/peers/peers.hpp"
#include "common/base/result.hpp"

namespace tafel::bench {

struct NatsMessage {
  std::string_view subject;
  std::string_view reply;
  std::string_view payload;
};

class NatsConnection {
 public:
  static Result<std::unique_ptr<NatsConnection>> connect(const PeerAddress& address);

  int descriptor() const { return stream_.descriptor(); }

  void subscribe(std::string_view subject);
  void publish(std::string_view subject, std::string_view reply, std::string_view payload);
  Result<void> flush();  // what there is room for
  bool has_unsent() const { return stream_.has_unsent(); }

  Result<void> read();                // what has come
  std::optional<NatsMessage> next();  // valid until the next `read`
  // Publishes, and waits for the one message that answers.
  Result<std::string> ask(std::string_view subject, std::string_view payload);
  // Waits until the server has done all that was sent to it.
  Result<void> settle();

 private:
  explicit NatsConnection(int descriptor) : stream_(descriptor) {}
  Result<void> wait();
  std::optional<std::string_view> next_line() const;  // without taking it

  Stream stream_;
  bool is_settled_ = false;  // a PONG has come
  bool has_inbox_ = false;   // of `ask`
};

}  // namespace tafel::bench
