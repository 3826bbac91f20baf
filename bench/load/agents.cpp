#include "bench/load/agents.hpp"

#include <fmt/format.h>

namespace tafel::bench {
namespace {

constexpr std::chrono::milliseconds short_wait{1};

}  // namespace

Agents::Agents(Peer& peer, const Settings& settings, Tracker& tracker, const Shared& shared)
    : peer_(peer),
      tracker_(tracker),
      shared_(shared),
      updates_(settings.seed, settings.is_spread ? settings.elements : hot_elements),
      pending_(settings.shape.agents) {
  for (Pending& pending : pending_) pending.began_ns.resize(settings.shape.depth);
  for (std::size_t i = 0; i < settings.shape.depth; ++i) {
    for (std::size_t agent = 0; agent < pending_.size(); ++agent) held_back_.push_back(agent);
  }
}

Result<void> Agents::run() {
  std::vector<Ack> acks;
  submit_again(acks);
  while (submitted_ > receipts_ || !held_back_.empty()) {
    if (auto sent = peer_.flush(); !sent) return sent;
    acks.clear();
    if (auto polled = peer_.poll_acks(held_back_.empty() ? poll_wait : short_wait, acks); !polled) return polled;
    const std::int64_t now = now_ns();
    cpu_.look(shared_.window, now);
    for (const Ack& ack : acks) take(ack, now);
    if (now < shared_.window.end_ns) {
      submit_again(acks);
    } else {
      held_back_.clear();
    }
    if (shared_.stops || shared_.window.is_overdue(now)) {
      return fail(Fault::unreachable, fmt::format("{} updates are without an answer", submitted_ - receipts_));
    }
  }
  return {};
}

// One update for each that was answered, and for those that found no room before.
void Agents::submit_again(const std::vector<Ack>& acks) {
  std::vector<std::size_t> held;
  held.swap(held_back_);
  for (const std::size_t agent : held) submit(agent);
  for (const Ack& ack : acks) submit(ack.agent);
}

void Agents::submit(std::size_t agent) {
  if (!tracker_.has_room(submitted_)) {  // subscribers lag by millions of updates
    held_back_.push_back(agent);
    return;
  }
  const std::int64_t now = now_ns();
  const Update update = updates_.next();
  Pending& pending = pending_[agent];
  pending.began_ns[(pending.first + pending.count++) % pending.began_ns.size()] = now;
  tracker_.began(update.number, now);
  peer_.submit(agent, update);
  ++submitted_;
}

void Agents::take(const Ack& ack, std::int64_t now) {
  Pending& pending = pending_[ack.agent];
  const std::int64_t began = pending.began_ns[pending.first];
  pending.first = (pending.first + 1) % pending.began_ns.size();
  --pending.count;
  ++receipts_;
  if (ack.is_error) ++refused_;
  if (!ack.made_version) {
    ++unchanged_;
    tracker_.makes_no_version();
  }
  if (!shared_.window.holds(now)) return;
  ++acked_;
  ack_ns_.record(now - began);
}

}  // namespace tafel::bench
