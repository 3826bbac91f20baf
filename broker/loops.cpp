#include "broker/loops.hpp"

#include <algorithm>
#include <utility>

#include "broker/log.hpp"
#include "common/base/limits.hpp"

namespace tafel::broker {
namespace {
constexpr std::size_t last_turns_max =
    64;  // of a loop that is stopping: what clients go on sending is theirs to send again
}

// --- Counters

void Counters::set(const RequestService::Stats& stats, std::uint64_t frames_dropped, std::uint64_t answers_dropped) {
  const std::lock_guard lock(mutex_);
  requests_ = stats;
  frames_dropped_ = frames_dropped;
  answers_dropped_ = answers_dropped;
}

void Counters::set(const FeedService::Stats& stats, std::uint64_t overflows) {
  const std::lock_guard lock(mutex_);
  feed_ = stats;
  feed_overflows_ = overflows;
}

Value Counters::to_value() const {
  const std::lock_guard lock(mutex_);
  const Map requests{{"messages", requests_.messages},     {"bad_messages", requests_.bad_messages},
                     {"deltas", requests_.deltas},         {"commits", requests_.commits},
                     {"applied", requests_.applied},       {"rejected", requests_.rejected},
                     {"duplicates", requests_.duplicates}, {"frames_dropped", frames_dropped_},
                     {"answers_dropped", answers_dropped_}};
  const Map feed{{"events_sent", feed_.events_sent},
                 {"messages_sent", feed_.messages_sent},
                 {"behind", feed_.behind},
                 {"subscriptions", feed_.subscriptions},
                 {"peers", feed_.peers},
                 {"failures", feed_.failures},
                 {"overflows", feed_overflows_}};
  return Map{{"requests", Value(requests)}, {"feed", Value(feed)}};
}

// --- Loop

Loop::Loop(Clock& clock, std::unique_ptr<net::Router> router)
    : clock_(clock), router_(std::move(router)), sender_(*router_) {}

void Loop::run() {
  net::Poller poller;
  poller.add(router_.get()).add(publisher()).add(&waker_);
  std::int64_t wait_ms = 0;
  while (!stop_.load()) {
    poller.wait(std::chrono::milliseconds(wait_ms));
    waker_.clear();
    wait_ms = turn();
    if (sender_.has_waiting()) wait_ms = std::min(wait_ms, retry_wait_ms);
  }
  finish();
}

void Loop::ask_to_stop() noexcept {
  stop_.store(true);
  waker_.wake();
}

std::vector<Inbound> Loop::receive() {
  std::vector<Inbound> messages;
  std::size_t bytes = 0;
  while (messages.size() < limits::batch_deltas_max && bytes < limits::batch_bytes_max) {
    auto received = router_->receive();
    if (!received) break;
    bytes += received->bytes.size();
    messages.push_back({std::move(received->peer), std::move(received->bytes)});
  }
  return messages;
}

// --- CommitLoop

CommitLoop::CommitLoop(Clock& clock, std::unique_ptr<net::Router> router, RequestService service, FeedQueue& queue,
                       std::function<void()> wake_feed, Counters& counters, OnFatal on_fatal)
    : Loop(clock, std::move(router)),
      service_(std::move(service)),
      queue_(queue),
      wake_feed_(std::move(wake_feed)),
      counters_(counters),
      on_fatal_(std::move(on_fatal)) {}

std::int64_t CommitLoop::turn() {
  sender_.retry();
  commit_waiting();
  const bool has_more = tidy();
  service_.tick(clock_.steady_ms());
  counters_.set(service_.stats(), router_->dropped(), sender_.dropped());
  return has_more ? 0 : idle_wait_ms;
}

bool CommitLoop::commit_waiting() {
  const std::vector<Inbound> messages = receive();
  if (messages.empty() || failed_) return false;
  std::size_t bytes = 0;
  for (const Inbound& message : messages) bytes += message.bytes.size();
  return take(service_.handle(messages, clock_.wall_ms(), clock_.steady_ms()), bytes);
}

bool CommitLoop::tidy() {
  const std::int64_t now = clock_.steady_ms();
  if (failed_ || now < next_tidy_ms_) return false;
  RequestService::Turn turn = service_.tidy(clock_.wall_ms());
  const bool has_more = turn.has_more;
  // A step between two commits, so that it keeps up with any writer.
  next_tidy_ms_ = has_more ? now : now + limits::tidy_interval_ms;
  take(std::move(turn), 0);
  return has_more;
}

bool CommitLoop::take(RequestService::Turn turn, std::size_t bytes) {
  for (const Outbound& answer : turn.answers) sender_.answer(answer);
  if (!turn.events.empty()) {
    queue_.push(turn.events, bytes);
    wake_feed_();
  }
  if (!turn.fatal) return true;
  failed_ = true;
  on_fatal_(*turn.fatal);
  return false;
}

void CommitLoop::finish() {
  for (std::size_t turns = 0; turns < last_turns_max && commit_waiting(); ++turns) {
  }
  sender_.retry();
}

// --- QueryLoop

QueryLoop::QueryLoop(Clock& clock, std::unique_ptr<net::Router> router, QueryService service)
    : Loop(clock, std::move(router)), service_(std::move(service)) {}

std::int64_t QueryLoop::turn() {
  sender_.retry();
  const std::int64_t steady_ms = clock_.steady_ms();
  for (const Outbound& answer : service_.handle(receive(), clock_.wall_ms(), steady_ms)) {
    if (!sender_.answer(answer)) service_.forget(answer.peer);
  }
  service_.tick(steady_ms);
  if (service_.has_waiting()) return 0;
  return service_.is_verifying() ? retry_wait_ms : idle_wait_ms;
}

// --- FeedLoop

FeedLoop::FeedLoop(Clock& clock, std::unique_ptr<net::Router> router, std::unique_ptr<net::Publisher> open,
                   FeedService service, FeedQueue& queue, Counters& counters, std::int64_t heartbeat_ms)
    : Loop(clock, std::move(router)),
      open_(std::move(open)),
      service_(std::move(service)),
      queue_(queue),
      counters_(counters),
      heartbeat_ms_(heartbeat_ms),
      next_heartbeat_ms_(clock.steady_ms() + heartbeat_ms),
      send_([this](const PeerId& peer, std::string_view bytes) { return sender_.offer(peer, bytes); }) {
  if (open_) open_feed_.emplace(*open_);
}

std::int64_t FeedLoop::turn() {
  sender_.retry();
  for (const Outbound& answer : service_.handle(receive(), clock_.steady_ms())) sender_.answer(answer);
  publish();
  const bool more = service_.catch_up(send_);
  heartbeat();
  counters_.set(service_.stats(), queue_.overflows());
  if (more) return 0;
  if (service_.stats().behind > 0) return retry_wait_ms;
  return std::clamp<std::int64_t>(next_heartbeat_ms_ - clock_.steady_ms(), 0, idle_wait_ms);
}

void FeedLoop::publish() {
  if (open_) open_->drain();
  const FeedQueue::Events events = queue_.take();
  if (events.empty()) return;
  service_.publish(events, send_);
  if (open_feed_) open_feed_->publish(events, [this](const std::string& board) { return service_.is_open(board); });
}

void FeedLoop::heartbeat() {
  const std::int64_t now = clock_.steady_ms();
  if (now < next_heartbeat_ms_) return;
  next_heartbeat_ms_ = now + heartbeat_ms_;
  service_.heartbeat(now, send_);
  if (open_feed_) open_feed_->heartbeat();
}

void FeedLoop::finish() {
  publish();
  for (std::size_t turns = 0; turns < last_turns_max && service_.catch_up(send_); ++turns) {
  }
}

}  // namespace tafel::broker
