// The feed endpoint: who may see what, from which version, and what happens to a slow one. Each subscription remembers
// the last version it was sent; one that is behind is fed from the log, so it costs nobody else anything and misses
// nothing.
//
// A subscription goes from behind to live when it was sent everything (then `live` is sent), and back when its peer
// takes nothing more or when versions did not come through `publish`. Whatever happens, its versions are sent in order,
// each exactly once.
#pragma once

#include <memory>
#include <vector>

#include "blackboard/store/store.hpp"
#include "broker/peer.hpp"
#include "broker/session.hpp"
#include "common/model/rights.hpp"

namespace tafel::broker {

class FeedService {
 public:
  struct Stats {
    std::uint64_t events_sent = 0, messages_sent = 0, subscriptions = 0, behind = 0, peers = 0;
    std::uint64_t failures = 0;  // reads of the log that failed; they are tried again
  };

  FeedService(store::Store& store, const RoleTable& roles, codec::Welcome welcome);

  // subscribe, unsubscribe, hello, ping. A subscription begins behind at `from`; `subscribed` and all that follows is
  // sent by catch_up, so that nothing can overtake it: call catch_up after this.
  std::vector<Outbound> handle(const std::vector<Inbound>& messages, std::int64_t steady_ms);
  // Newly committed events, in order of commit. Live subscribers get them at once. Events may be left out (when too
  // many waited): those who miss some are fed from the log.
  void publish(const std::vector<std::shared_ptr<const Event>>& events, const Send& send);
  // Feeds those that are behind, a bounded page each; returns true while somebody could take more at once: call again
  // without waiting. While stats().behind > 0, call it every 20 ms or so: peers that were full are tried again, less
  // and less often.
  bool catch_up(const Send& send);
  // Once a second: tells every peer with subscriptions what it was sent, forgets silent sessions without subscriptions.
  void heartbeat(std::int64_t steady_ms, const Send& send);
  const Stats& stats() const;
  // Whether an actor without any name may see all of the board. Ask after `publish` of the same events.
  bool is_open(const std::string& board);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tafel::broker
