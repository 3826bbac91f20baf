#include "agents_sdk/cpp/queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "agents_sdk/cpp/bodies.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::sdk {

void Queries::ask(Channel& channel, Value body, std::int64_t deadline, Done done) {
  if (open_.size() >= limits::pending_queries_max) {
    return done(
        fail(Fault::busy, fmt::format("{} questions wait for an answer already: ask again later", open_.size())));
  }
  const std::uint64_t id = channel.new_id();
  Open open;
  open.bytes = codec::encode_message({std::string(codec::message::query), id, std::move(body)});
  open.deadline = deadline;
  open.done = std::move(done);
  open_.emplace(id, std::move(open));
}

void Queries::handle(const codec::Message& message, std::int64_t now) {
  const auto at = open_.find(message.id);
  if (at == open_.end()) return;
  if (message.type == codec::message::answer) return end(at, message.body);
  if (message.type != codec::message::error) return;
  const auto error = codec::error_from_value(message.body);
  if (!error) return end(at, fail(Fault::bad_bytes, "the server's error is not understood: " + error.error().message));
  Open& open = at->second;
  if (error->code == ErrorCode::busy || (error->code == ErrorCode::unavailable && error->retryable)) {
    open.wait_ms = std::clamp(open.wait_ms * 2, limits::retry_ms_min, limits::retry_ms_max);
    open.not_before = now + open.wait_ms;
    open.sent = false;
    return;
  }
  end(at, fail(fault_of(*error), fmt::format("{}: {}", name_of(error->code), error->message)));
}

void Queries::tick(Channel& channel, std::int64_t now) {
  if (std::exchange(generation_, channel.generation()) != channel.generation()) {
    for (auto& [id, open] : open_) open.sent = false;
  }
  const std::uint64_t bytes_max = channel.welcome().request_bytes_max;
  for (auto at = open_.begin(); at != open_.end();) {
    const auto here = at++;
    Open& open = here->second;
    // Who waits without an end asks again: the answer may be lost.
    if (open.deadline == no_deadline && now - open.sent_at >= limits::resend_ms) open.sent = false;
    if (now >= open.deadline) {
      end(here, fail(Fault::unreachable, "no answer to the question in time"));
    } else if (channel.open() && open.bytes.size() > bytes_max) {
      end(here, fail(Fault::refused, fmt::format("too_large: the question has {} bytes; the server takes {}",
                                                 open.bytes.size(), bytes_max)));
    } else if (!open.sent && now >= open.not_before && channel.open()) {
      if (!channel.send(open.bytes, now)) break;
      open.sent = true;
      open.sent_at = now;
    }
  }
}

std::int64_t Queries::next(std::int64_t now) const {
  std::int64_t at = now + limits::ping_ms;
  for (const auto& [id, open] : open_) {
    at = std::min(at, open.deadline);
    if (!open.sent && open.not_before > now) at = std::min(at, open.not_before);
  }
  return at;
}

void Queries::close(const Failure& failure) {
  for (auto& [id, open] : std::exchange(open_, {})) open.done(tl::unexpected<Failure>(failure));
}

void Queries::end(std::map<std::uint64_t, Open>::iterator at, Result<Value> result) {
  const Done done = std::move(at->second.done);
  open_.erase(at);
  done(std::move(result));
}

}  // namespace tafel::sdk
