// Events for people and tools.
#pragma once

#include "common/codec/event_codec.hpp"

namespace tafel::codec {

// {"board","version","time","actor","id","base","source","ops":[…],"results":[…],
// "changes":[{"path","part","id"?,"value"|…}],"hash","previous","digest"} (hashes in hex). An op or a change that was
// erased has "erased": true in place of its content.
Value event_to_map(const Event& event);

// One change: {"version","time","actor","path","kind"?,"value"|null,"gone"?}.
Value change_to_map(const FeedEvent& event, const Change& change);

}  // namespace tafel::codec
