#include "broker/open_feed.hpp"

#include <algorithm>

#include "common/base/hash.hpp"
#include "common/base/limits.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/protocol.hpp"
#include "common/model/names.hpp"

namespace tafel::broker {
namespace {
constexpr std::size_t tenant_bytes = 8;
constexpr std::size_t board_bytes = 16;
constexpr unsigned beats_after_change = 60;
}  // namespace

std::string open_feed_topic(std::string_view board) {
  const Sha256 tenant = sha256(tenant_of(board));
  const Sha256 whole = sha256(board);
  std::string topic(as_view(tenant).substr(0, tenant_bytes));
  return topic.append(as_view(whole).substr(0, board_bytes));
}

void OpenFeed::publish(const std::vector<std::shared_ptr<const Event>>& events, const IsOpen& is_open) {
  for (const auto& event : events) {
    if (!is_open(event->board)) continue;
    const std::string encoded = codec::encode_feed_event(codec::feed_event_of(*event));
    publisher_.publish(open_feed_topic(event->board), codec::encode_events_message(event->board, {encoded}));
    remember(*event);
  }
}

void OpenFeed::remember(const Event& event) {
  if (recent_.size() >= limits::open_feed_boards_max && !recent_.contains(event.board)) {
    recent_.erase(std::min_element(recent_.begin(), recent_.end(), [](const auto& left, const auto& right) {
      return left.second.beats_left < right.second.beats_left;
    }));
  }
  recent_[event.board] = {event.version, beats_after_change};
}

void OpenFeed::heartbeat() {
  for (auto& [board, recent] : recent_) {
    const Map heads{{board, Value(recent.version)}};
    const codec::Message message{std::string(codec::message::heartbeat), 0, Value(Map{{"heads", Value(heads)}})};
    publisher_.publish(open_feed_topic(board), codec::encode_message(message));
    --recent.beats_left;
  }
  std::erase_if(recent_, [](const auto& entry) { return entry.second.beats_left == 0; });
}

}  // namespace tafel::broker
