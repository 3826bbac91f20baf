// Events as bytes: the log record (everything), its chain hash, and the feed event (what followers need).
//
// Grammar (MessagePack; values exact):
//   record  = [2, head, ops, changes, fields, completeness|nil, seal]                 2 = format version
//   head    = [board, version, time, actor, delta id, base, atomic, source|nil]
//   ops     = [ [verb, path, outcome, reason|nil, piece] … ]                          body: [op map, result map]
//   changes = [ [path, part, previous, jump, piece] … ]                               body: [id bin, cell|nil]
//   fields  = [ [path, kind|nil, changed, parts, lasting, previous, jump] … ]
//   completeness = [score, [ [path, label] … ]]
//   seal    = [salt bin16|nil, piece, previous hash bin32, digest bin16, hash bin32]  body: payload hash bin32
//   piece   = body bin                   where the seal has the salt
//           | [body bin, salt bin16]     where it has not
//           | [hash bin32]               erased
//   chain hash = SHA-256 of [2, head, ops, changes, fields, completeness|nil, [piece, previous hash, digest]], where
//   each
//     piece is its hash bin32: SHA-256(salt_i ‖ body), salt_i = first 16 bytes of SHA-256(salt ‖ be32(i)), i counting
//     the pieces from 0: that of the seal, those of the ops, those of the changes. So a piece can be dropped later,
//     with its salt, and the chain still verifies.
//   verb, outcome, reason, part and kind are the numbers of model/. An op that could not be read (atomic: false) is
//   {"op","path","malformed": message, "bad_path"?: true}.
//   feed event = [version, time, actor, delta id, base, source|nil, [ [key, cell|nil] … ], digest bin16|nil,
//                 completeness|nil]                                                   key, cell: model/cell.cpp
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
// Sets the hash of a new event and gives its record.
std::string seal_event(Event& event);

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
  std::optional<Completeness> completeness;
};

FeedEvent feed_event_of(const Event& event);
std::string encode_feed_event(const FeedEvent& event);
Result<FeedEvent> feed_event_from_value(const Value& value);

}  // namespace tafel::codec
