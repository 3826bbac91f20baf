#include "bench/tafel/tafel_peer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/pack.hpp"
#include "common/codec/fields.hpp"

namespace tafel::bench {
namespace {

constexpr std::size_t submit_bytes_max = 60'000;       // below request_bytes_max
constexpr std::size_t submit_deltas_max = 500;         // below message_objects_max, at 28 objects each
constexpr std::uint64_t preload_elements_max = 4'000;  // of one delta: below its leaves, and its message below 60 kB

Failure refused(std::string_view message) {
  const auto decoded = codec::decode_message(message, codec::answer_limits);
  if (!decoded) return {Fault::bad_bytes, "the server's message is not understood: " + decoded.error().message};
  return {Fault::refused, fmt::format("the server sent \"{}\": {}", decoded->type, brief(decoded->body))};
}

std::string submit_message(std::uint64_t id, std::string_view deltas, std::size_t count) {
  std::string bytes;
  PackWriter pack(bytes);
  pack.array(3);
  pack.text(codec::message::submit);
  pack.unsigned_integer(id);
  pack.array(count);
  pack.raw(deltas);
  return bytes;
}

}  // namespace

TafelPeer::TafelPeer(std::string server, std::string run) : server_(std::move(server)), run_(std::move(run)) {}

Result<TafelPeer::Connection> TafelPeer::greet(const std::string& endpoint, const std::string& actor,
                                               codec::Welcome* welcome) {
  auto connection = ZmtpConnection::connect(endpoint);
  if (!connection) return connection;
  codec::Hello hello;
  hello.actor = actor;
  hello.client = "tafel-bench";
  if (!(*connection)->send(codec::encode_message({std::string(codec::message::hello), 1, codec::to_value(hello)}))) {
    return fail(Fault::unreachable, endpoint + " hung up");
  }
  const auto answer = (*connection)->wait();
  if (!answer) return tl::unexpected(answer.error());
  if (message_head(*answer).type != codec::message::welcome) return tl::unexpected(refused(*answer));
  if (welcome == nullptr) return connection;
  const auto decoded = codec::decode_message(*answer);
  if (!decoded) return tl::unexpected(decoded.error());
  auto read = codec::welcome_from_value(decoded->body);
  if (!read) return tl::unexpected(read.error());
  *welcome = std::move(*read);
  return connection;
}

Result<void> TafelPeer::prepare(const Shape& shape, std::uint64_t elements) {
  auto connection = greet(server_, "bench-preload", &welcome_);
  if (!connection) return tl::unexpected(connection.error());
  for (std::size_t board = 0; board < shape.boards; ++board) boards_.push_back(fmt::format("bench/{}/{}", run_, board));
  if (auto loaded = preload(**connection, elements); !loaded) return loaded;
  auto query = greet(welcome_.query_endpoint, "bench-preload");
  if (!query) return tl::unexpected(query.error());
  query_ = std::move(*query);
  for (const std::string& board : boards_) {
    const auto version = head(board);
    if (!version) return tl::unexpected(version.error());
    heads_.push_back(*version);
  }
  return {};
}

Result<void> TafelPeer::preload(ZmtpConnection& connection, std::uint64_t elements) {
  std::uint64_t id = 2;
  for (const std::string& board : boards_) {
    for (std::uint64_t first = 0; first < elements; first += preload_elements_max, ++id) {
      const std::uint64_t count = std::min(preload_elements_max, elements - first);
      const std::string delta = preload_delta(board, fmt::format("{}-preload-{}", run_, first), first, count);
      if (!connection.send(submit_message(id, delta, 1))) return fail(Fault::unreachable, "the server hung up");
      const auto answer = connection.wait();
      if (!answer) return tl::unexpected(answer.error());
      receipts_.clear();
      if (!read_receipts(*answer, receipts_) || receipts_.size() != 1 || receipts_.front().is_error) {
        return tl::unexpected(refused(*answer));
      }
    }
  }
  return {};
}

Result<std::uint64_t> TafelPeer::head(const std::string& board) {
  const Value body = Map{{"what", "get"}, {"board", board}, {"path", "field.00"}};
  if (!query_->send(codec::encode_message({std::string(codec::message::query), 2, body}))) {
    return fail(Fault::unreachable, "the server hung up");
  }
  const auto answer = query_->wait();
  if (!answer) return tl::unexpected(answer.error());
  const auto decoded = codec::decode_message(*answer, codec::answer_limits);
  if (!decoded) return tl::unexpected(decoded.error());
  const Value* head = decoded->type == codec::message::answer ? decoded->body.find("head") : nullptr;
  const auto number = head == nullptr ? std::nullopt : codec::as_uint64(*head);
  if (!number) return tl::unexpected(refused(*answer));
  return *number;
}

Result<void> TafelPeer::start_agents(std::size_t count) {
  agents_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto connection = greet(server_, fmt::format("bench-{}", i));
    if (!connection) return tl::unexpected(connection.error());
    agents_[i].connection = std::move(*connection);
    agents_[i].base = heads_[i % boards_.size()];
    if (!agent_descriptors_.add(agents_[i].connection->descriptor(), i)) return fail(Fault::io, "no room for an agent");
  }
  return {};
}

Result<void> TafelPeer::start_subscribers(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    auto connection = greet(welcome_.feed_endpoint, fmt::format("bench-follower-{}", i));
    if (!connection) return tl::unexpected(connection.error());
    for (std::size_t board = 0; board < boards_.size(); ++board) {
      codec::Subscribe subscribe;
      subscribe.board = boards_[board];
      subscribe.from = heads_[board];
      const std::uint64_t id = 2 + board;
      if (!(*connection)
               ->send(
                   codec::encode_message({std::string(codec::message::subscribe), id, codec::to_value(subscribe)}))) {
        return fail(Fault::unreachable, "the feed hung up");
      }
      while (true) {  // heartbeats and "live" may come between
        const auto answer = (*connection)->wait();
        if (!answer) return tl::unexpected(answer.error());
        const MessageHead head = message_head(*answer);
        if (head.type == codec::message::subscribed && head.id == id) break;
        if (head.id == id) return tl::unexpected(refused(*answer));
      }
    }
    if (!subscriber_descriptors_.add((*connection)->descriptor(), i)) {
      return fail(Fault::io, "no room for a subscriber");
    }
    subscribers_.push_back(std::move(*connection));
  }
  return {};
}

// --- on the thread of the agents

void TafelPeer::submit(std::size_t number, const Update& update) {
  Agent& agent = agents_[number];
  if (agent.delta_count == 0) unsent_.push_back(number);
  write_delta(agent.deltas, run_, boards_[number % boards_.size()], agent.base, update);
  ++agent.delta_count;
  if (agent.deltas.size() > submit_bytes_max - 512 || agent.delta_count == submit_deltas_max) send_deltas(agent);
}

// What an agent made since its last message goes as one message. A broken connection is noticed by the next poll.
bool TafelPeer::send_deltas(Agent& agent) {
  if (agent.delta_count == 0) return true;
  const bool sent = agent.connection->send(submit_message(agent.next_message++, agent.deltas, agent.delta_count));
  agent.deltas.clear();
  agent.delta_count = 0;
  return sent;
}

Result<void> TafelPeer::flush() {
  for (const std::size_t number : unsent_) {
    Agent& agent = agents_[number];
    if (!send_deltas(agent)) return fail(Fault::unreachable, "the server hung up on an agent");
    if (agent.connection->has_unsent()) agent_descriptors_.want_room(agent.connection->descriptor(), number, true);
  }
  unsent_.clear();
  return {};
}

Result<void> TafelPeer::poll_acks(std::chrono::milliseconds wait, std::vector<Ack>& acks) {
  for (const std::size_t number : agent_descriptors_.ready(wait)) {
    ZmtpConnection& connection = *agents_[number].connection;
    if (connection.has_unsent()) {
      if (!connection.flush()) return fail(Fault::unreachable, "the server hung up on an agent");
      if (!connection.has_unsent()) agent_descriptors_.want_room(connection.descriptor(), number, false);
    }
    if (!connection.read()) return fail(Fault::unreachable, "the server hung up on an agent");
    while (const auto message = connection.next()) {
      if (auto taken = take_receipts(number, *message, acks); !taken) return taken;
    }
  }
  return {};
}

Result<void> TafelPeer::take_receipts(std::size_t number, std::string_view message, std::vector<Ack>& acks) {
  receipts_.clear();
  if (!read_receipts(message, receipts_)) return tl::unexpected(refused(message));
  for (const ReadReceipt& receipt : receipts_) {
    agents_[number].base = receipt.version;
    acks.push_back({number, receipt.made_version && !receipt.is_error, receipt.is_error});
  }
  return {};
}

// --- on the thread of the subscribers

Result<void> TafelPeer::poll_deliveries(std::chrono::milliseconds wait, std::vector<Delivery>& deliveries) {
  for (const std::size_t number : subscriber_descriptors_.ready(wait)) {
    ZmtpConnection& connection = *subscribers_[number];
    if (!connection.read()) return fail(Fault::unreachable, "the feed hung up on a subscriber");
    while (const auto message = connection.next()) {
      if (auto taken = take_events(number, *message, deliveries); !taken) return taken;
    }
  }
  return {};
}

Result<void> TafelPeer::take_events(std::size_t subscriber, std::string_view message,
                                    std::vector<Delivery>& deliveries) {
  const std::string_view type = message_head(message).type;
  if (type == codec::message::live || type == codec::message::heartbeat) return {};
  events_.clear();
  std::string_view board;
  if (!read_events(message, board, events_)) return tl::unexpected(refused(message));
  const auto found = std::find(boards_.begin(), boards_.end(), board);
  for (const ReadEvent& event : events_) {
    const auto number = update_number(run_, event.delta_id);
    if (found == boards_.end() || !number) {
      return fail(Fault::refused, fmt::format("an event that nobody here made: {} {}", board, event.delta_id));
    }
    const auto index = static_cast<std::size_t>(found - boards_.begin());
    deliveries.push_back({subscriber, index, event.version, *number});
  }
  return {};
}

// --- after the run

Result<std::uint64_t> TafelPeer::versions() {
  std::uint64_t sum = 0;
  for (std::size_t board = 0; board < boards_.size(); ++board) {
    const auto version = head(boards_[board]);
    if (!version) return version;
    sum += *version - heads_[board];
  }
  return sum;
}

}  // namespace tafel::bench
