// One connection to Redis that never waits: hiredis writes commands and reads replies, we own the socket's readiness.
#pragma once

#include <hiredis/hiredis.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "bench/peers/peers.hpp"
#include "common/base/result.hpp"

namespace tafel::bench {

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

class RedisConnection {
 public:
  static Result<std::unique_ptr<RedisConnection>> connect(const PeerAddress& address);
  ~RedisConnection();
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  int descriptor() const { return context_->fd; }

  void append(std::initializer_list<std::string_view> words) { append(words.begin(), words.size()); }
  void append(const std::string_view* words, std::size_t count);
  Result<void> flush();  // what there is room for
  bool has_unsent() const { return has_unsent_; }

  Result<void> read();  // what has come
  Reply next();         // null: none is whole yet
  // Sends what was appended and waits for one reply; for what comes before and after a run.
  Result<Reply> ask();

 private:
  explicit RedisConnection(redisContext* context) : context_(context) {}
  Failure failure() const;

  redisContext* context_;
  bool has_unsent_ = false;
};

// The text of a reply; empty when it has none.
std::string_view text_of(const redisReply* reply);

}  // namespace tafel::bench
