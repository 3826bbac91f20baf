// Redis under the load: version, set, hash, log (a stream of about a million entries) and a channel for each board, all
// changed by one update at once. The change that subscribers get is text: number, version (lua only), and what changed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <vector>

#include "bench/load/descriptors.hpp"
#include "bench/peers/redis_connection.hpp"

namespace tafel::bench {
namespace {

constexpr std::uint64_t preload_elements_max = 1'000;  // of one SADD
constexpr std::string_view log_max = "1000000";

// KEYS: version, set, hash, log, channel. ARGV: number, add, remove, field, value.
constexpr std::string_view script = R"(
local version = redis.call('INCR', KEYS[1])
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('SREM', KEYS[2], ARGV[3])
redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])
local change = ARGV[1] .. ' ' .. version .. ' +' .. ARGV[2] .. ' -' .. ARGV[3] .. ' ' .. ARGV[4] .. '=' .. ARGV[5]
redis.call('XADD', KEYS[4], 'MAXLEN', '~', '1000000', '*', 'change', change)
redis.call('PUBLISH', KEYS[5], change)
return version
)";

struct Board {
  std::string version, set, hash, log, channel;
};

Board board_of(std::size_t number) {
  const auto key = [number](std::string_view what) { return fmt::format("board:{}:{}", number, what); };
  return {key("version"), key("set"), key("hash"), key("log"), key("changes")};
}

// Two numbers with a blank between them, at the begin of a change.
struct ChangeHead {
  std::uint64_t number = 0;
  std::uint64_t version = 0;
};
ChangeHead change_head(std::string_view change) {
  ChangeHead head;
  const char* end = change.data() + change.size();
  const char* at = std::from_chars(change.data(), end, head.number).ptr;
  if (at != end) std::from_chars(at + 1, end, head.version);
  return head;
}

class RedisPeer final : public Peer {
 public:
  RedisPeer(PeerAddress address, bool uses_script) : address_(std::move(address)), uses_script_(uses_script) {}

  std::string name() const override { return uses_script_ ? "redis-lua" : "redis-multi"; }

  Result<void> prepare(const Shape& shape, std::uint64_t elements) override {
    auto connection = RedisConnection::connect(address_);
    if (!connection) return tl::unexpected(connection.error());
    control_ = std::move(*connection);
    control_->append({"FLUSHALL", "SYNC"});
    if (auto flushed = control_->ask(); !flushed) return tl::unexpected(flushed.error());
    control_->append({"SCRIPT", "LOAD", script});
    const auto loaded = control_->ask();
    if (!loaded) return tl::unexpected(loaded.error());
    script_id_ = text_of(loaded->get());
    for (std::size_t number = 0; number < shape.boards; ++number) {
      boards_.push_back(board_of(number));
      if (auto filled = preload(boards_.back(), elements); !filled) return filled;
    }
    return {};
  }

  Result<void> start_agents(std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto connection = RedisConnection::connect(address_);
      if (!connection) return tl::unexpected(connection.error());
      if (!agent_descriptors_.add((*connection)->descriptor(), i)) return fail(Fault::io, "no room for an agent");
      agents_.push_back(std::move(*connection));
    }
    return {};
  }

  Result<void> start_subscribers(std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto connection = RedisConnection::connect(address_);
      if (!connection) return tl::unexpected(connection.error());
      for (const Board& board : boards_) {
        (*connection)->append({"SUBSCRIBE", board.channel});
        if (auto subscribed = (*connection)->ask(); !subscribed) return tl::unexpected(subscribed.error());
      }
      if (!subscriber_descriptors_.add((*connection)->descriptor(), i)) {
        return fail(Fault::io, "no room for a subscriber");
      }
      subscribers_.push_back(std::move(*connection));
    }
    return {};
  }

  void submit(std::size_t agent, const Update& update) override {
    RedisConnection& connection = *agents_[agent];
    if (!connection.has_unsent()) unsent_.push_back(agent);
    const Board& board = boards_[agent % boards_.size()];
    const std::string number = std::to_string(update.number);
    if (uses_script_) {
      connection.append({"EVALSHA", script_id_, "5", board.version, board.set, board.hash, board.log, board.channel,
                         number, update.add, update.remove, update.field, update.value});
      return;
    }
    change_.clear();
    fmt::format_to(std::back_inserter(change_), "{} +{} -{} {}={}", number, update.add, update.remove, update.field,
                   update.value);
    connection.append({"MULTI"});
    connection.append({"INCR", board.version});
    connection.append({"SADD", board.set, update.add});
    connection.append({"SREM", board.set, update.remove});
    connection.append({"HSET", board.hash, update.field, update.value});
    connection.append({"XADD", board.log, "MAXLEN", "~", log_max, "*", "change", change_});
    connection.append({"PUBLISH", board.channel, change_});
    connection.append({"EXEC"});
  }

  Result<void> flush() override {
    for (const std::size_t agent : unsent_) {
      RedisConnection& connection = *agents_[agent];
      if (auto sent = connection.flush(); !sent) return sent;
      if (connection.has_unsent()) agent_descriptors_.want_room(connection.descriptor(), agent, true);
    }
    unsent_.clear();
    return {};
  }

  Result<void> poll_acks(std::chrono::milliseconds wait, std::vector<Ack>& acks) override {
    for (const std::size_t agent : agent_descriptors_.ready(wait)) {
      RedisConnection& connection = *agents_[agent];
      if (connection.has_unsent()) {
        if (auto sent = connection.flush(); !sent) return sent;
        if (!connection.has_unsent()) agent_descriptors_.want_room(connection.descriptor(), agent, false);
      }
      if (auto got = connection.read(); !got) return got;
      while (const Reply reply = connection.next()) take_reply(agent, *reply, acks);
    }
    return {};
  }

  Result<void> poll_deliveries(std::chrono::milliseconds wait, std::vector<Delivery>& deliveries) override {
    for (const std::size_t subscriber : subscriber_descriptors_.ready(wait)) {
      RedisConnection& connection = *subscribers_[subscriber];
      if (auto got = connection.read(); !got) return got;
      while (const Reply reply = connection.next()) {
        if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3) continue;  // ["message", channel, change]
        const std::string_view channel = text_of(reply->element[1]);
        std::size_t board = 0;
        while (board < boards_.size() && boards_[board].channel != channel) ++board;
        const ChangeHead head = change_head(text_of(reply->element[2]));
        deliveries.push_back({subscriber, board, uses_script_ ? head.version : 0, head.number});
      }
    }
    return {};
  }

  Result<std::uint64_t> versions() override {
    std::uint64_t sum = 0;
    for (const Board& board : boards_) {
      control_->append({"GET", board.version});
      const auto reply = control_->ask();
      if (!reply) return tl::unexpected(reply.error());
      const std::string_view digits = text_of(reply->get());
      std::uint64_t version = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), version);
      sum += version;
    }
    return sum;
  }

 private:
  Result<void> preload(const Board& board, std::uint64_t elements) {
    for (std::uint64_t first = 0; first < elements; first += preload_elements_max) {
      std::vector<std::string> names;
      for (std::uint64_t i = first; i < std::min(first + preload_elements_max, elements); ++i) {
        names.push_back(element_name(i));
      }
      std::vector<std::string_view> words{"SADD", board.set};
      words.insert(words.end(), names.begin(), names.end());
      control_->append(words.data(), words.size());
      if (auto added = control_->ask(); !added) return tl::unexpected(added.error());
    }
    return {};
  }

  // Of MULTI come eight replies; the one of EXEC, a list, is the ack.
  void take_reply(std::size_t agent, const redisReply& reply, std::vector<Ack>& acks) const {
    if (reply.type == REDIS_REPLY_ERROR) {
      acks.push_back({agent, false, true});
    } else if (reply.type == (uses_script_ ? REDIS_REPLY_INTEGER : REDIS_REPLY_ARRAY)) {
      acks.push_back({agent, true, false});
    }
  }

  const PeerAddress address_;
  const bool uses_script_;
  std::string script_id_;
  std::vector<Board> boards_;
  std::unique_ptr<RedisConnection> control_;
  std::vector<std::unique_ptr<RedisConnection>> agents_;
  std::vector<std::unique_ptr<RedisConnection>> subscribers_;
  std::vector<std::size_t> unsent_;  // agents with commands to be sent
  Descriptors agent_descriptors_;
  Descriptors subscriber_descriptors_;
  std::string change_;
};

}  // namespace

std::unique_ptr<Peer> make_redis_peer(const PeerAddress& address, const std::string& variant) {
  return std::make_unique<RedisPeer>(address, variant == "lua");
}

}  // namespace tafel::bench
