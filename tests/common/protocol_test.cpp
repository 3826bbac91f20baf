#include "common/codec/protocol.hpp"

#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "common/codec/json.hpp"
#include "common/codec/receipt_codec.hpp"
#include "tests/common/cells.hpp"
#include "tests/common/support.hpp"

namespace tafel::codec {
namespace {

using test::json;

TEST(Message, ReadsBackWhatItWrote) {
  const Message message{"query", UINT64_MAX, json(R"({"what": "get", "path": "a"})")};
  const auto read = decode_message(encode_message(message));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->type, message.type);
  EXPECT_EQ(read->id, message.id);
  EXPECT_EQ(read->body, message.body);
}

TEST(Message, IsRefusedWhenItIsNoMessage) {
  for (const char* text :
       {"[]", "5", R"(["ping", 1])", R"(["ping", 1, null, null])", R"([1, 1, null])", R"(["ping", -1, null])",
        R"(["ping", "1", null])", R"({"type": "ping"})", R"(["a type of more than thirty-two bytes", 1, null])"}) {
    const auto message = decode_message(encode(json(text)));
    ASSERT_FALSE(message) << text;
    EXPECT_FALSE(message.error().message.empty());
  }
  EXPECT_FALSE(decode_message(""));
}

TEST(Message, OfAnAnswerMayHoldMoreThanOneOfARequest) {
  const std::string bytes = encode_message({"answer", 1, List(limits::message_objects_max, Value(1))});
  EXPECT_FALSE(decode_message(bytes));
  EXPECT_TRUE(decode_message(bytes, answer_limits));
}

TEST(Hello, GoesBothWaysAndChecksItsNames) {
  const Hello hello{1, "planner", "tafel-cpp 0.1.0", {"paths"}};
  const auto read = hello_from_value(to_value(hello));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_value(*read), to_value(hello));
  EXPECT_TRUE(hello_from_value(json(R"({"protocol": 1, "future": true})")));
  for (const char* text :
       {"{}", "[]", R"({"protocol": "1"})", R"({"protocol": 1, "actor": "a\u0000"})", R"({"protocol": 1, "actor": 5})",
        R"({"protocol": 1, "features": [1]})", R"({"protocol": 1, "features": "x"})"}) {
    EXPECT_FALSE(hello_from_value(json(text))) << text;
  }
  EXPECT_FALSE(hello_from_value(Map{{"protocol", 1}, {"features", List(65, Value("x"))}}));
}

TEST(Welcome, GoesBothWays) {
  Welcome welcome;
  welcome.server = "tafeld 0.1.0";
  welcome.epoch = "b3f1";
  welcome.query_endpoint = "tcp://a:1";
  welcome.features = {"a", "b"};
  welcome.request_bytes_max = limits::request_bytes_max;
  welcome.heartbeat_ms = 1000;
  const auto read = welcome_from_value(to_value(welcome));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_value(*read), to_value(welcome));
  EXPECT_FALSE(welcome_from_value(json(R"({"protocol": 1})")));
}

TEST(Subscribe, GoesBothWaysAndChecksItsNames) {
  const Subscribe subscribe{"acme/trips", 17, {"budget", R"(odd\.name)"}};
  EXPECT_EQ(to_value(*subscribe_from_value(to_value(subscribe))), to_value(subscribe));
  EXPECT_EQ(to_json(to_value(Subscribe{"b", 0, {}})), R"({"board":"b","from":0})");
  for (const char* text :
       {R"({"board": "a//b", "from": 0})", R"({"board": "a"})", R"({"board": "a", "from": -1})",
        R"({"board": "a", "from": 0, "paths": ["a..b"]})", R"({"board": "a", "from": 0, "paths": [1]})"}) {
    EXPECT_FALSE(subscribe_from_value(json(text))) << text;
  }
  const Subscribe many{"b", 0, std::vector<std::string>(limits::subscription_paths_max + 1, "a")};
  EXPECT_FALSE(subscribe_from_value(to_value(many)));
}

TEST(EventsMessage, IsMadeOfEventsThatAreEncodedAlready) {
  const std::string event = encode_feed_event(feed_event_of(test::sample_event()));
  const auto message = decode_message(encode_events_message("acme/trips/42", {event, event}));
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->type, message::events);
  EXPECT_EQ(message->id, 0U);
  const auto events = events_from_value(message->body);
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(events->board, "acme/trips/42");
  ASSERT_EQ(events->events.size(), 2U);
  EXPECT_EQ(encode_feed_event(events->events[1]), event);
  EXPECT_FALSE(events_from_value(json(R"({"board": "a", "events": [[1]]})")));
}

TEST(SubmitMessage, IsMadeOfDeltasThatAreEncodedAlready) {
  const Value delta = json(R"({"ops": []})");
  const auto message = decode_message(encode_submit_message(7, {encode(delta), encode(delta)}));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, message::submit);
  EXPECT_EQ(message->id, 7U);
  EXPECT_EQ(message->body, Value(List{delta, delta}));
}

TEST(ErrorMessage, CarriesTheError) {
  const Message message = error_message(9, test::error(ErrorCode::no_session, "say hello first"));
  EXPECT_EQ(message.type, message::error);
  EXPECT_EQ(error_from_value(message.body)->code, ErrorCode::no_session);
}

}  // namespace
}  // namespace tafel::codec
