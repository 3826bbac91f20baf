#include "broker/session.hpp"

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/model/names.hpp"

namespace tafel::broker {
namespace {

constexpr std::string_view system_actor = "system";  // writes what the server does by itself, such as expiry

codec::Message refuse(const codec::Message& hello, ErrorCode code, std::string message, bool retryable = false) {
  ErrorInfo error;
  error.code = code;
  error.message = std::move(message);
  error.retryable = retryable;
  return codec::error_message(hello.id, error);
}

std::optional<codec::Message> defect_of(const codec::Message& message, const codec::Hello& hello) {
  if (hello.protocol != codec::protocol_version) {
    return refuse(message, ErrorCode::bad_request,
                  "protocol " + std::to_string(hello.protocol) + " is not spoken here: right is " +
                      std::to_string(codec::protocol_version));
  }
  if (auto defect = name_defect(hello.actor)) return refuse(message, ErrorCode::bad_value, "actor: " + *defect);
  if (hello.actor == system_actor) {
    return refuse(message, ErrorCode::forbidden, "the actor name \"system\" is the server's own: choose another one");
  }
  return std::nullopt;
}

}  // namespace

codec::Message Sessions::greet(const PeerId& peer, const codec::Message& hello, std::int64_t steady_ms) {
  const auto read = codec::hello_from_value(hello.body);
  if (!read) return refuse(hello, ErrorCode::bad_request, read.error().message);
  if (auto refused = defect_of(hello, *read)) return std::move(*refused);

  auto known = sessions_.find(peer);
  if (known == sessions_.end()) {
    if (sessions_.size() >= limits::sessions_max) drop_idle(steady_ms, limits::session_idle_crowded_ms);
    if (sessions_.size() >= limits::sessions_max) {
      return refuse(hello, ErrorCode::busy, "too many clients are connected: try again later", true);
    }
    known = sessions_.emplace(peer, Session{read->actor, steady_ms}).first;
  }
  if (known->second.actor != read->actor) {
    return refuse(hello, ErrorCode::forbidden,
                  "this connection belongs to \"" + known->second.actor + "\": another actor needs its own");
  }
  known->second.last_seen_ms = steady_ms;
  return {std::string(codec::message::welcome), hello.id, codec::to_value(welcome_)};
}

const Session* Sessions::find(const PeerId& peer, std::int64_t steady_ms) {
  const auto known = sessions_.find(peer);
  if (known == sessions_.end()) return nullptr;
  known->second.last_seen_ms = std::max(known->second.last_seen_ms, steady_ms);
  return &known->second;
}

std::size_t Sessions::drop_idle(std::int64_t steady_ms, std::int64_t idle_ms) {
  return std::erase_if(sessions_, [&](const auto& entry) { return steady_ms - entry.second.last_seen_ms > idle_ms; });
}

}  // namespace tafel::broker
