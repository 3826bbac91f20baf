#include "agents_sdk/cpp/liveness.hpp"

#include <algorithm>

namespace tafel::sdk {
namespace {

constexpr std::int64_t try_wait_ms_max = 50;

}  // namespace

Liveness::Todo Liveness::todo(std::int64_t now) const {
  if (state_ == State::down) return now >= try_at_ ? Todo::connect : Todo::nothing;
  if (state_ == State::greeting) {
    if (now >= give_up_at_) return Todo::connect;
    return !hello_sent_ && now >= try_at_ ? Todo::hello : Todo::nothing;
  }
  const bool asks = ping_open_ && !paused_;
  if (asks && now >= lost_at()) return Todo::connect;
  if (ping_due_) return now >= try_at_ ? Todo::ping : Todo::nothing;
  if (asks) return Todo::nothing;  // another question would put off the end of a connection that is dead
  const bool silent = !paused_ && now - heard_at_ >= quiet_ms();
  return silent || now - sent_at_ >= limits::ping_ms ? Todo::ping : Todo::nothing;
}

std::int64_t Liveness::next(std::int64_t now) const {
  std::int64_t at = now + limits::answer_ms;
  if (state_ == State::down) {
    at = try_at_;
  } else if (state_ == State::greeting) {
    at = hello_sent_ ? give_up_at_ : std::min(give_up_at_, try_at_);
  } else {
    const bool asks = ping_open_ && !paused_;
    if (ping_due_) {
      at = try_at_;
    } else if (!asks) {
      at = sent_at_ + limits::ping_ms;
    }
    if (!paused_) at = std::min(at, asks ? lost_at() : heard_at_ + quiet_ms());
  }
  return std::max(at, now);
}

void Liveness::connected(std::int64_t now) { begin_greeting(now); }

void Liveness::not_connected(std::int64_t now) {
  state_ = State::down;
  try_at_ = now + limits::retry_ms_max;
}

void Liveness::greeted(std::int64_t now) {
  hello_sent_ = true;
  // A server that stalls answers in the end: waiting longer each time, we are still there then.
  give_up_at_ = now + greeting_ms_;
  greeting_ms_ = std::min(greeting_ms_ * 2, limits::greeting_ms_max);
}

void Liveness::pinged(std::int64_t now) {
  sent_at_ = now;
  ping_open_ = true;
  ping_due_ = false;
  try_wait_ = 1;
}

void Liveness::not_sent(std::int64_t now) {
  // The link is down or full. A ping is tried until the socket takes it: once the link is back, its answer tells
  // whether the server still knows us. From the first failure on this counts as silence.
  if (state_ == State::open) {
    if (!ping_open_) sent_at_ = now;
    ping_open_ = true;
    ping_due_ = true;
  }
  try_at_ = now + try_wait_;
  try_wait_ = std::min(try_wait_ * 2, try_wait_ms_max);
}

void Liveness::heard(std::int64_t now) {
  heard_at_ = now;
  if (ping_due_) sent_at_ = now;  // not dead: only our ping does not get through
  if (!ping_due_) ping_open_ = false;
}

void Liveness::welcomed(std::int64_t now) {
  state_ = State::open;
  ping_due_ = false;
  heard(now);
  sent_at_ = now;
  try_at_ = now;
  try_wait_ = 1;
  greeting_ms_ = limits::greeting_ms_min;
}

void Liveness::put_off(std::int64_t now) {
  begin_greeting(now);
  try_at_ = now + limits::retry_ms_max;
}

void Liveness::session_lost(std::int64_t now) {
  if (state_ == State::open) begin_greeting(now);
}

void Liveness::dropped() {
  state_ = State::down;
  try_at_ = 0;
}

void Liveness::pause(bool paused, std::int64_t now) {
  if (paused_ && !paused) heard(now);
  paused_ = paused;
}

// An awaited answer or heartbeat that does not come is asked after; else a ping now and then is enough.
std::int64_t Liveness::quiet_ms() const {
  std::int64_t quiet = limits::ping_ms;
  if (awaited_) quiet = std::min(quiet, limits::probe_ms);
  if (heartbeat_ms_ > 0) quiet = std::min(quiet, std::max(limits::probe_ms, heartbeat_ms_ * 5 / 2));
  return quiet;
}

std::int64_t Liveness::lost_at() const { return sent_at_ + (ping_due_ ? limits::link_down_ms : limits::answer_ms); }

void Liveness::begin_greeting(std::int64_t now) {
  state_ = State::greeting;
  hello_sent_ = false;
  ping_open_ = false;
  ping_due_ = false;
  try_at_ = now;
  try_wait_ = 1;
  give_up_at_ = now + limits::new_socket_ms;
}

}  // namespace tafel::sdk
