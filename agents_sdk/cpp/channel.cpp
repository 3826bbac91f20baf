#include "agents_sdk/cpp/channel.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "common/codec/receipt_codec.hpp"
#include "common/net/socket.hpp"

namespace tafel::sdk {
Channel::Channel(std::shared_ptr<net::Context> context, codec::Hello hello, int receive_queue)
    : context_(std::move(context)), hello_(std::move(hello)), receive_queue_(receive_queue) {}

Channel::~Channel() = default;

void Channel::aim(const std::string& endpoint) {
  if (endpoint == endpoint_) return;
  endpoint_ = endpoint;
  dealer_.reset();
  liveness_.dropped();
}

void Channel::tick(std::int64_t now) {
  if (endpoint_.empty()) return;
  if (liveness_.todo(now) == Liveness::Todo::connect) connect(now);
  switch (liveness_.todo(now)) {
    case Liveness::Todo::hello: return greet(now);
    case Liveness::Todo::ping: return ping(now);
    case Liveness::Todo::connect:
    case Liveness::Todo::nothing: return;
  }
}

std::int64_t Channel::next(std::int64_t now) const {
  return endpoint_.empty() ? now + limits::ping_ms : liveness_.next(now);
}

bool Channel::send(std::string_view bytes, std::int64_t now) {
  if (!dealer_ || !open()) return false;
  if (dealer_->send(bytes)) return true;
  liveness_.not_sent(now);
  return false;
}

std::optional<Channel::Received> Channel::receive(std::int64_t now) {
  while (dealer_) {
    const std::optional<std::string> bytes = dealer_->receive();
    if (!bytes) return std::nullopt;
    auto message = codec::decode_message(*bytes, codec::answer_limits);
    if (!message) {
      std::fprintf(stderr, "tafel: a message of %s is not understood: %s\n", endpoint_.c_str(),
                   message.error().message.c_str());
      continue;
    }
    liveness_.heard(now);
    if (!is_own(*message, now)) return Received{std::move(*message), bytes->size()};
  }
  return std::nullopt;
}

void Channel::probe(std::int64_t now) {
  if (open()) ping(now);
}

void Channel::connect(std::int64_t now) {
  dealer_.reset();
  auto dealer = net::Dealer::connect(*context_, endpoint_, limits::answer_bytes_max, receive_queue_);
  if (!dealer) {
    liveness_.not_connected(now);
    return refuse(dealer.error(), dealer.error().fault != Fault::bad_config);
  }
  dealer_ = std::move(*dealer);
  liveness_.connected(now);
}

void Channel::greet(std::int64_t now) {
  hello_id_ = new_id();
  const codec::Message hello{std::string(codec::message::hello), hello_id_, codec::to_value(hello_)};
  dealer_->send(codec::encode_message(hello)) ? liveness_.greeted(now) : liveness_.not_sent(now);
}

void Channel::ping(std::int64_t now) {
  const codec::Message ping{std::string(codec::message::ping), new_id(), Value()};
  dealer_->send(codec::encode_message(ping)) ? liveness_.pinged(now) : liveness_.not_sent(now);
}

// What is about the connection itself.
bool Channel::is_own(const codec::Message& message, std::int64_t now) {
  if (message.type == codec::message::pong) return true;
  if (message.type == codec::message::welcome) {
    if (message.id == hello_id_) take_welcome(message, now);
    return true;
  }
  if (message.type != codec::message::error) return false;
  const auto error = codec::error_from_value(message.body);
  if (!error) return false;
  if (error->code == ErrorCode::no_session) {
    liveness_.session_lost(now);
    return true;
  }
  if (open() || message.id != hello_id_) return false;
  const bool may_pass = error->code == ErrorCode::busy || error->code == ErrorCode::unavailable;
  liveness_.put_off(now);
  refuse({Fault::refused, fmt::format("{} refused the hello: {}: {}", endpoint_, name_of(error->code), error->message)},
         may_pass);
  return true;
}

void Channel::take_welcome(const codec::Message& message, std::int64_t now) {
  auto welcome = codec::welcome_from_value(message.body);
  std::string defect;
  if (!welcome) {
    defect = "sent a welcome that is not understood: " + welcome.error().message;
  } else if (welcome->protocol != codec::protocol_version) {
    defect = fmt::format("speaks protocol {}, this client speaks {}", welcome->protocol, codec::protocol_version);
  }
  if (!defect.empty()) {
    liveness_.put_off(now);
    return refuse({Fault::refused, endpoint_ + " " + defect}, false);
  }
  welcome_ = std::move(*welcome);
  refusal_.reset();
  ++generation_;
  liveness_.welcomed(now);
}

void Channel::refuse(Failure failure, bool may_pass) {
  refusal_ = std::move(failure);
  refusal_may_pass_ = may_pass;
}

}  // namespace tafel::sdk
