// The server with its sockets, threads and LMDB, and clients that speak the protocol.
#include "broker/server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <zmq.hpp>

#include "blackboard/store/disk.hpp"
#include "broker/open_feed.hpp"
#include "broker/roles.hpp"
#include "common/codec/delta_codec.hpp"
#include "tests/broker/rig.hpp"
#include "tests/broker/wire_client.hpp"

namespace tafel {
namespace {

using testing::eventually;
using testing::json;
using testing::TemporaryDirectory;
using testing::WireClient;

broker::ServerOptions options_for(const TemporaryDirectory& folder) {
  broker::ServerOptions options;
  options.data = folder.path() / "data";
  options.listen = {"tcp://127.0.0.1:0"};
  options.heartbeat_ms = 50;
  return options;
}

std::unique_ptr<broker::Server> started(const broker::ServerOptions& options,
                                        std::shared_ptr<net::Context> context = nullptr) {
  auto server = broker::Server::start(options, std::move(context));
  if (!server) ADD_FAILURE() << server.error().message;
  return server ? std::move(*server) : nullptr;
}

Value set_delta(const std::string& id, const std::string& path, Value value) {
  return Map{{"id", id}, {"board", testing::board}, {"set", Map{{path, std::move(value)}}}};
}

Value incr_delta(const std::string& id) { return Map{{"id", id}, {"board", testing::board}, {"incr", Map{{"n", 1}}}}; }

Value ask(WireClient& client, std::string_view question) {
  client.send(codec::message::query, 7, json(question));
  const auto answer = client.receive(codec::message::answer);
  return answer ? answer->body : Value();
}

TEST(Server, AnswersRequestsQueriesAndFollowers) {
  const TemporaryDirectory folder;
  const auto server = started(options_for(folder));
  ASSERT_TRUE(server);
  net::Context context;
  WireClient requests(context, server->endpoints().request.front());
  const codec::Welcome welcome = requests.greet("analyst");
  EXPECT_EQ(welcome.epoch, server->epoch());
  EXPECT_EQ(welcome.query_endpoint, server->endpoints().query);
  EXPECT_EQ(welcome.heartbeat_ms, 50);

  WireClient feed(context, welcome.feed_endpoint);
  feed.greet("booker");
  codec::Subscribe subscribe;
  subscribe.board = testing::board;
  feed.send(codec::message::subscribe, 2, codec::to_value(subscribe));
  ASSERT_TRUE(feed.receive(codec::message::subscribed).has_value());

  const auto receipt = requests.submit(set_delta("d1", "budget.max", 15000));
  ASSERT_TRUE(receipt.has_value());
  EXPECT_EQ(receipt->version, 1U);
  const auto events = feed.receive(codec::message::events);
  ASSERT_TRUE(events.has_value());
  const auto read = codec::events_from_value(events->body);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->events.at(0).version, 1U);
  EXPECT_EQ(read->events.at(0).actor, "analyst");
  const auto heartbeat = feed.receive(codec::message::heartbeat);
  ASSERT_TRUE(heartbeat.has_value());
  EXPECT_EQ(*heartbeat->body.find("heads")->find(testing::board), Value(1));

  WireClient queries(context, welcome.query_endpoint);
  queries.greet("cat");
  EXPECT_EQ(*ask(queries, R"({"what": "get", "board": "acme/trips/1", "path": "budget.max"})").find("value"),
            Value(15000));
  const Value stat = ask(queries, R"({"what": "stat"})");
  EXPECT_TRUE(
      eventually([&] { return *ask(queries, R"({"what": "stat"})").find("requests")->find("applied") == Value(1); }));
  EXPECT_EQ(*stat.find("epoch"), Value(server->epoch()));
  EXPECT_TRUE(server->stop().has_value());
}

TEST(Server, KeepsEverythingOverARestart_O15) {
  const TemporaryDirectory folder;
  net::Context context;
  std::string epoch;
  for (int life = 0; life < 3; ++life) {
    const auto server = started(options_for(folder));
    ASSERT_TRUE(server);
    EXPECT_TRUE(life == 0 || server->epoch() == epoch);
    epoch = server->epoch();
    WireClient client(context, server->endpoints().request.front());
    client.greet("analyst");
    const auto receipt = client.submit(incr_delta("the same"));
    ASSERT_TRUE(receipt.has_value());
    EXPECT_EQ(receipt->duplicate, life > 0);
    EXPECT_EQ(receipt->version, 1U);
  }
}

TEST(Server, ASecondServerOnTheSameDataIsLockedOut) {
  const TemporaryDirectory folder;
  const auto first = started(options_for(folder));
  ASSERT_TRUE(first);
  const auto second = broker::Server::start(options_for(folder));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().fault, Fault::locked);
  EXPECT_TRUE(first->stop().has_value());
  EXPECT_TRUE(broker::Server::start(options_for(folder)).has_value());
}

TEST(Server, ASecondServerOnTheSameSocketIsLockedOut) {
  const TemporaryDirectory folder;
  broker::ServerOptions options = options_for(folder);
  options.listen = {"ipc://" + (folder.path() / "socket").string()};
  const auto first = started(options);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->endpoints().query, options.listen.front() + "-query");
  options.data = folder.path() / "other";
  const auto second = broker::Server::start(options);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().fault, Fault::locked);
}

TEST(Server, BindsNothingThatStrangersCanReach) {
  const TemporaryDirectory folder;
  for (const char* endpoint : {"tcp://0.0.0.0:0", "tcp://*:0", "inproc://x"}) {
    for (std::string broker::ServerOptions::*place :
         {&broker::ServerOptions::query_listen, &broker::ServerOptions::feed_listen,
          &broker::ServerOptions::open_feed_listen}) {
      broker::ServerOptions options = options_for(folder);
      options.*place = endpoint;
      const auto server = broker::Server::start(options);
      ASSERT_FALSE(server.has_value()) << endpoint;
      EXPECT_EQ(server.error().fault, Fault::bad_config);
    }
    broker::ServerOptions options = options_for(folder);
    options.listen.emplace_back(endpoint);
    EXPECT_FALSE(broker::Server::start(options).has_value()) << endpoint;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "data"));  // refused before anything was made
}

TEST(Server, ListensOnSeveralKindsAtOnce) {
  const TemporaryDirectory folder;
  broker::ServerOptions options = options_for(folder);
  options.listen = {"inproc://embedded", "ipc://" + (folder.path() / "s").string(), "tcp://localhost:0"};
  options.allow_inproc = true;
  const auto context = std::make_shared<net::Context>();
  const auto server = started(options, context);
  ASSERT_TRUE(server);
  EXPECT_TRUE(server->endpoints().query.starts_with("ipc://"));  // what other processes can reach as well
  int number = 0;
  for (const std::string& endpoint : server->endpoints().request) {
    WireClient client(*context, endpoint);
    const codec::Welcome welcome = client.greet("analyst");
    ASSERT_TRUE(client.submit(incr_delta("d" + std::to_string(++number))).has_value()) << endpoint;
    WireClient queries(*context, welcome.query_endpoint);
    queries.greet("analyst");
    EXPECT_EQ(*ask(queries, R"({"what": "get", "board": "acme/trips/1", "path": "n"})").find("value"), Value(number));
  }
}

TEST(Server, ChecksRolesOnEveryPath) {
  const TemporaryDirectory folder;
  broker::ServerOptions options = options_for(folder);
  options.roles =
      *broker::read_roles(R"({"roles": {"owner": [{"ops": ["*"]}]}, "actors": {"analyst": ["owner"]}})", "test");
  const auto server = started(options);
  ASSERT_TRUE(server);
  net::Context context;
  WireClient client(context, server->endpoints().request.front());
  const codec::Welcome welcome = client.greet("eve");
  const auto receipt = client.submit(set_delta("d", "a", 1));
  ASSERT_TRUE(receipt && receipt->error);
  EXPECT_EQ(receipt->error->code, ErrorCode::forbidden);
  WireClient queries(context, welcome.query_endpoint);
  queries.greet("eve");
  queries.send(codec::message::query, 7, json(R"({"what": "get", "board": "acme/trips/1"})"));
  const auto answer = queries.receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(testing::error_code_in(*answer), "forbidden");
  WireClient feed(context, welcome.feed_endpoint);
  feed.greet("eve");
  codec::Subscribe subscribe;
  subscribe.board = testing::board;
  feed.send(codec::message::subscribe, 2, codec::to_value(subscribe));
  const auto refused = feed.receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(testing::error_code_in(*refused), "forbidden");
}

TEST(Server, TheOpenFeedCarriesWhatEverybodyMayRead) {
  const TemporaryDirectory folder;
  broker::ServerOptions options = options_for(folder);
  options.open_feed_listen = "tcp://127.0.0.1:0";
  options.roles =
      *broker::read_roles(R"({"roles": {"all": [{"ops": ["*"]}], "news": [{"boards": "acme/news", "ops": ["read"]}]},
      "actors": {"analyst": ["all"], "*": ["news"]}})",
                          "test");
  const auto server = started(options);
  ASSERT_TRUE(server);
  zmq::context_t other;
  zmq::socket_t subscriber(other, zmq::socket_type::sub);
  subscriber.set(zmq::sockopt::subscribe, "");
  subscriber.connect(server->endpoints().open_feed);
  net::Context context;
  WireClient client(context, server->endpoints().request.front());
  client.greet("analyst");
  int sent = 0;
  zmq::message_t topic;
  ASSERT_TRUE(eventually([&] {
    for (const char* board : {"acme/secret", "acme/news"}) {
      client.submit(Map{{"board", board}, {"incr", Map{{"n", 1}}}});
    }
    ++sent;
    return subscriber.recv(topic, zmq::recv_flags::dontwait).has_value();
  }));
  std::string types;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(topic.to_string(), broker::open_feed_topic("acme/news"));
    EXPECT_EQ(topic.size(), 24U);
    zmq::message_t payload;
    ASSERT_TRUE(subscriber.recv(payload).has_value());
    const auto message = codec::decode_message(payload.to_string_view());
    ASSERT_TRUE(message.has_value());
    types += message->type + " ";
    if (message->type == codec::message::events) {
      EXPECT_EQ(codec::events_from_value(message->body)->board, "acme/news");
    }
    ASSERT_TRUE(subscriber.recv(topic).has_value());  // at the latest the next heartbeat
  }
  EXPECT_NE(types.find("heartbeat"), std::string::npos);
}

TEST(Server, AcknowledgesNothingThatAStopLoses) {
  const TemporaryDirectory folder;
  net::Context context;
  auto server = started(options_for(folder));
  ASSERT_TRUE(server);
  const std::string endpoint = server->endpoints().request.front();
  std::atomic<bool> stopping{false};
  std::atomic<std::int64_t> acknowledged{0};
  std::atomic<std::int64_t> sent{0};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      WireClient client(context, endpoint);
      client.greet("writer-" + std::to_string(writer));
      std::uint64_t waiting = 0;
      for (std::uint64_t id = 1; !stopping; ++id) {
        const Value delta = incr_delta(std::to_string(writer) + "-" + std::to_string(id));
        if (client.try_send(codec::encode_message({"submit", id, List{delta}}))) ++sent, ++waiting;
        while (waiting > 8 && !stopping) {
          if (client.receive(std::chrono::milliseconds(10))) ++acknowledged, --waiting;
        }
      }
      while (waiting > 0 && client.receive(std::chrono::milliseconds(500))) ++acknowledged, --waiting;
    });
  }
  EXPECT_TRUE(eventually([&] { return acknowledged > 200; }));
  EXPECT_TRUE(server->stop().has_value());
  stopping = true;
  for (std::thread& writer : writers) writer.join();

  SystemRandom random;
  store::LmdbOptions disk;
  disk.directory = folder.path() / "data";
  auto kv = store::open_disk(disk, random);
  ASSERT_TRUE(kv.has_value()) << kv.error().message;
  auto opened = store::Store::open(std::move(*kv), random);
  ASSERT_TRUE(opened.has_value());
  const auto stored = testing::value_in(**opened, "n").as_int64();
  ASSERT_TRUE(stored.has_value());
  EXPECT_GE(*stored, acknowledged.load());
  EXPECT_LE(*stored, sent.load());
}

TEST(Server, StopsOnceHoweverManyAsk) {
  const TemporaryDirectory folder;
  const auto server = started(options_for(folder));
  ASSERT_TRUE(server);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] { EXPECT_TRUE(i % 2 == 0 ? server->stop().has_value() : server->wait().has_value()); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(server->stop().has_value());
  EXPECT_FALSE(server->epoch().empty());
  EXPECT_FALSE(server->endpoints().request.empty());
}

TEST(Server, RacersForOneLockAreJudgedInOrderOfCommit_O07) {
  const TemporaryDirectory folder;
  const auto server = started(options_for(folder));
  ASSERT_TRUE(server);
  constexpr int racers = 8;
  constexpr int rounds = 20;
  std::vector<std::atomic<int>> winners(rounds);
  std::vector<std::thread> threads;
  for (int racer = 0; racer < racers; ++racer) {
    threads.emplace_back([&, racer] {
      net::Context context;
      WireClient client(context, server->endpoints().request.front());
      client.greet("racer-" + std::to_string(racer));
      for (int round = 0; round < rounds; ++round) {
        const std::string lock = "lock" + std::to_string(round);
        const Value delta = Map{{"board", testing::board},
                                {"expect", Map{{"fields", Map{{lock, 0}}}}},
                                {"set", Map{{lock, "racer-" + std::to_string(racer)}}}};
        const auto receipt = client.submit(delta);
        ASSERT_TRUE(receipt.has_value());
        if (!receipt->error) ++winners[static_cast<std::size_t>(round)];
        EXPECT_TRUE(!receipt->error || receipt->error->code == ErrorCode::stale);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& winner : winners) EXPECT_EQ(winner, 1);
}

}  // namespace
}  // namespace tafel
