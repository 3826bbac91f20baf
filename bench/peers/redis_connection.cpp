#include "bench/peers/redis_connection.hpp"

#include <fcntl.h>
#include <poll.h>

#include <vector>

namespace tafel::bench {
namespace {

constexpr int patience_ms = 60'000;

}  // namespace

Result<std::unique_ptr<RedisConnection>> RedisConnection::connect(const PeerAddress& address) {
  redisContext* context = redisConnect(address.host.c_str(), address.port);
  if (context == nullptr) return fail(Fault::io, "no memory for a connection to Redis");
  std::unique_ptr<RedisConnection> made(new RedisConnection(context));
  if (context->err != 0) return tl::unexpected(made->failure());
  ::fcntl(context->fd, F_SETFL, ::fcntl(context->fd, F_GETFL) | O_NONBLOCK);
  context->flags &= ~REDIS_BLOCK;  // a read without input is then no error
  return made;
}

RedisConnection::~RedisConnection() { redisFree(context_); }

Failure RedisConnection::failure() const { return {Fault::unreachable, std::string("Redis: ") + context_->errstr}; }

void RedisConnection::append(const std::string_view* words, std::size_t count) {
  thread_local std::vector<const char*> starts;
  thread_local std::vector<std::size_t> sizes;
  starts.clear();
  sizes.clear();
  for (std::size_t i = 0; i < count; ++i) {
    starts.push_back(words[i].data());
    sizes.push_back(words[i].size());
  }
  redisAppendCommandArgv(context_, static_cast<int>(count), starts.data(), sizes.data());
  has_unsent_ = true;
}

Result<void> RedisConnection::flush() {
  int done = 0;
  if (redisBufferWrite(context_, &done) != REDIS_OK) return tl::unexpected(failure());
  has_unsent_ = done == 0;
  return {};
}

Result<void> RedisConnection::read() {
  if (redisBufferRead(context_) != REDIS_OK) return tl::unexpected(failure());
  return {};
}

Reply RedisConnection::next() {
  void* reply = nullptr;
  redisGetReplyFromReader(context_, &reply);
  return Reply(static_cast<redisReply*>(reply));
}

Result<Reply> RedisConnection::ask() {
  while (true) {
    if (auto sent = flush(); !sent) return tl::unexpected(sent.error());
    if (Reply reply = next()) {
      if (reply->type != REDIS_REPLY_ERROR) return reply;
      return fail(Fault::refused, "Redis: " + std::string(text_of(reply.get())));
    }
    pollfd item{descriptor(), POLLIN, 0};
    if (has_unsent_) item.events |= POLLOUT;
    if (::poll(&item, 1, patience_ms) <= 0) return fail(Fault::unreachable, "Redis does not answer");
    if ((item.revents & POLLIN) == 0) continue;
    if (auto got = read(); !got) return tl::unexpected(got.error());
  }
}

std::string_view text_of(const redisReply* reply) {
  return reply == nullptr || reply->str == nullptr ? std::string_view() : std::string_view(reply->str, reply->len);
}

}  // namespace tafel::bench
