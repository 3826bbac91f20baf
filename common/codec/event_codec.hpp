// Events as bytes: the log record (everything), its chain hash, and the feed event (what followers need).
//
// Grammar (MessagePack; values exact in the record, salted hashes in the chain form):
//   record  = [1, head, ops, results, changes, seal]            1 = format version
//   head    = [board, version, time, actor, delta id, base, atomic, source|nil, payload hash bin32]
//   ops     = [ {op map as in a delta} … ]
//   results = [ {result map as in a receipt} … ]
//   changes = [ [key, cell|nil, previous, jump] … ]             key, cell: model/cell.cpp
//   seal    = [salt bin16, previous hash bin32, digest bin16, hash bin32]
//   chain hash = SHA-256 of [1, head, ops, results, changes, [previous hash, digest]] where each user value inside ops,
//     results and changes is replaced by bin32 SHA-256(salt_i ‖ canonical value), i counting the values in order of
//     writing and salt_i = first 16 bytes of SHA-256(salt ‖ be32(i)). So a value, with its own salt, can be dropped
//     later and the chain still verifies. User values are: value, by, ttl_ms and each item of add, remove, reset of an
//     op; value of current; expected, found, guards and message of an error (a message may quote a value); the values
//     of cells; the id of a set element (as bin).
//   An op that could not be read (atomic: false) is {"op","path","malformed": message, "bad_path"?: true}.
//   feed event = [version, time, actor, delta id, base, source|nil, [ [key, cell|nil] … ], digest bin16|nil]
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/event.hpp"

namespace tafel::codec {

std::string encode_event(const Event& event);         // the log record
Result<Event> decode_event(std::string_view record);  // does not check the chain hash
Sha256 chain_hash(const Event& event);                // `event.hash` is not read

// What a follower needs to keep a copy of the board.
struct FeedEvent {
  Version version = 0;
  TimeMs time = 0;
  std::string actor;
  std::string delta_id;
  Version base = 0;
  Source source;
  std::vector<Change> changes;
  std::optional<Sum128> digest;  // of the whole state after it; absent where the follower sees a part only
};

FeedEvent feed_event_of(const Event& event);
std::string encode_feed_event(const FeedEvent& event);
Result<FeedEvent> feed_event_from_value(const Value& value);

// The event for people and tools, as a map:
// {"board","version","time","actor","id","base","source","ops":[…],"results":[…],
// "changes":[{"path","part","id"?,"value"|…}],"hash","previous","digest"} (hashes in hex).
Value event_to_map(const Event& event);
// One change for people: {"version","time","actor","path","kind"?,"value"|null,"gone"?}.
Value change_to_map(const FeedEvent& event, const Change& change);

}  // namespace tafel::codec
