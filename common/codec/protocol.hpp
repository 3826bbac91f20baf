// The messages between clients and the server. One message is one frame: MessagePack [type, id, body]. `id` is chosen
// by the asker and comes back in the answer; messages that answer nothing (events, live, heartbeat) carry 0.
// docs/protocol.md is the full text: states, duties and every body.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/msgpack.hpp"
#include "common/model/delta.hpp"
#include "common/model/receipt.hpp"

namespace tafel::codec {

inline constexpr std::int64_t protocol_version = 1;

// Message types, as they stand in the first item.
namespace message {
inline constexpr std::string_view hello = "hello";        // client → any socket
inline constexpr std::string_view welcome = "welcome";    // answer to hello
inline constexpr std::string_view submit = "submit";      // client → request socket: [delta map…]
inline constexpr std::string_view receipts = "receipts";  // answer: [receipt map…], in the order of the deltas; large
                                                          // answers come in several messages with the same id
inline constexpr std::string_view query = "query";        // client → query socket: {"what": …, …}
inline constexpr std::string_view answer = "answer";      // {…}
inline constexpr std::string_view subscribe = "subscribe";      // client → feed socket: {"board","from","paths"?}
inline constexpr std::string_view subscribed = "subscribed";    // {"board","epoch","head","from"}
inline constexpr std::string_view unsubscribe = "unsubscribe";  // {"board"}
inline constexpr std::string_view unsubscribed = "unsubscribed";
inline constexpr std::string_view events = "events";        // server → follower: {"board","events":[feed event…]}
inline constexpr std::string_view live = "live";            // {"board","version"}: catch-up has reached the head
inline constexpr std::string_view resync = "resync";        // {"board","floor"}: history is gone, read a snapshot
inline constexpr std::string_view heartbeat = "heartbeat";  // {"heads": {board: version}}
inline constexpr std::string_view ping = "ping";
inline constexpr std::string_view pong = "pong";
inline constexpr std::string_view error = "error";  // {error map}
}  // namespace message

struct Message {
  std::string type;
  std::uint64_t id = 0;
  Value body;
};

std::string encode_message(const Message& message);
// Bounded as in msgpack.hpp. A client gives answer_limits, for an answer may be larger than a request.
Result<Message> decode_message(std::string_view bytes, const DecodeLimits& limits = {});
// The state in an answer nests by its paths and then by its values.
inline constexpr DecodeLimits answer_limits{.depth_max = limits::path_segments_max + limits::value_depth_max + 16,
                                            .objects_max = limits::answer_bytes_max / 4};

struct Hello {
  std::int64_t protocol = protocol_version;
  std::string actor;
  std::string client;  // "tafel-cpp 0.1.0", for logs
  std::vector<std::string> features;
};
Value to_value(const Hello& hello);
Result<Hello> hello_from_value(const Value& body);

struct Welcome {
  std::int64_t protocol = protocol_version;
  std::string server;          // "tafeld 0.1.0"
  std::string epoch;           // of the store: versions of another epoch mean nothing
  std::string query_endpoint;  // empty: not offered
  std::string feed_endpoint;
  std::string open_feed_endpoint;
  std::vector<std::string> features;
  std::uint64_t request_bytes_max = 0;
  std::int64_t heartbeat_ms = 0;
};
Value to_value(const Welcome& welcome);
Result<Welcome> welcome_from_value(const Value& body);

struct Subscribe {
  std::string board;
  Version from = 0;                // the last version that the follower has; events begin at from + 1
  std::vector<std::string> paths;  // dot paths: only what lies at or below one of them; empty: everything
};
Value to_value(const Subscribe& subscribe);
Result<Subscribe> subscribe_from_value(const Value& body);

// An `events` message made of feed events that are encoded already (one encoding serves every subscriber).
std::string encode_events_message(std::string_view board, const std::vector<std::string_view>& encoded_events);
struct EventsMessage {
  std::string board;
  std::vector<FeedEvent> events;
};
Result<EventsMessage> events_from_value(const Value& body);

// A `submit` message of encoded delta maps, and how many bytes one delta takes in it.
std::string encode_submit_message(std::uint64_t id, const std::vector<std::string>& encoded_deltas);

Message error_message(std::uint64_t id, const ErrorInfo& error);

}  // namespace tafel::codec
