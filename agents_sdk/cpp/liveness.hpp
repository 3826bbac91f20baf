// When to greet on a connection, when to ping, and when to give it up. Pure: times are steady milliseconds that come in
// with each call; Channel does what it says. ZeroMQ reconnects silently, and the server forgets a peer that was cut
// off, so only our own hello, ping and the server's "no_session" tell what a connection is worth.
#pragma once

#include <cstdint>

#include "common/base/limits.hpp"

namespace tafel::sdk {

class Liveness {
 public:
  enum class Todo : std::uint8_t { nothing, connect, hello, ping };

  Todo todo(std::int64_t now) const;
  // No later than then `todo` may say something else.
  std::int64_t next(std::int64_t now) const;

  void connected(std::int64_t now);      // a new socket is there
  void not_connected(std::int64_t now);  // no socket could be had: try again later
  void greeted(std::int64_t now);        // the socket took a hello
  void pinged(std::int64_t now);
  void not_sent(std::int64_t now);  // the socket took nothing: try a little later
  void heard(std::int64_t now);     // any message
  void welcomed(std::int64_t now);
  void put_off(std::int64_t now);       // the hello was refused for now: try again later
  void session_lost(std::int64_t now);  // the server does not know us: greet again on the same socket
  void dropped();                       // connect again

  void await_answer(bool awaited) { awaited_ = awaited; }  // something asked has no answer yet: probe soon
  void expect_heartbeat(std::int64_t interval_ms) { heartbeat_ms_ = interval_ms; }  // 0: none comes
  void pause(bool paused, std::int64_t now);  // nobody reads the socket: silence means nothing

  bool open() const { return state_ == State::open; }
  // A ping is without an answer: whoever shares the fate of this connection had better look, too.
  bool doubtful() const { return open() && ping_open_ && !paused_; }

 private:
  enum class State : std::uint8_t { down, greeting, open };

  std::int64_t quiet_ms() const;
  std::int64_t lost_at() const;
  void begin_greeting(std::int64_t now);

  State state_ = State::down;
  bool awaited_ = false;
  bool paused_ = false;
  bool hello_sent_ = false;
  bool ping_due_ = false;   // a ping could not be sent
  bool ping_open_ = false;  // a ping was asked for and nothing was heard since
  std::int64_t heartbeat_ms_ = 0;
  std::int64_t try_at_ = 0;  // not before: the next attempt to send
  std::int64_t try_wait_ = 1;
  std::int64_t give_up_at_ = 0;  // greeting: then a new socket
  std::int64_t greeting_ms_ = limits::greeting_ms_min;
  std::int64_t sent_at_ = 0;  // of the last ping, or when sending it first failed
  std::int64_t heard_at_ = 0;
};

}  // namespace tafel::sdk
