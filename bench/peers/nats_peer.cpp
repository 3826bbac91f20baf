// NATS JetStream under the load. It is a log: an update is one message of a stream, acknowledged when it is stored, and
// its place in the stream is its version. No set and no field is kept, so that elements have no effect.
#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "bench/load/descriptors.hpp"
#include "bench/peers/nats_connection.hpp"

namespace tafel::bench {
namespace {

constexpr std::string_view stream = "BENCH";

std::string subject_of(std::size_t board) { return fmt::format("bench.{}", board); }
std::string inbox_of(std::size_t agent) { return fmt::format("_INBOX.agent.{}", agent); }
std::string delivery_subject(std::size_t subscriber) { return fmt::format("deliver.{}", subscriber); }

std::uint64_t number_at(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The number that follows `key` in a JSON text; 0 when it is not there.
std::uint64_t member(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  return at == std::string_view::npos ? 0 : number_at(text.substr(at + key.size()));
}

// $JS.ACK.stream.consumer.deliveries.SEQUENCE.…
std::uint64_t stream_sequence(std::string_view reply) {
  for (int dots = 0; dots < 5; ++dots) {
    const std::size_t dot = reply.find('.');
    if (dot == std::string_view::npos) return 0;
    reply.remove_prefix(dot + 1);
  }
  return number_at(reply);
}

class NatsPeer final : public Peer {
 public:
  explicit NatsPeer(PeerAddress address) : address_(std::move(address)) {}

  std::string name() const override { return "nats"; }

  Result<void> prepare(const Shape& shape, std::uint64_t) override {
    auto connection = NatsConnection::connect(address_);
    if (!connection) return tl::unexpected(connection.error());
    control_ = std::move(*connection);
    boards_ = shape.boards;
    return must_ask(fmt::format("$JS.API.STREAM.CREATE.{}", stream),
                    fmt::format(R"({{"name":"{}","subjects":["bench.*"],"retention":"limits","storage":"file",)"
                                R"("num_replicas":1,"max_msgs":1000000,"discard":"old"}})",
                                stream));
  }

  Result<void> start_agents(std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto connection = NatsConnection::connect(address_);
      if (!connection) return tl::unexpected(connection.error());
      (*connection)->subscribe(inbox_of(i));
      if (auto settled = (*connection)->settle(); !settled) return settled;
      if (!agent_descriptors_.add((*connection)->descriptor(), i)) return fail(Fault::io, "no room for an agent");
      agents_.push_back(std::move(*connection));
    }
    return {};
  }

  // A push consumer without acknowledgements for each.
  Result<void> start_subscribers(std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto connection = NatsConnection::connect(address_);
      if (!connection) return tl::unexpected(connection.error());
      (*connection)->subscribe(delivery_subject(i));
      if (auto settled = (*connection)->settle(); !settled) return settled;
      auto made = must_ask(fmt::format("$JS.API.CONSUMER.CREATE.{}", stream),
                           fmt::format(R"({{"stream_name":"{}","config":{{"deliver_subject":"{}",)"
                                       R"("deliver_policy":"all","ack_policy":"none","replay_policy":"instant"}}}})",
                                       stream, delivery_subject(i)));
      if (!made) return made;
      if (!subscriber_descriptors_.add((*connection)->descriptor(), i)) {
        return fail(Fault::io, "no room for a subscriber");
      }
      subscribers_.push_back(std::move(*connection));
    }
    return {};
  }

  void submit(std::size_t agent, const Update& update) override {
    if (!agents_[agent]->has_unsent()) unsent_.push_back(agent);
    agents_[agent]->publish(
        subject_of(agent % boards_), inbox_of(agent),
        fmt::format("{} +{} -{} {}={}", update.number, update.add, update.remove, update.field, update.value));
  }

  Result<void> flush() override {
    for (const std::size_t agent : unsent_) {
      if (auto sent = send(agent); !sent) return sent;
    }
    unsent_.clear();
    return {};
  }

  Result<void> poll_acks(std::chrono::milliseconds wait, std::vector<Ack>& acks) override {
    for (const std::size_t agent : agent_descriptors_.ready(wait)) {
      NatsConnection& connection = *agents_[agent];
      if (auto got = connection.read(); !got) return got;
      while (const auto message = connection.next()) {
        const bool is_error = message->payload.find("\"error\"") != std::string_view::npos;
        acks.push_back({agent, !is_error, is_error});
      }
      if (auto sent = send(agent); !sent) return sent;
    }
    return {};
  }

  Result<void> poll_deliveries(std::chrono::milliseconds wait, std::vector<Delivery>& deliveries) override {
    for (const std::size_t subscriber : subscriber_descriptors_.ready(wait)) {
      NatsConnection& connection = *subscribers_[subscriber];
      if (auto got = connection.read(); !got) return got;
      while (const auto message = connection.next()) {  // the stream has one order for all boards
        deliveries.push_back({subscriber, 0, stream_sequence(message->reply), number_at(message->payload)});
      }
      if (auto sent = connection.flush(); !sent) return sent;  // answers to its PINGs
    }
    return {};
  }

  Result<std::uint64_t> versions() override {
    const auto answer = control_->ask(fmt::format("$JS.API.STREAM.INFO.{}", stream), "");
    if (!answer) return tl::unexpected(answer.error());
    return member(*answer, "\"last_seq\":");
  }

 private:
  Result<void> must_ask(const std::string& subject, const std::string& body) {
    const auto answer = control_->ask(subject, body);
    if (!answer) return tl::unexpected(answer.error());
    if (answer->find("\"error\"") == std::string::npos) return {};
    return fail(Fault::refused, "NATS: " + *answer);
  }

  Result<void> send(std::size_t agent) {
    NatsConnection& connection = *agents_[agent];
    const bool wanted_room = connection.has_unsent();
    if (auto sent = connection.flush(); !sent) return sent;
    if (wanted_room) agent_descriptors_.want_room(connection.descriptor(), agent, connection.has_unsent());
    return {};
  }

  const PeerAddress address_;
  std::size_t boards_ = 1;
  std::unique_ptr<NatsConnection> control_;
  std::vector<std::unique_ptr<NatsConnection>> agents_;
  std::vector<std::unique_ptr<NatsConnection>> subscribers_;
  std::vector<std::size_t> unsent_;
  Descriptors agent_descriptors_;
  Descriptors subscriber_descriptors_;
};

}  // namespace

std::unique_ptr<Peer> make_nats_peer(const PeerAddress& address) { return std::make_unique<NatsPeer>(address); }

}  // namespace tafel::bench
