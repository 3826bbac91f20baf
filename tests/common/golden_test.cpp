// Golden byte vectors: the bytes of every message, cell and event, as other clients must write and read them. When the
// format is changed on purpose, run with TAFEL_WRITE_GOLDEN=1, and read the diff of tests/vectors/golden.json.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/base/text.hpp"
#include "common/codec/cell_codec.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/json.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/protocol.hpp"
#include "common/codec/receipt_codec.hpp"
#include "tests/common/cells.hpp"
#include "tests/common/support.hpp"

namespace tafel::codec {
namespace {

struct Sample {
  std::string name;
  std::string bytes;
};

constexpr const char* golden_file = TAFEL_VECTORS "/golden.json";

std::string message_bytes(std::string_view type, std::uint64_t id, Value body) {
  return encode_message({std::string(type), id, std::move(body)});
}

Welcome welcome() {
  Welcome made;
  made.server = "tafeld 0.1.0";
  made.epoch = "b3f1";
  made.query_endpoint = "tcp://127.0.0.1:7702";
  made.features = {"paths"};
  made.request_bytes_max = 65536;
  made.heartbeat_ms = 1000;
  return made;
}

Value delta() {
  return test::json(R"({"id": "01JD", "board": "acme/trips/42", "base": 17, "confidence": "inferred",
    "source": {"kind": "turn", "ref": "turn-5", "evidence": ["E-17"]},
    "ops": [{"op": "set", "path": "budget.max", "value": 15000.0}, {"op": "patch", "path": "countries", "add": ["UK"], "remove": ["SG"]},
            {"op": "incr", "path": "visits"}, {"op": "append", "path": "dialogue", "value": {"role": "user", "blob": {"$bytes": "AP8="}}}]})");
}

std::vector<Sample> message_samples() {
  const std::string feed = encode_feed_event(feed_event_of(test::sample_event()));
  ErrorInfo busy = test::error(ErrorCode::busy, "too much is waiting: send again later");
  busy.retryable = true;
  return {
      {"message hello", message_bytes(message::hello, 1, to_value(Hello{1, "planner", "tafel-cpp 0.1.0", {}}))},
      {"message welcome", message_bytes(message::welcome, 1, to_value(welcome()))},
      {"message submit", encode_submit_message(2, {encode(delta())})},
      {"message receipts", message_bytes(message::receipts, 2, List{receipt_to_value(test::sample_receipt())})},
      {"message query",
       message_bytes(message::query, 3, test::json(R"({"what": "get", "board": "acme/trips/42", "path": "budget"})"))},
      {"message answer",
       message_bytes(message::answer, 3, test::json(R"({"version": 13, "value": {"max": 15000.0}})"))},
      {"message subscribe", message_bytes(message::subscribe, 4, to_value(Subscribe{"acme/trips/42", 17, {"budget"}}))},
      {"message subscribed",
       message_bytes(message::subscribed, 4,
                     test::json(R"({"board": "acme/trips/42", "epoch": "b3f1", "head": 20, "from": 17})"))},
      {"message unsubscribe", message_bytes(message::unsubscribe, 5, test::json(R"({"board": "acme/trips/42"})"))},
      {"message unsubscribed", message_bytes(message::unsubscribed, 5, test::json(R"({"board": "acme/trips/42"})"))},
      {"message events", encode_events_message("acme/trips/42", {feed})},
      {"message live", message_bytes(message::live, 0, test::json(R"({"board": "acme/trips/42", "version": 20})"))},
      {"message resync", message_bytes(message::resync, 0, test::json(R"({"board": "acme/trips/42", "floor": 18})"))},
      {"message heartbeat", message_bytes(message::heartbeat, 0, test::json(R"({"heads": {"acme/trips/42": 20}})"))},
      {"message ping", message_bytes(message::ping, 6, Nil{})},
      {"message pong", message_bytes(message::pong, 6, Nil{})},
      {"message error", encode_message(error_message(7, busy))},
  };
}

template <class Write>
std::string written(Write write) {
  std::string bytes;
  PackWriter out(bytes);
  write(out);
  return bytes;
}

std::vector<Sample> cell_samples() {
  std::vector<Sample> samples;
  for (const Change& change : test::sample_changes()) {
    const std::string number = std::to_string(samples.size() / 2);
    samples.push_back({"key " + number, written([&](PackWriter& out) { write_cell_key(out, change.key); })});
    if (!change.image) continue;
    ExactSink values;
    samples.push_back({"cell " + number, written([&](PackWriter& out) { write_cell(out, *change.image, values); })});
  }
  samples.push_back(
      {"key of a field", written([](PackWriter& out) { write_cell_key(out, field_key(test::path("visa"))); })});
  samples.push_back({"key of the board", written([](PackWriter& out) { write_cell_key(out, board_key()); })});
  return samples;
}

std::vector<Sample> samples() {
  Event event = test::sample_event();
  event.hash = chain_hash(event);
  std::vector<Sample> all = message_samples();
  for (Sample& sample : cell_samples()) all.push_back(std::move(sample));
  all.push_back({"feed event", encode_feed_event(feed_event_of(event))});
  all.push_back({"event", encode_event(event)});
  return all;
}

Value to_golden(const std::vector<Sample>& all) {
  List list;
  for (const Sample& sample : all) {
    list.push_back(Map{{"name", sample.name}, {"value", *decode(sample.bytes)}, {"hex", to_hex(sample.bytes)}});
  }
  return list;
}

List golden() {
  std::stringstream text;
  text << std::ifstream(golden_file).rdbuf();
  const Value value = test::json(text.str());
  const auto* list = value.get_if<List>();
  return list == nullptr ? List{} : *list;
}

const std::string& text_of(const Value& sample, std::string_view member) {
  return *sample.find(member)->get_if<std::string>();
}

TEST(Golden, BytesAreWhatTheCodeWrites) {
  const auto all = samples();
  if (std::getenv("TAFEL_WRITE_GOLDEN") != nullptr) std::ofstream(golden_file) << to_json(to_golden(all), 1) << "\n";
  const List list = golden();
  ASSERT_EQ(list.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(text_of(list[i], "name"), all[i].name);
    EXPECT_EQ(text_of(list[i], "hex"), to_hex(all[i].bytes)) << all[i].name;
  }
}

TEST(Golden, ValuesAndBytesAreTheSameThing) {
  for (const Value& sample : golden()) {
    const std::string bytes = test::unhex(text_of(sample, "hex"));
    EXPECT_EQ(to_hex(encode(*sample.find("value"))), text_of(sample, "hex")) << text_of(sample, "name");
    EXPECT_TRUE(test::identical(*decode(bytes), *sample.find("value"))) << text_of(sample, "name");
  }
}

// Through the typed form and back.
std::string through_types(const std::string& name, const Value& value) {
  if (name.starts_with("key "))
    return written([&](PackWriter& out) { write_cell_key(out, *cell_key_from_value(value)); });
  ExactSink values;
  if (name.starts_with("cell "))
    return written([&](PackWriter& out) { write_cell(out, *cell_from_value(value), values); });
  if (name == "feed event") return encode_feed_event(*feed_event_from_value(value));
  if (name == "event") return encode_event(*decode_event(encode(value)));
  Message message = *decode_message(encode(value));
  if (message.type == message::hello) message.body = to_value(*hello_from_value(message.body));
  if (message.type == message::welcome) message.body = to_value(*welcome_from_value(message.body));
  if (message.type == message::subscribe) message.body = to_value(*subscribe_from_value(message.body));
  if (message.type == message::error) message.body = error_to_value(*error_from_value(message.body));
  if (message.type == message::receipts) {
    message.body = List{receipt_to_value(*receipt_from_value(message.body.get_if<List>()->front()))};
  }
  if (message.type == message::submit) {
    message.body = List{delta_to_value(*delta_from_value(message.body.get_if<List>()->front()))};
  }
  if (message.type == message::events) {
    const auto events = *events_from_value(message.body);
    return encode_events_message(events.board, {encode_feed_event(events.events[0])});
  }
  return encode_message(message);
}

TEST(Golden, BytesSurviveTheTypedForm) {
  for (const Value& sample : golden()) {
    const std::string& name = text_of(sample, "name");
    EXPECT_EQ(to_hex(through_types(name, *sample.find("value"))), text_of(sample, "hex")) << name;
  }
}

TEST(Golden, EventVerifies) {
  const Event event = *decode_event(test::unhex(text_of(golden().back(), "hex")));
  EXPECT_EQ(chain_hash(event), event.hash);
}

}  // namespace
}  // namespace tafel::codec
