// Who follows what: peers, boards and the subscriptions between them, and who waits for a turn of catch-up. Bookkeeping
// only; what is sent and when is decided in feed_service.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/feed_cache.hpp"
#include "broker/feed_lens.hpp"
#include "broker/peer.hpp"
#include "common/base/limits.hpp"

namespace tafel::broker {

struct Follower;
struct FollowedBoard;

struct Subscription {
  Follower& follower;
  FollowedBoard& board;
  std::shared_ptr<const Lens> lens;
  Version position = 0;   // everything up to here was sent
  std::uint64_t ask = 0;  // id of the subscribe
  Version head_at_ask = 0;
  bool is_announced = false;  // `subscribed` was sent
  bool is_live = false;
  std::size_t live_at = 0;         // its place in board.live
  bool depends_on_schema = false;  // a change of schema may change what it sees
  bool is_outdated = false;        // has done so: it ends with a resync
};

struct Follower {
  PeerId peer;
  std::map<std::string, std::unique_ptr<Subscription>> subscriptions;  // by board
  std::deque<Subscription*> behind;                                    // the next one to be fed first
  std::uint64_t ticket = 0;     // of its place in the queue for a turn of catch-up; 0: it has none
  bool is_full = false;         // took nothing the last time
  std::size_t pause_turns = 0;  // until it is tried again
  std::size_t page_bytes = limits::page_bytes;
};

struct FollowedBoard {
  std::string id;
  Version known = 0;                // every version above it will still come through publish
  Version head_at_heartbeat = 0;    // of the store
  Version floor = 0;                // what comes after it can be followed, as far as is known
  std::vector<Subscription*> live;  // in no order
  std::size_t subscriptions = 0;
  std::size_t whole_subscriptions = 0;                      // whose lens is whole
  std::map<std::string, std::weak_ptr<const Lens>> lenses;  // by their names
  FeedTail tail;
  std::vector<std::shared_ptr<const Event>> batch;  // of the publish under way

  // The lens that leaves nothing out; null while nobody has it.
  std::shared_ptr<const Lens> whole_lens() const;
};

class FeedTable {
 public:
  // A new subscription, behind and in the queue. The caller has removed an older one of the same peer and board.
  Subscription& add(const PeerId& peer, const std::string& board, std::vector<Path> paths, Rights rights,
                    const std::string& actor, Version from);
  void remove(Subscription& subscription);
  void drop(const PeerId& peer);

  Follower* find_follower(const PeerId& peer);
  FollowedBoard* find_board(const std::string& board);
  Subscription* find(const PeerId& peer, const std::string& board);

  // Those who depend on the board's schema see something else from now on: their subscriptions are outdated.
  void outdate(const std::string& board);

  void go_live(Subscription& subscription);
  void fall_behind(Subscription& subscription);

  // What a send to a peer came to: a full one pauses, longer each time, and is probed by small pages.
  void took(Follower& follower);
  void was_full(Follower& follower);
  // The pause of a full one is over.
  void wake(Follower& follower);

  // Turns: next() gives followers that have something to be fed, each once until it is given back.
  void begin_turn();
  std::optional<PeerId> next();
  void give_back(const PeerId& peer);
  bool has_next() const { return !ready_.empty(); }

  std::unordered_map<PeerId, Follower>& followers() { return followers_; }
  std::unordered_map<std::string, FollowedBoard>& boards() { return boards_; }
  std::size_t subscriptions() const { return subscriptions_; }
  std::size_t behind() const { return behind_; }

 private:
  // A place in the queue; of several that a follower was given, the last one counts.
  struct Place {
    PeerId peer;
    std::uint64_t ticket = 0;
  };

  void enqueue(Follower& follower);
  bool is_waiting(const Follower& follower) const { return follower.ticket != 0; }
  std::shared_ptr<const Lens> lens_for(FollowedBoard& board, std::vector<Path> paths, Rights rights,
                                       const std::string& actor);

  std::unordered_map<PeerId, Follower> followers_;
  std::unordered_map<std::string, FollowedBoard> boards_;
  std::deque<Place> ready_;
  std::multimap<std::uint64_t, Place> paused_;  // by the turn in which they are tried again
  std::uint64_t turn_ = 0;
  std::uint64_t tickets_ = 0;
  std::size_t subscriptions_ = 0;
  std::size_t behind_ = 0;
};

}  // namespace tafel::broker
