#include "agents_sdk/cpp/board_feed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agents_sdk/cpp/ticket.hpp"
#include "blackboard/read.hpp"

namespace tafel::sdk {

BoardFeed::Standing BoardFeed::standing() const {
  const std::lock_guard lock(mutex_);
  return {mirror_.phase(), mirror_.cursor(), mirror_.position(), mirror_.broken_in_a_row(), mirror_.has_copy()};
}

// Gives the mirror an input, and the watchers what came of it, in one step: a watch begins between two versions.
template <class Input>
Mirror::Next BoardFeed::put_in(std::size_t bytes, Input input) {
  Mirror::Next next = Mirror::Next::go_on;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return next;
    std::vector<BoardEvent> told;
    next = input(told);
    for (const BoardEvent& event : told) tell(event, bytes);
    if (mirror_.is_live()) refusal_.reset();
  }
  changed_.notify_all();
  return next;
}

Mirror::Next BoardFeed::page(Mirror::Page page) {
  return put_in(0, [&](auto& told) { return mirror_.page(std::move(page), told); });
}

Mirror::Next BoardFeed::events(std::vector<codec::FeedEvent> events, std::size_t bytes) {
  const std::size_t share = bytes / std::max<std::size_t>(events.size(), 1);
  return put_in(share, [&](auto& told) {
    for (codec::FeedEvent& event : events) {
      const auto next = mirror_.event(std::make_shared<const codec::FeedEvent>(std::move(event)), told);
      if (next != Mirror::Next::go_on) return next;
    }
    return Mirror::Next::go_on;
  });
}

Mirror::Next BoardFeed::live(Version version) {
  return put_in(0, [&](auto& told) { return mirror_.live(version, told); });
}

Mirror::Next BoardFeed::history_gone() {
  return put_in(0, [&](auto&) { return mirror_.history_gone(); });
}

Mirror::Next BoardFeed::epoch_is(const std::string& epoch) {
  return put_in(0, [&](auto&) { return mirror_.epoch_is(epoch); });
}

Mirror::Next BoardFeed::deleted(Version version, std::string message) {
  return put_in(0, [&](auto& told) {
    ending_ = std::move(message);
    return mirror_.deleted(version, told);
  });
}

void BoardFeed::lost() {
  put_in(0, [&](auto& told) {
    mirror_.lost(told);
    return Mirror::Next::go_on;
  });
}

void BoardFeed::refuse(Failure failure) {
  {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(failure);
  }
  changed_.notify_all();
}

void BoardFeed::tell(const BoardEvent& event, std::size_t bytes) {
  for (Tap& tap : taps_) {
    if (event.type == BoardEvent::Type::resync || event.type == BoardEvent::Type::deleted) {
      tap.behind = false;  // the versions between are not to be had one by one; this must not be missed
      tap.last = event.version;
      tap.queue->push(event, bytes);
    } else if (tap.behind) {
      continue;
    } else if (tap.queue->full()) {
      tap.behind = event.type == BoardEvent::Type::change;
    } else {
      tap.queue->push(event, bytes);
      tap.last = event.version;
    }
  }
}

std::vector<BoardFeed::Behind> BoardFeed::behind() {
  std::vector<Behind> found;
  const std::lock_guard lock(mutex_);
  if (mirror_.phase() != Mirror::Phase::following) return found;  // its resync will tell them
  for (Tap& tap : taps_) {
    if (!tap.behind || tap.queue->full()) continue;
    found.push_back({tap.number, tap.last, mirror_.epoch(), tap.queue});
  }
  return found;
}

bool BoardFeed::still_behind(std::uint64_t number, Version position) {
  const std::lock_guard lock(mutex_);
  Tap* tap = find(number);
  if (tap == nullptr || !tap->behind) return false;
  tap->last = position;
  tap->behind = mirror_.phase() != Mirror::Phase::following || position != mirror_.version();
  if (!tap->behind && mirror_.is_live()) tap->queue->push(told_of(BoardEvent::Type::live, position), 0);
  return tap->behind;
}

void BoardFeed::skip_to_mirror(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  Tap* tap = find(number);
  if (tap == nullptr || !tap->behind) return;
  if (mirror_.phase() != Mirror::Phase::following) return;  // the mirror is being read anew: its own resync will tell
  tap->behind = false;
  tap->last = mirror_.version();
  tap->queue->push(told_of(BoardEvent::Type::resync, tap->last), 0);
}

Version BoardFeed::version() const {
  const std::lock_guard lock(mutex_);
  return mirror_.version();
}

Sum128 BoardFeed::digest() const {
  const std::lock_guard lock(mutex_);
  return mirror_.board().digest();
}

std::optional<Version> BoardFeed::deleted() const {
  const std::lock_guard lock(mutex_);
  return mirror_.deleted();
}

std::optional<std::string> BoardFeed::ending() const {
  const std::lock_guard lock(mutex_);
  return mirror_.deleted() ? std::optional(ending_words()) : std::nullopt;
}

std::string BoardFeed::ending_words() const {
  if (!ending_.empty()) return ending_;
  return fmt::format("the board {} was deleted at version {}", id_, mirror_.version());
}

std::uint64_t BoardFeed::resyncs() const {
  const std::lock_guard lock(mutex_);
  return mirror_.resyncs();
}

std::optional<Completeness> BoardFeed::completeness() const {
  const std::lock_guard lock(mutex_);
  return mirror_.completeness();
}

std::string BoardFeed::epoch() const {
  const std::lock_guard lock(mutex_);
  return mirror_.epoch();
}

std::shared_ptr<const blackboard::Board> BoardFeed::snapshot() const {
  const std::lock_guard lock(mutex_);
  return mirror_.snapshot();
}

std::optional<Value> BoardFeed::get(const Path& path, TimeMs now) const {
  const std::lock_guard lock(mutex_);
  return blackboard::value_at(mirror_.board(), path, {now, nullptr});
}

Result<void> BoardFeed::wait_for(Version version, milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const bool ended = changed_.wait_for(lock, bounded(timeout),
                                       [&] { return closed_ || mirror_.version() >= version || mirror_.deleted(); });
  if (mirror_.version() >= version) return {};
  if (mirror_.deleted()) return fail(Fault::deleted, ending_words());
  if (ended)
    return fail(Fault::closed,
                fmt::format("the agent was closed before the mirror of {} had version {}", id_, version));
  return fail(Fault::unreachable, fmt::format("the mirror of {} is at version {}, not yet at {}, after {} ms", id_,
                                              mirror_.version(), version, timeout.count()));
}

Result<void> BoardFeed::wait_live(milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, bounded(timeout),
                    [&] { return closed_ || refusal_ || mirror_.is_live() || mirror_.deleted(); });
  if (mirror_.is_live()) return {};
  if (mirror_.deleted()) return fail(Fault::deleted, ending_words());
  if (refusal_) return tl::unexpected<Failure>(*refusal_);
  if (closed_) return fail(Fault::closed, fmt::format("the agent was closed before it had joined {}", id_));
  return fail(Fault::unreachable, fmt::format("no copy of {} that is up to date within {} ms", id_, timeout.count()));
}

void BoardFeed::watch(std::uint64_t number, std::shared_ptr<WatchQueue> queue) {
  const std::lock_guard lock(mutex_);
  if (!closed_) taps_.push_back({number, std::move(queue), mirror_.version(), false});
}

void BoardFeed::unwatch(std::uint64_t number) {
  std::shared_ptr<WatchQueue> queue;
  {
    const std::lock_guard lock(mutex_);
    Tap* tap = find(number);
    if (tap == nullptr) return;
    queue = std::move(tap->queue);
    taps_.erase(taps_.begin() + (tap - taps_.data()));
  }
  queue->stop();  // outside the lock: the watcher may be reading the board
}

void BoardFeed::close() {
  std::vector<Tap> taps;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    taps = std::move(taps_);
    taps_.clear();
  }
  changed_.notify_all();
  for (const Tap& tap : taps) tap.queue->stop();
}

BoardFeed::Tap* BoardFeed::find(std::uint64_t number) {
  const auto at = std::find_if(taps_.begin(), taps_.end(), [number](const Tap& tap) { return tap.number == number; });
  return at == taps_.end() ? nullptr : &*at;
}

}  // namespace tafel::sdk
