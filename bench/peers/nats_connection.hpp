// One connection to NATS that speaks its text protocol itself, without waiting: PUB, SUB and MSG are all that is
// needed, and the client library would hand every message from thread to thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

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
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  int descriptor() const { return descriptor_; }

  void subscribe(std::string_view subject);
  void publish(std::string_view subject, std::string_view reply, std::string_view payload);
  Result<void> flush();  // what there is room for
  bool has_unsent() const { return sent_ < out_.size(); }

  Result<void> read();                // what has come
  std::optional<NatsMessage> next();  // valid until the next `read`
  // Publishes, and waits for the one message that answers.
  Result<std::string> ask(std::string_view subject, std::string_view payload);
  // Waits until the server has done all that was sent to it.
  Result<void> settle();

 private:
  explicit NatsConnection(int descriptor) : descriptor_(descriptor) {}
  Result<void> wait();
  std::optional<std::string_view> next_line();

  int descriptor_;
  std::string in_;
  std::size_t taken_ = 0;
  std::string out_;
  std::size_t sent_ = 0;
  bool is_settled_ = false;  // a PONG has come
  bool has_inbox_ = false;   // of `ask`
};

}  // namespace tafel::bench
