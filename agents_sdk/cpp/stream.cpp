#include "agents_sdk/cpp/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agents_sdk/cpp/bodies.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::sdk {
namespace {

constexpr std::size_t messages_per_turn = 16;

}  // namespace

Stream::Stream(std::unique_ptr<Channel> channel, StreamOptions options)
    : channel_(std::move(channel)), options_(std::move(options)), position_(options_.from) {}

void Stream::tick(const std::string& endpoint, std::int64_t now) {
  if (options_.home && !options_.home->still_behind(options_.number, position_)) return finish();
  paused_ = options_.queue->full();
  channel_->liveness().pause(paused_, now);
  if (paused_) return;
  channel_->aim(endpoint);
  channel_->tick(now);
  receive(now);
  if (std::exchange(generation_, channel_->generation()) != channel_->generation() ||
      (ask_ != 0 && !channel_->open())) {
    tell_lost();
    ask_ = 0;
    confirmed_ = false;
  }
  if (ask_ != 0 && !confirmed_ && now - asked_at_ >= limits::resend_ms) ask_ = 0;  // the answer may be lost
  if (!finished_ && ask_ == 0 && channel_->open() && now >= not_before_) subscribe(now);
  channel_->liveness().await_answer(ask_ != 0 && !confirmed_);
  channel_->liveness().expect_heartbeat(confirmed_ ? channel_->welcome().heartbeat_ms : 0);
}

void Stream::subscribe(std::int64_t now) {
  const std::uint64_t id = channel_->new_id();
  const codec::Message message{std::string(codec::message::subscribe), id,
                               codec::to_value(codec::Subscribe{options_.board, position_, options_.paths})};
  if (!channel_->send(codec::encode_message(message), now)) return;
  ask_ = id;
  asked_at_ = now;
}

std::int64_t Stream::next(std::int64_t now) const {
  if (paused_) return now + limits::ping_ms;  // the queue wakes the link
  std::int64_t at = channel_->next(now);
  if (ask_ == 0 && not_before_ > now) at = std::min(at, not_before_);
  return at;
}

void Stream::receive(std::int64_t now) {
  for (std::size_t i = 0; i < messages_per_turn && !finished_ && !options_.queue->full(); ++i) {
    const auto received = channel_->receive(now);
    if (!received) return;
    handle(*received, now);
  }
}

void Stream::handle(const Channel::Received& received, std::int64_t now) {
  const codec::Message& message = received.message;
  if (message.type == codec::message::error) return refused(message, now);
  if (message.type == codec::message::subscribed && message.id == ask_)
    return subscribed(text_of(message.body, "epoch"), now);
  if (message.type == codec::message::resync && message.id == ask_) {
    started({});
    return begin_at(number_of(message.body, "floor").value_or(position_), now);
  }
  if (!confirmed_ || text_of(message.body, "board") != options_.board) return;
  if (message.type == codec::message::live) {
    live_ = true;
    wait_ms_ = 0;
    if (!options_.home) options_.queue->push(told_of(BoardEvent::Type::live, position_), 0);
  } else if (message.type == codec::message::events) {
    auto events = codec::events_from_value(message.body);
    events ? take(std::move(events->events), received.bytes, now) : subscribe_anew(now);
  }
}

void Stream::take(std::vector<codec::FeedEvent> events, std::size_t bytes, std::int64_t now) {
  const std::size_t share = bytes / std::max<std::size_t>(events.size(), 1);
  for (codec::FeedEvent& event : events) {
    // The mirror may have taken the watcher back with a resync, or the watch may have ended.
    if (options_.home && !options_.home->still_behind(options_.number, position_)) return finish();
    if (event.version <= position_) continue;
    if (event.version > position_ + 1) return subscribe_anew(now);
    position_ = event.version;
    BoardEvent change = told_of(BoardEvent::Type::change, position_);
    change.event = std::make_shared<const codec::FeedEvent>(std::move(event));
    const bool ends = takes_board(change.event->changes) && !options_.home;  // a mirror tells its watchers itself
    options_.queue->push(std::move(change), share);
    if (ends) return tell_deleted();
  }
  if (options_.home && !options_.home->still_behind(options_.number, position_)) finish();
}

void Stream::subscribed(const std::string& epoch, std::int64_t now) {
  started({});
  const bool is_other_store = !options_.epoch.empty() && options_.epoch != epoch;
  options_.epoch = epoch;
  confirmed_ = true;
  if (is_other_store) begin_at(0, now);
}

void Stream::refused(const codec::Message& message, std::int64_t now) {
  if (message.id != ask_ || ask_ == 0) return;
  subscribe_anew(now);
  const auto error = codec::error_from_value(message.body);
  if (!error || error->retryable) return;
  if (options_.started) {
    started(fail(fault_of(*error), fmt::format("{}: {}", name_of(error->code), error->message)));
    return finish();
  }
  if (error->code == ErrorCode::deleted && !options_.home) {
    position_ = std::max(position_, deleted_version(*error));
    return tell_deleted();
  }
  if (error->code == ErrorCode::future_base) begin_at(0, now);  // another store
}

// The versions up to there are not to be had one by one.
void Stream::begin_at(Version version, std::int64_t now) {
  if (options_.home) {
    options_.home->skip_to_mirror(options_.number);
    return finish();
  }
  position_ = version;
  options_.queue->push(told_of(BoardEvent::Type::resync, version), 0);
  subscribe_anew(now);
}

void Stream::subscribe_anew(std::int64_t now) {
  ask_ = 0;
  confirmed_ = false;
  live_ = false;
  wait_ms_ = std::clamp(wait_ms_ * 2, limits::retry_ms_min, limits::retry_ms_max);
  not_before_ = now + wait_ms_;
}

void Stream::tell_lost() {
  if (std::exchange(live_, false) && !options_.home)
    options_.queue->push(told_of(BoardEvent::Type::lost, position_), 0);
}

void Stream::tell_deleted() {
  options_.queue->push(told_of(BoardEvent::Type::deleted, position_), 0);
  finish();
}

void Stream::started(Result<void> result) {
  if (const auto tell = std::exchange(options_.started, nullptr)) tell(std::move(result));
}

}  // namespace tafel::sdk
