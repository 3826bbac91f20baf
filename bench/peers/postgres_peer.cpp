// PostgreSQL under the load: normalised rows (boards, elements, fields, log) and NOTIFY, changed by one function call,
// which is one transaction. Writers of a board queue on an advisory lock: of the serial variants that was the fastest.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "bench/load/descriptors.hpp"
#include "bench/peers/postgres_connection.hpp"

namespace tafel::bench {
namespace {

constexpr const char* statement_name = "apply";
constexpr std::string_view channel_prefix = "board_";

constexpr const char* schema = R"(
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
CREATE TABLE bench.boards (board int PRIMARY KEY, version bigint NOT NULL);
CREATE TABLE bench.elements (board int, name text, PRIMARY KEY (board, name));
CREATE TABLE bench.fields (board int, path text, value text NOT NULL, PRIMARY KEY (board, path));
CREATE TABLE bench.log (board int, version bigint, change text NOT NULL, PRIMARY KEY (board, version));
CREATE FUNCTION bench.apply(the_board int, number text, added text, removed text, the_path text, the_value text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  new_version bigint;
  change text;
BEGIN
  PERFORM pg_advisory_xact_lock(the_board);
  UPDATE bench.boards SET version = version + 1 WHERE board = the_board RETURNING version INTO new_version;
  INSERT INTO bench.elements VALUES (the_board, added) ON CONFLICT DO NOTHING;
  DELETE FROM bench.elements WHERE board = the_board AND name = removed;
  INSERT INTO bench.fields VALUES (the_board, the_path, the_value)
    ON CONFLICT (board, path) DO UPDATE SET value = excluded.value;
  change := number || ' ' || new_version || ' +' || added || ' -' || removed || ' ' || the_path || '=' || the_value;
  INSERT INTO bench.log VALUES (the_board, new_version, change);
  PERFORM pg_notify('board_' || the_board, change);
  RETURN new_version;
END $$;
)";

class PostgresPeer final : public Peer {
 public:
  explicit PostgresPeer(PeerAddress address) : address_(std::move(address)) {}

  std::string name() const override { return "postgres"; }

  Result<void> prepare(const Shape& shape, std::uint64_t elements) override {
    auto connection = PostgresConnection::connect(address_);
    if (!connection) return tl::unexpected(connection.error());
    control_ = std::move(*connection);
    boards_ = shape.boards;
    if (auto made = control_->run(schema); !made) return tl::unexpected(made.error());
    const auto filled = control_->run(
        fmt::format("INSERT INTO bench.boards SELECT b, 0 FROM generate_series(0, {}) b;"
                    "INSERT INTO bench.elements SELECT b, '{}' || lpad(i::text, 10, '0')"
                    " FROM generate_series(0, {}) b, generate_series(0::bigint, {}) i;",
                    boards_ - 1, element_name(0).substr(0, 2), boards_ - 1, static_cast<std::int64_t>(elements) - 1));
    if (!filled) return tl::unexpected(filled.error());
    if (auto tidied = control_->run("VACUUM ANALYZE bench.elements"); !tidied) return tl::unexpected(tidied.error());
    if (auto forced = control_->run("CHECKPOINT"); !forced) return tl::unexpected(forced.error());
    return {};
  }

  Result<void> start_agents(std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto connection = PostgresConnection::connect(address_);
      if (!connection) return tl::unexpected(connection.error());
      const PgResult prepared(PQprepare((*connection)->get(), statement_name,
                                        "SELECT bench.apply($1::int, $2, $3, $4, $5, $6)", 6, nullptr));
      if (PQresultStatus(prepared.get()) != PGRES_COMMAND_OK) return tl::unexpected((*connection)->failure());
      if (auto begun = (*connection)->begin_pipeline(); !begun) return begun;
      if (!agent_descriptors_.add((*connection)->descriptor(), i)) return fail(Fault::io, "no room for an agent");
      agents_.push_back({std::move(*connection)});
    }
    return {};
  }

  Result<void> start_subscribers(std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto connection = PostgresConnection::connect(address_);
      if (!connection) return tl::unexpected(connection.error());
      for (std::size_t board = 0; board < boards_; ++board) {
        auto listens = (*connection)->run(fmt::format("LISTEN {}{}", channel_prefix, board));
        if (!listens) return tl::unexpected(listens.error());
      }
      if (!subscriber_descriptors_.add((*connection)->descriptor(), i)) {
        return fail(Fault::io, "no room for a subscriber");
      }
      subscribers_.push_back(std::move(*connection));
    }
    return {};
  }

  void submit(std::size_t number, const Update& update) override {
    Agent& agent = agents_[number];
    const std::array<std::string, 6> words{std::to_string(number % boards_), std::to_string(update.number),
                                           std::string(update.add),          std::string(update.remove),
                                           std::string(update.field),        std::string(update.value)};
    std::array<const char*, 6> values{};
    for (std::size_t i = 0; i < words.size(); ++i) values[i] = words[i].c_str();
    PGconn* connection = agent.connection->get();
    agent.is_broken |= PQsendQueryPrepared(connection, statement_name, 6, values.data(), nullptr, nullptr, 0) != 1;
    agent.is_broken |= PQpipelineSync(connection) != 1;  // ends the transaction
    ++agent.awaited;
    if (!std::exchange(agent.is_unsent, true)) unsent_.push_back(number);
  }

  Result<void> flush() override {
    for (const std::size_t number : unsent_) {
      agents_[number].is_unsent = false;
      if (auto sent = send(number); !sent) return sent;
    }
    unsent_.clear();
    return {};
  }

  Result<void> poll_acks(std::chrono::milliseconds wait, std::vector<Ack>& acks) override {
    for (const std::size_t number : agent_descriptors_.ready(wait)) {
      Agent& agent = agents_[number];
      if (PQconsumeInput(agent.connection->get()) != 1) return tl::unexpected(agent.connection->failure());
      take_results(number, acks);
      if (auto sent = send(number); !sent) return sent;
    }
    return {};
  }

  Result<void> poll_deliveries(std::chrono::milliseconds wait, std::vector<Delivery>& deliveries) override {
    for (const std::size_t subscriber : subscriber_descriptors_.ready(wait)) {
      PGconn* connection = subscribers_[subscriber]->get();
      if (PQconsumeInput(connection) != 1) return tl::unexpected(subscribers_[subscriber]->failure());
      while (PGnotify* notice = PQnotifies(connection)) {
        deliveries.push_back(delivery_of(subscriber, notice->relname, notice->extra));
        PQfreemem(notice);
      }
    }
    return {};
  }

  Result<std::uint64_t> versions() override {
    const auto sum = control_->run("SELECT sum(version) FROM bench.boards");
    if (!sum) return tl::unexpected(sum.error());
    std::uint64_t versions = 0;
    std::from_chars(sum->data(), sum->data() + sum->size(), versions);
    return versions;
  }

 private:
  struct Agent {
    std::unique_ptr<PostgresConnection> connection;
    std::size_t awaited = 0;  // transactions without an end yet
    bool is_refused = false;  // the one whose end comes next
    bool is_unsent = false;
    bool wants_room = false;
    bool is_broken = false;
  };

  Result<void> send(std::size_t number) {
    Agent& agent = agents_[number];
    const int left = PQflush(agent.connection->get());
    if (left < 0 || agent.is_broken) return tl::unexpected(agent.connection->failure());
    if (std::exchange(agent.wants_room, left > 0) != (left > 0)) {
      agent_descriptors_.want_room(agent.connection->descriptor(), number, left > 0);
    }
    return {};
  }

  // Of each update come a row or an error, nothing (null), and the end of its transaction.
  void take_results(std::size_t number, std::vector<Ack>& acks) {
    Agent& agent = agents_[number];
    while (agent.awaited > 0 && PQisBusy(agent.connection->get()) == 0) {
      const PgResult result(PQgetResult(agent.connection->get()));
      if (!result) continue;
      const ExecStatusType status = PQresultStatus(result.get());
      if (status == PGRES_PIPELINE_SYNC) {
        acks.push_back({number, !agent.is_refused, agent.is_refused});
        agent.is_refused = false;
        --agent.awaited;
      } else if (status != PGRES_TUPLES_OK) {
        agent.is_refused = true;
      }
    }
  }

  static Delivery delivery_of(std::size_t subscriber, std::string_view channel, std::string_view change) {
    Delivery delivery;
    delivery.subscriber = subscriber;
    std::from_chars(channel.data() + channel_prefix.size(), channel.data() + channel.size(), delivery.board);
    const char* end = change.data() + change.size();
    const char* at = std::from_chars(change.data(), end, delivery.number).ptr;
    if (at != end) std::from_chars(at + 1, end, delivery.version);
    return delivery;
  }

  const PeerAddress address_;
  std::size_t boards_ = 1;
  std::unique_ptr<PostgresConnection> control_;
  std::vector<Agent> agents_;
  std::vector<std::unique_ptr<PostgresConnection>> subscribers_;
  std::vector<std::size_t> unsent_;
  Descriptors agent_descriptors_;
  Descriptors subscriber_descriptors_;
};

}  // namespace

std::unique_ptr<Peer> make_postgres_peer(const PeerAddress& address) { return std::make_unique<PostgresPeer>(address); }

}  // namespace tafel::bench
