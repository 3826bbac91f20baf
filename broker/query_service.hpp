// The query endpoint: reads that never touch the commit path. Every answer comes from one snapshot and is bounded;
// larger ones are paged. What the asker may not read is left out everywhere; without any right to read on a board the
// answer is the error `forbidden`.
//
// {"what": "get",     "board", "path"?, "at"?}            → {"version","head","value","found"}
// {"what": "full",    "board", "path"?, "at"?, "detail"?} → {"version","head","state","fields","suggestions","digest"}
// {"what": "history", "board", "path", "before"?, "count"?} → {"version","revisions":[…],"next"}
// {"what": "blame",   "board", "path"?, "at"?}            → {"version","head","fields"}
// {"what": "diff",    "board", "path"?, "from", "to"?, "cursor"?} → {"from","to","head","fields":[…],"next"}
// {"what": "touched", "board", "path"?, "actor", "from"?} → {"version","paths","next"}
// {"what": "suggestions", "board", "path"?}               → {"version","suggestions"}
// {"what": "cells",   "board", "path"?, "cursor"?}        → {"version","epoch","digest","cells":[[key, cell]…],"next"}
// (cells: model/cell.cpp)
// {"what": "log",     "board", "from"?, "to"?}            → {"version","events":[event map…],"next"}
// {"what": "boards",  "after"?, "count"?, "deleted"?}     → {"boards":[{"board","version","time"}],"next"}
// {"what": "verify",  "board"}                            → {"board","version","events","cells","defects":[…]}
// {"what": "context", "board", "request"}                 → the context as context::context_to_value gives it
// {"what": "schema",  "board"}                            → {"version","schema","documents","completeness"}
// {"what": "stat"}                                        → counters of the server
//
// `version` is the version that the answer shows. `digest` is hex text (of the whole board, whatever the path), null
// for those who may not read everything. `next` is null at the end, else what to give as `cursor` (cells), `from` (log)
// , `after` (boards) or `before`
// (history) to read on. In place of "at", "from" and "to" of a version there may be "at_time", "from_time" and
// "to_time". A board that was never written to is empty, at version 0; one that was
// deleted is the error `deleted` (but for `verify`). docs/protocol.md tells what the members are.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <vector>

#include "blackboard/store/store.hpp"
#include "broker/peer.hpp"
#include "broker/session.hpp"
#include "common/model/rights.hpp"

namespace tafel::broker {

class QueryService {
 public:
  using StatsOf = std::function<Value()>;  // what `stat` adds from the other threads

  QueryService(store::Store& store, const RoleTable& roles, codec::Welcome welcome, StatsOf stats_of);

  // Answers what it can within a bounded amount of work and keeps the rest; so a turn that was given much is never a
  // long one.
  std::vector<Outbound> handle(const std::vector<Inbound>& messages, TimeMs now, std::int64_t steady_ms);
  // True while kept questions wait: call `handle` (with or without new messages) again at once.
  bool has_waiting() const { return !turns_.empty(); }
  // True while a verification runs on its own thread: call `handle` again within some milliseconds to collect its
  // answer.
  bool is_verifying() const { return verifying_.has_value(); }
  // The peer is gone: what it asked is not worth answering.
  void forget(const PeerId& peer);
  void tick(std::int64_t steady_ms);

 private:
  // A question that waits for its turn.
  struct Waiting {
    PeerId peer;
    std::string actor;
    codec::Message message;
  };
  struct Verification {
    PeerId peer;
    std::uint64_t id = 0;
    std::future<Result<store::VerifyReport>> report;
  };

  void accept(const Inbound& inbound, std::int64_t steady_ms, std::vector<Outbound>& out);
  Waiting take_next();
  // The message that answers; empty where the answer comes later.
  std::string answer_to(const Waiting& waiting, TimeMs now);
  tl::expected<std::string, ErrorInfo> stat();
  std::string start_verification(const Waiting& waiting, const std::string& board);
  void collect_verification(std::vector<Outbound>& out);

  store::Store& store_;
  const RoleTable& roles_;
  Sessions sessions_;
  StatsOf stats_of_;
  std::map<PeerId, std::deque<Waiting>> waiting_;  // no empty queues
  std::deque<PeerId> turns_;                       // each peer of `waiting_` once: one question a turn, so that nobody
                                                   // waits for more than one question of each other peer
  std::size_t waiting_count_ = 0;
  std::optional<Verification> verifying_;  // one at a time: it reads the whole log of a board
};

}  // namespace tafel::broker
