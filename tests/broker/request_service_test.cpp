// The request endpoint without sockets: messages in, messages out.
#include "broker/request_service.hpp"

#include <gtest/gtest.h>

#include <map>

#include "broker/feed_service.hpp"
#include "broker/query_service.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/msgpack.hpp"
#include "tests/broker/rig.hpp"

namespace tafel {
namespace {

using broker::Inbound;
using broker::RequestService;
using testing::hello;
using testing::inbound;
using testing::json;
using testing::Rig;

codec::Welcome welcome() {
  codec::Welcome made;
  made.server = "tafeld test";
  made.epoch = "e1";
  made.request_bytes_max = limits::request_bytes_max;
  made.heartbeat_ms = 1000;
  return made;
}

Value with_board(std::string_view text, const std::string& board = testing::board) {
  Value delta = json(text);
  delta.set("board", board);
  return delta;
}

Inbound submit(const std::string& peer, std::uint64_t id, List deltas) {
  return inbound(peer, codec::message::submit, id, std::move(deltas));
}

class Service {
 public:
  std::vector<codec::Message> take(const std::vector<Inbound>& messages) {
    turn = service.handle(messages, rig.now, steady_ms);
    std::vector<codec::Message> answers;
    for (const auto& answer : turn.answers) {
      auto decoded = codec::decode_message(answer.bytes);
      EXPECT_TRUE(decoded.has_value());
      if (decoded) answers.push_back(std::move(*decoded));
    }
    return answers;
  }
  codec::Message take_one(const Inbound& message) {
    auto answers = take({message});
    EXPECT_EQ(answers.size(), 1U);
    return answers.empty() ? codec::Message() : answers.front();
  }

  Rig rig;
  std::int64_t steady_ms = 0;
  RequestService service{rig.pipeline(), welcome()};
  RequestService::Turn turn;
};

TEST(RequestService, WelcomesAndTellsWhereTheOthersAre) {
  Service service;
  const auto answer = service.take_one(hello("p", "analyst", 5));
  EXPECT_EQ(answer.type, codec::message::welcome);
  EXPECT_EQ(answer.id, 5U);
  const auto read = codec::welcome_from_value(answer.body);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->epoch, "e1");
  EXPECT_EQ(read->request_bytes_max, limits::request_bytes_max);
}

TEST(RequestService, BindsTheActorToTheConnection) {
  Service service;
  service.take_one(hello("p", "analyst"));
  EXPECT_EQ(service.take_one(hello("p", "analyst")).type, codec::message::welcome);
  EXPECT_EQ(testing::error_code_in(service.take_one(hello("p", "booker"))), "forbidden");
  service.take_one(submit("p", 2, {with_board(R"({"set": {"a": 1}})")}));
  ASSERT_EQ(service.turn.events.size(), 1U);
  EXPECT_EQ(service.turn.events[0]->actor, "analyst");
}

TEST(RequestService, RefusesHellosThatItCanNotServe) {
  Service service;
  EXPECT_EQ(testing::error_code_in(service.take_one(hello("p", ""))), "bad_value");
  EXPECT_EQ(testing::error_code_in(service.take_one(hello("p", "a\x01"))), "bad_request");
  EXPECT_EQ(testing::error_code_in(service.take_one(hello("p", "system"))), "forbidden");
  codec::Hello newer;
  newer.actor = "analyst";
  newer.protocol = 2;
  EXPECT_EQ(testing::error_code_in(service.take_one(inbound("p", "hello", 1, codec::to_value(newer)))), "bad_request");
  EXPECT_EQ(testing::error_code_in(service.take_one(inbound("p", "hello", 1, Value(7)))), "bad_request");
}

TEST(RequestService, WantsAHelloFirst) {
  Service service;
  const auto answer = service.take_one(submit("p", 9, {with_board(R"({"set": {"a": 1}})")}));
  EXPECT_EQ(testing::error_code_in(answer), "no_session");
  EXPECT_EQ(answer.id, 9U);
  EXPECT_EQ(testing::error_code_in(service.take_one(inbound("p", "ping", 2, Value()))), "no_session");
  EXPECT_TRUE(testing::value_in(service.rig.store(), "a").is_nil());
}

TEST(RequestService, ForgetsPeersThatWereSilentForLong) {
  Service service;
  service.take_one(hello("p", "analyst"));
  service.steady_ms += limits::session_idle_ms;
  service.service.tick(service.steady_ms);
  EXPECT_EQ(service.take_one(inbound("p", "ping", 2, Value())).type, codec::message::pong);
  service.steady_ms += limits::session_idle_ms + 1;
  service.service.tick(service.steady_ms);
  EXPECT_EQ(testing::error_code_in(service.take_one(inbound("p", "ping", 3, Value()))), "no_session");
}

TEST(RequestService, MakesRoomForNewPeersFromSilentOnesOnly) {
  Service service;
  for (std::size_t i = 0; i < limits::sessions_max; ++i) service.take({hello("p" + std::to_string(i), "analyst")});
  EXPECT_EQ(testing::error_code_in(service.take_one(hello("late", "booker"))), "busy");
  service.steady_ms += limits::session_idle_crowded_ms + 1;
  EXPECT_EQ(service.take_one(hello("late", "booker")).type, codec::message::welcome);
}

TEST(RequestService, AnswersRubbishWithTheIdWhereThatCanBeRead) {
  Service service;
  service.take_one(hello("p", "analyst"));
  const std::string garbage("\xC1\x00\xFF", 3);
  auto answer = service.take_one({"p", garbage});
  EXPECT_EQ(testing::error_code_in(answer), "bad_request");
  EXPECT_EQ(answer.id, 0U);
  answer = service.take_one({"p", codec::encode(List{Value(7), Value(42)})});
  EXPECT_EQ(testing::error_code_in(answer), "bad_request");
  EXPECT_EQ(answer.id, 42U);
  EXPECT_EQ(testing::error_code_in(service.take_one(inbound("p", "submit", 1, Value("no list")))), "bad_request");
  EXPECT_EQ(testing::error_code_in(service.take_one(inbound("p", "query", 1, Value()))), "bad_request");
  EXPECT_EQ(service.service.stats().bad_messages, 4U);
}

TEST(RequestService, ABadDeltaGetsItsOwnReceiptAndKillsNoOther) {
  Service service;
  service.take_one(hello("p", "analyst"));
  const auto answer = service.take_one(
      submit("p", 3,
             {with_board(R"({"id": "d1", "set": {"a": 1}})"), with_board(R"({"id": "d2", "sett": {"a": 2}})"), Value(7),
              with_board(R"({"id": "d3", "set": {"b": 2}})")}));
  const auto receipts = testing::receipts_in(answer);
  ASSERT_EQ(receipts.size(), 4U);
  EXPECT_EQ(receipts[0].version, 1U);
  ASSERT_TRUE(receipts[1].error.has_value());
  EXPECT_EQ(receipts[1].error->code, ErrorCode::bad_value);
  EXPECT_EQ(receipts[1].id, "d2");
  EXPECT_TRUE(receipts[2].error.has_value());
  EXPECT_EQ(receipts[3].version, 2U);
  EXPECT_EQ(receipts[3].id, "d3");
}

TEST(RequestService, AnswersASubmitOfNothing) {
  Service service;
  service.take_one(hello("p", "analyst"));
  EXPECT_TRUE(testing::receipts_in(service.take_one(submit("p", 4, {}))).empty());
}

TEST(RequestService, CommitsOnceForEverybodyWhoWaits) {
  Service service;
  service.take({hello("p", "analyst"), hello("q", "booker")});
  const auto answers =
      service.take({submit("p", 1, {with_board(R"({"incr": {"n": 1}})"), with_board(R"({"incr": {"n": 1}})")}),
                    submit("q", 1, {with_board(R"({"incr": {"n": 1}})")})});
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(testing::receipts_in(answers[0]).at(1).version, 2U);
  EXPECT_EQ(testing::receipts_in(answers[1]).at(0).version, 3U);
  EXPECT_EQ(service.turn.answers[1].peer, "q");
  EXPECT_EQ(service.service.stats().commits, 1U);
}

TEST(RequestService, SplitsTurnsIntoBatchesOfBoundedSize) {
  Service service;
  service.take_one(hello("p", "analyst"));
  std::vector<Inbound> messages;
  for (std::uint64_t i = 1; i <= 2 * limits::batch_deltas_max + 1; ++i) {
    messages.push_back(submit("p", i, {with_board(R"({"incr": {"n": 1}})")}));
  }
  const auto answers = service.take(messages);
  ASSERT_EQ(answers.size(), messages.size());
  EXPECT_EQ(answers.back().id, messages.size());
  EXPECT_EQ(service.service.stats().commits, 3U);
}

TEST(RequestService, AnswersOnlyAfterTheCommit_O11) {
  Service service;
  service.take({hello("p", "analyst"), hello("q", "booker")});
  store::fail_commit(*service.rig.disk, 1, Fault::io);
  const auto answers = service.take({submit("p", 1, {with_board(R"({"id": "d1", "incr": {"n": 1}})")}),
                                     submit("q", 1, {with_board(R"({"id": "d2", "incr": {"n": 1}})")})});
  EXPECT_TRUE(answers.empty());
  EXPECT_TRUE(service.turn.events.empty());
  ASSERT_TRUE(service.turn.fatal.has_value());
  EXPECT_EQ(service.turn.fatal->fault, Fault::io);
  service.rig.reopen();
  EXPECT_TRUE(testing::value_in(service.rig.store(), "n").is_nil());
}

TEST(RequestService, StillAnswersTheBatchBeforeAFailure) {
  Service service;
  service.take_one(hello("p", "analyst"));
  store::fail_commit(*service.rig.disk, 2, Fault::io);
  std::vector<Inbound> messages;
  for (std::uint64_t i = 1; i <= limits::batch_deltas_max + 1; ++i) {
    messages.push_back(submit("p", i, {with_board(R"({"incr": {"n": 1}})")}));
  }
  EXPECT_EQ(service.take(messages).size(), limits::batch_deltas_max);
  EXPECT_TRUE(service.turn.fatal.has_value());
}

TEST(RequestService, SplitsLargeReceiptsOverMessagesOfOneId) {
  Service service;
  service.take_one(hello("p", "analyst"));
  Value large = with_board(R"({"set": {}})");
  large.set("set", Map{{"x", Value(std::string(30'000, 'x'))}});
  service.take({submit("p", 1, {with_board(R"({"set": {"x": "small"}})")}), submit("p", 2, {large})});
  List echoes;  // each is overtaken, so its receipt shows the large value
  for (int i = 0; i < 100; ++i)
    echoes.push_back(with_board(R"({"base": 1, "id": "e)" + std::to_string(i) + R"(", "set": {"x": "small"}})"));
  const auto answers = service.take({submit("p", 3, echoes)});
  ASSERT_GT(answers.size(), 1U);
  std::size_t count = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].id, 3U);
    EXPECT_LT(service.turn.answers[i].bytes.size(), limits::receipts_bytes_max + 64);
    for (const Receipt& receipt : testing::receipts_in(answers[i]))
      EXPECT_EQ(receipt.id, "e" + std::to_string(count++));
  }
  EXPECT_EQ(count, 100U);
}

TEST(RequestService, AReceiptThatIsTooLargeLosesWhatCanBeReadAgain) {
  Service service;
  service.take_one(hello("p", "analyst"));
  Map small;
  for (int i = 0; i < 60; ++i) small.emplace_back("x" + std::to_string(i), Value("small"));
  Value first = with_board("{}");
  first.set("set", Value(small));
  service.take_one(submit("p", 1, {first}));
  for (int i = 0; i < 60; ++i) {
    Value large = with_board("{}");
    large.set("set", Map{{"x" + std::to_string(i), Value(std::string(30'000, 'x'))}});
    service.take_one(submit("p", 2, {large}));
  }
  Value echo = with_board(R"({"base": 1})");  // all of it is overtaken, so the receipt would show 1.8 MB
  echo.set("set", Value(small));
  const auto answer = service.take_one(submit("p", 3, {echo}));
  EXPECT_LT(service.turn.answers[0].bytes.size(), limits::receipts_bytes_max);
  const auto receipts = testing::receipts_in(answer);
  ASSERT_EQ(receipts.at(0).ops.size(), 60U);
  EXPECT_EQ(receipts[0].ops[0].reason, Reason::echo);
}

// The seams: every service runs in one thread on a fake clock and a memory store, joined by queues.
TEST(WholeBroker, RunsInOneThreadWithoutSockets) {
  Rig rig;
  RequestService requests(rig.pipeline(), welcome());
  broker::FeedService feed(rig.store(), rig.roles, welcome());
  broker::QueryService queries(rig.store(), rig.roles, welcome(), [] { return Value(Map{}); });
  std::vector<codec::FeedEvent> seen;
  bool room = true;
  const broker::Send send = [&](const broker::PeerId& peer, std::string_view bytes) {
    EXPECT_EQ(peer, "f");
    if (!room) return broker::SendResult::full;
    const auto message = codec::decode_message(bytes);
    EXPECT_TRUE(message.has_value());
    if (message && message->type == codec::message::events) {
      auto events = codec::events_from_value(message->body);
      EXPECT_TRUE(events.has_value());
      if (events) seen.insert(seen.end(), events->events.begin(), events->events.end());
    }
    return broker::SendResult::sent;
  };

  codec::Subscribe subscribe;
  subscribe.board = testing::board;
  requests.handle({hello("p", "analyst")}, rig.now, 0);
  feed.handle({hello("f", "booker"), inbound("f", codec::message::subscribe, 2, codec::to_value(subscribe))}, 0);
  queries.handle({hello("q", "cat")}, rig.now, 0);
  for (int round = 0; round < 50; ++round) {
    room = round % 10 < 7;  // the follower is stuck now and then
    rig.now += round == 25 ? -3'600'000 : 20;
    const auto turn = requests.handle(
        {submit("p", 1, {with_board(R"({"incr": {"n": 1}})"), with_board(R"({"incr": {"n": 1}})")})}, rig.now, round);
    ASSERT_FALSE(turn.fatal.has_value());
    feed.publish(turn.events, send);
    feed.catch_up(send);
  }
  room = true;
  for (int turns = 0; turns < 1'000 && seen.size() < 100; ++turns) feed.catch_up(send);

  ASSERT_EQ(seen.size(), 100U);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].version, i + 1);
  const auto answers = queries.handle(
      {inbound("q", codec::message::query, 3, json(R"({"what": "get", "board": "acme/trips/1", "path": "n"})"))},
      rig.now, 0);
  ASSERT_EQ(answers.size(), 1U);
  const auto answer = codec::decode_message(answers[0].bytes);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(*answer->body.find("value"), Value(100));
}

}  // namespace
}  // namespace tafel
