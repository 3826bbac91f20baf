#include "broker/feed_table.hpp"

#include <algorithm>
#include <utility>

#include "common/base/check.hpp"

namespace tafel::broker {

std::shared_ptr<const Lens> FollowedBoard::whole_lens() const {
  const auto found = lenses.find(std::string());
  return found == lenses.end() ? nullptr : found->second.lock();
}

Subscription& FeedTable::add(const PeerId& peer, const std::string& board_id, std::vector<Path> paths, Rights rights,
                             const std::string& actor, Version from) {
  Follower& follower = followers_[peer];
  follower.peer = peer;
  FollowedBoard& board = boards_[board_id];
  board.id = board_id;
  const bool depends_on_schema = rights.needs_schema();
  auto lens = lens_for(board, std::move(paths), std::move(rights), actor);
  ++board.subscriptions;
  if (lens->is_whole()) ++board.whole_subscriptions;
  auto made = std::make_unique<Subscription>(
      Subscription{follower, board, std::move(lens), from, 0, 0, false, false, 0, depends_on_schema, false});
  Subscription& subscription = *made;
  const bool is_new = follower.subscriptions.emplace(board_id, std::move(made)).second;
  TAFEL_CHECK(is_new, "a peer has one subscription to a board");
  ++subscriptions_;
  ++behind_;
  follower.behind.push_back(&subscription);
  enqueue(follower);
  return subscription;
}

std::shared_ptr<const Lens> FeedTable::lens_for(FollowedBoard& board, std::vector<Path> paths, Rights rights,
                                                const std::string& actor) {
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::weak_ptr<const Lens>& known = board.lenses[Lens::name_of(paths, rights, actor)];
  if (auto lens = known.lock()) return lens;
  auto lens = std::make_shared<const Lens>(std::move(paths), std::move(rights));
  known = lens;
  return lens;
}

void FeedTable::remove(Subscription& subscription) {
  Follower& follower = subscription.follower;
  FollowedBoard& board = subscription.board;
  if (subscription.is_live) fall_behind(subscription);  // out of board.live
  std::erase(follower.behind, &subscription);
  --behind_;
  --subscriptions_;
  --board.subscriptions;
  if (subscription.lens->is_whole()) --board.whole_subscriptions;
  if (subscription.lens.use_count() == 1) {
    subscription.lens.reset();
    std::erase_if(board.lenses, [](const auto& entry) { return entry.second.expired(); });
  }
  const std::string board_id = board.id;
  const PeerId peer = follower.peer;
  follower.subscriptions.erase(board_id);
  if (boards_.at(board_id).subscriptions == 0) boards_.erase(board_id);
  if (followers_.at(peer).subscriptions.empty()) followers_.erase(peer);
}

void FeedTable::drop(const PeerId& peer) {
  while (Follower* follower = find_follower(peer)) remove(*follower->subscriptions.begin()->second);
}

Follower* FeedTable::find_follower(const PeerId& peer) {
  const auto found = followers_.find(peer);
  return found == followers_.end() ? nullptr : &found->second;
}

FollowedBoard* FeedTable::find_board(const std::string& board) {
  const auto found = boards_.find(board);
  return found == boards_.end() ? nullptr : &found->second;
}

Subscription* FeedTable::find(const PeerId& peer, const std::string& board) {
  Follower* follower = find_follower(peer);
  if (follower == nullptr) return nullptr;
  const auto found = follower->subscriptions.find(board);
  return found == follower->subscriptions.end() ? nullptr : found->second.get();
}

void FeedTable::outdate(const std::string& board_id) {
  FollowedBoard* board = find_board(board_id);
  if (board == nullptr) return;
  for (auto& [peer, follower] : followers_) {
    const auto found = follower.subscriptions.find(board_id);
    if (found == follower.subscriptions.end() || !found->second->depends_on_schema) continue;
    found->second->is_outdated = true;
    if (found->second->is_live) fall_behind(*found->second);
  }
  // The lens of one actor knows the old schema: whoever subscribes from now on gets another.
  std::erase_if(board->lenses, [](const auto& entry) { return !entry.first.empty() && entry.first.front() != '\x01'; });
}

void FeedTable::go_live(Subscription& subscription) {
  TAFEL_CHECK(!subscription.is_live, "only one that is behind goes live");
  std::erase(subscription.follower.behind, &subscription);
  --behind_;
  subscription.is_live = true;
  subscription.live_at = subscription.board.live.size();
  subscription.board.live.push_back(&subscription);
}

void FeedTable::fall_behind(Subscription& subscription) {
  TAFEL_CHECK(subscription.is_live, "only a live one falls behind");
  auto& live = subscription.board.live;
  live[subscription.live_at] = live.back();
  live[subscription.live_at]->live_at = subscription.live_at;
  live.pop_back();
  subscription.is_live = false;
  ++behind_;
  subscription.follower.behind.push_back(&subscription);
  enqueue(subscription.follower);
}

void FeedTable::took(Follower& follower) {
  follower.is_full = false;
  follower.pause_turns = 0;
  follower.page_bytes = std::min(follower.page_bytes * 2, limits::page_bytes);
}

void FeedTable::was_full(Follower& follower) {
  follower.is_full = true;
  follower.pause_turns = std::clamp<std::size_t>(follower.pause_turns * 2, 1, limits::feed_retry_turns_max);
  follower.page_bytes = limits::feed_probe_bytes;
}

void FeedTable::wake(Follower& follower) {
  took(follower);
  if (!is_waiting(follower)) return;
  follower.ticket = 0;
  enqueue(follower);
}

void FeedTable::begin_turn() {
  ++turn_;
  while (!paused_.empty() && paused_.begin()->first <= turn_) {
    ready_.push_back(std::move(paused_.begin()->second));
    paused_.erase(paused_.begin());
  }
}

std::optional<PeerId> FeedTable::next() {
  while (!ready_.empty()) {
    const Place place = std::move(ready_.front());
    ready_.pop_front();
    Follower* follower = find_follower(place.peer);
    if (follower == nullptr || follower->ticket != place.ticket) continue;
    follower->ticket = 0;
    if (!follower->behind.empty()) return place.peer;
  }
  return std::nullopt;
}

void FeedTable::give_back(const PeerId& peer) {
  Follower* follower = find_follower(peer);
  if (follower != nullptr && !follower->behind.empty()) enqueue(*follower);
}

void FeedTable::enqueue(Follower& follower) {
  if (is_waiting(follower)) return;
  follower.ticket = ++tickets_;
  const Place place{follower.peer, follower.ticket};
  if (follower.is_full) {
    paused_.emplace(turn_ + follower.pause_turns, place);
  } else {
    ready_.push_back(place);
  }
}

}  // namespace tafel::broker
