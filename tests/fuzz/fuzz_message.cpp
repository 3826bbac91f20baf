// Bytes that claim to be a message of the protocol, and its body as every type that has a form of its own.
#include "common/codec/cell_codec.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/protocol.hpp"
#include "common/codec/receipt_codec.hpp"
#include "tests/fuzz/invariant.hpp"

namespace {

using namespace tafel;

// Reads a body, writes it and reads it again: the two readings are the same.
template <class T>
void check_body(const Value& body, Result<T> (*read)(const Value&), Value (*write)(const T&)) {
  const auto first = read(body);
  if (!first) return fuzz::check_message(first.error().message);
  const Value written = write(*first);
  const auto second = read(written);
  TAFEL_CHECK(second && fuzz::identical(write(*second), written), "a body is read back as itself");
}

void check_items(const Value& body) {
  const auto* list = body.get_if<List>();
  if (list == nullptr) return;
  for (const Value& item : *list) {
    check_body<Receipt>(item, codec::receipt_from_value, codec::receipt_to_value);
    const auto delta = codec::delta_from_value(item);
    if (!delta) fuzz::check_message(delta.error().message);
  }
}

void check_events(const Value& body) {
  const auto events = codec::events_from_value(body);
  if (!events) return fuzz::check_message(events.error().message);
  std::vector<std::string> encoded;
  for (const codec::FeedEvent& event : events->events) encoded.push_back(codec::encode_feed_event(event));
  const std::string bytes = codec::encode_events_message(events->board, {encoded.begin(), encoded.end()});
  const auto message = codec::decode_message(bytes);
  TAFEL_CHECK(message && codec::events_from_value(message->body), "events are read back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = codec::decode_message(fuzz::as_text(data, size));
  if (!message) {
    fuzz::check_message(message.error().message);
    return 0;
  }
  const auto again = codec::decode_message(codec::encode_message(*message));
  TAFEL_CHECK(
      again && again->type == message->type && again->id == message->id && fuzz::identical(again->body, message->body),
      "a message is read back as itself");
  const Value& body = message->body;
  check_body<codec::Hello>(body, codec::hello_from_value, codec::to_value);
  check_body<codec::Welcome>(body, codec::welcome_from_value, codec::to_value);
  check_body<codec::Subscribe>(body, codec::subscribe_from_value, codec::to_value);
  check_body<ErrorInfo>(body, codec::error_from_value, codec::error_to_value);
  check_body<OpResult>(body, codec::op_result_from_value, codec::op_result_to_value);
  check_body<Source>(body, codec::source_from_map, codec::source_to_map);
  check_items(body);
  check_events(body);
  return 0;
}
