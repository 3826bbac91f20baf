#include "common/codec/protocol.hpp"

#include <fmt/format.h>

#include "common/base/limits.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/receipt_codec.hpp"
#include "common/model/names.hpp"

namespace tafel::codec {
namespace {

constexpr std::size_t type_bytes_max = 32;
constexpr std::size_t features_max = 64;

void begin_message(PackWriter& out, std::string_view type, std::uint64_t id) {
  out.array(3);
  out.text(type);
  out.unsigned_integer(id);
}

Value list_of_texts(const std::vector<std::string>& texts) { return List(texts.begin(), texts.end()); }

std::vector<std::string> read_features(MemberReader& in) {
  auto features = in.texts_or_none("features");
  if (features.size() > features_max) in.refuse("features", fmt::format("a list of at most {}", features_max));
  return features;
}

void check_board(MemberReader& in, const std::string& board) {
  if (in.failed()) return;
  if (const auto defect = board_id_defect(board)) in.refuse("board", fmt::format("a board id ({})", *defect));
}

void check_paths(MemberReader& in, const std::vector<std::string>& paths) {
  if (paths.size() > limits::subscription_paths_max) {
    return in.refuse("paths", fmt::format("a list of at most {}", limits::subscription_paths_max));
  }
  for (const std::string& path : paths) {
    if (const auto parsed = Path::parse(path); !parsed) {
      return in.refuse("paths", fmt::format("dot paths; {}: {}", brief(Value(path)), parsed.error().message));
    }
  }
}

Result<std::vector<FeedEvent>> feed_events_from(const Value& value) {
  const auto* list = value.get_if<List>();
  if (list == nullptr) return fail(Fault::bad_bytes, "events: \"events\" must be a list");
  std::vector<FeedEvent> events;
  events.reserve(list->size());
  for (const Value& item : *list) {
    auto event = feed_event_from_value(item);
    if (!event) return tl::unexpected(std::move(event.error()));
    events.push_back(std::move(*event));
  }
  return events;
}

}  // namespace

std::string encode_message(const Message& message) {
  std::string bytes;
  PackWriter out(bytes);
  begin_message(out, message.type, message.id);
  write_exact(out, message.body);
  return bytes;
}

Result<Message> decode_message(std::string_view bytes, const DecodeLimits& limits) {
  auto value = decode(bytes, limits);
  if (!value) return tl::unexpected(value.error());
  ItemReader in(*value, "a message", 3);
  Message message;
  message.type = in.text("type");
  if (message.type.size() > type_bytes_max) in.refuse("type", fmt::format("at most {} bytes", type_bytes_max));
  message.id = in.number("id");
  if (!in.failed()) message.body = std::move(value->get_if<List>()->back());
  return in.finish(std::move(message));
}

Value to_value(const Hello& hello) {
  return Map{{"protocol", hello.protocol},
             {"actor", hello.actor},
             {"client", hello.client},
             {"features", list_of_texts(hello.features)}};
}

Result<Hello> hello_from_value(const Value& body) {
  MemberReader in(body, "hello");
  Hello hello;
  hello.protocol = in.integer("protocol");
  hello.actor = in.text_or("actor", "");
  if (!hello.actor.empty() && name_defect(hello.actor))
    in.refuse("actor", "a name: at most 128 bytes, no control characters");
  hello.client = in.text_or("client", "");
  if (!hello.client.empty() && name_defect(hello.client))
    in.refuse("client", "a name: at most 128 bytes, no control characters");
  hello.features = read_features(in);
  return in.finish(std::move(hello));
}

Value to_value(const Welcome& welcome) {
  return Map{{"protocol", welcome.protocol},
             {"server", welcome.server},
             {"epoch", welcome.epoch},
             {"query_endpoint", welcome.query_endpoint},
             {"feed_endpoint", welcome.feed_endpoint},
             {"open_feed_endpoint", welcome.open_feed_endpoint},
             {"features", list_of_texts(welcome.features)},
             {"request_bytes_max", welcome.request_bytes_max},
             {"heartbeat_ms", welcome.heartbeat_ms}};
}

Result<Welcome> welcome_from_value(const Value& body) {
  MemberReader in(body, "welcome");
  Welcome welcome;
  welcome.protocol = in.integer("protocol");
  welcome.server = in.text_or("server", "");
  welcome.epoch = in.text("epoch");
  welcome.query_endpoint = in.text_or("query_endpoint", "");
  welcome.feed_endpoint = in.text_or("feed_endpoint", "");
  welcome.open_feed_endpoint = in.text_or("open_feed_endpoint", "");
  welcome.features = read_features(in);
  welcome.request_bytes_max = in.number("request_bytes_max");
  welcome.heartbeat_ms = in.integer("heartbeat_ms");
  return in.finish(std::move(welcome));
}

Value to_value(const Subscribe& subscribe) {
  Value body = Map{{"board", subscribe.board}, {"from", subscribe.from}};
  if (!subscribe.paths.empty()) body.set("paths", list_of_texts(subscribe.paths));
  return body;
}

Result<Subscribe> subscribe_from_value(const Value& body) {
  MemberReader in(body, "subscribe");
  Subscribe subscribe;
  subscribe.board = in.text("board");
  check_board(in, subscribe.board);
  subscribe.from = in.number("from");
  subscribe.paths = in.texts_or_none("paths");
  check_paths(in, subscribe.paths);
  return in.finish(std::move(subscribe));
}

std::string encode_events_message(std::string_view board, const std::vector<std::string_view>& encoded_events) {
  std::string bytes;
  PackWriter out(bytes);
  begin_message(out, message::events, 0);
  out.map(2);
  out.text("board");
  out.text(board);
  out.text("events");
  out.array(encoded_events.size());
  for (const std::string_view event : encoded_events) out.raw(event);
  return bytes;
}

Result<EventsMessage> events_from_value(const Value& body) {
  MemberReader in(body, "events");
  EventsMessage message;
  message.board = in.text("board");
  check_board(in, message.board);
  message.events = in.part("events", feed_events_from);
  return in.finish(std::move(message));
}

std::string encode_submit_message(std::uint64_t id, const std::vector<std::string>& encoded_deltas) {
  std::string bytes;
  PackWriter out(bytes);
  begin_message(out, message::submit, id);
  out.array(encoded_deltas.size());
  for (const std::string& delta : encoded_deltas) out.raw(delta);
  return bytes;
}

Message error_message(std::uint64_t id, const ErrorInfo& error) {
  return {std::string(message::error), id, error_to_value(error)};
}

}  // namespace tafel::codec
