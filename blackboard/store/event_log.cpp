#include "blackboard/store/event_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "blackboard/store/record.hpp"
#include "common/base/limits.hpp"
#include "common/codec/event_codec.hpp"

namespace tafel::store {
namespace {

struct ReadEvent {
  std::shared_ptr<const Event> event;
  std::size_t bytes = 0;  // of its record
};

Result<ReadEvent> read_event(KvRead& kv, BoardNumber number, Version version) {
  const std::string key = event_key(number, version);
  const auto record = get_record(kv, Table::events, key);
  if (!record) return tl::unexpected(record.error());
  if (!*record) return bad_record(Table::events, key, fmt::format("the event of version {} is missing", version));
  auto event = codec::decode_event(**record);
  if (!event) return bad_record(Table::events, key, event.error().message);
  if (event->version != version) return bad_record(Table::events, key, "this is the event of another version");
  return ReadEvent{std::make_shared<const Event>(std::move(*event)), (*record)->size()};
}

tl::unexpected<Failure> broken_way(BoardNumber number, Version version, const Path& path) {
  return bad_record(Table::events, event_key(number, version),
                    fmt::format("the way back of {} is broken", path.text()));
}

}  // namespace

const TouchedField* find_touched(const Event& event, const Path& path) {
  const auto at = std::lower_bound(event.fields.begin(), event.fields.end(), path,
                                   [](const TouchedField& field, const Path& wanted) { return field.path < wanted; });
  return at != event.fields.end() && at->path == path ? &*at : nullptr;
}

Result<std::shared_ptr<const Event>> EventLog::event(BoardNumber number, Version version) {
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [&](const Kept& item) { return item.number == number && item.version == version; });
  if (kept != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, kept);
    return kept->event;
  }
  auto read = read_event(kv_, number, version);
  if (!read) return tl::unexpected(read.error());
  kept_.push_front({number, version, read->event, read->bytes});
  kept_bytes_ += read->bytes;
  const auto is_too_much = [this] {
    return kept_.size() > limits::store_kept_events_max ||
           (kept_.size() > limits::store_kept_events_min && kept_bytes_ > limits::store_kept_events_bytes);
  };
  while (is_too_much()) {
    kept_bytes_ -= kept_.back().bytes;
    kept_.pop_back();
  }
  return std::move(read->event);
}

void EventLog::forget(BoardNumber number, Version version) {
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [&](const Kept& item) { return item.number == number && item.version == version; });
  if (kept == kept_.end()) return;
  kept_bytes_ -= kept->bytes;
  kept_.erase(kept);
}

template <class PointersAt>
Result<Version> EventLog::walk_back(const blackboard::Trail& trail, Version version, PointersAt pointers_at) {
  Version at = trail.newest() <= version ? trail.newest() : trail.start_for(version);
  while (at > version) {
    const Result<blackboard::Trail::Pointers> pointers = pointers_at(at);
    if (!pointers) return tl::unexpected(pointers.error());
    at = pointers->jump >= version && pointers->jump > 0 ? pointers->jump : pointers->previous;
  }
  return at;
}

Result<const LoggedChange*> EventLog::change(BoardNumber number, const CellKey& key, Version version) {
  const auto found = event(number, version);
  if (!found) return tl::unexpected(found.error());
  const auto& changes = (*found)->changes;
  const auto at =
      std::lower_bound(changes.begin(), changes.end(), key,
                       [](const LoggedChange& change, const CellKey& wanted) { return change.change.key < wanted; });
  const bool is_found = at != changes.end() && at->change.key == key;
  const bool leads_back = is_found && at->previous < version && at->jump <= at->previous;
  if (!leads_back) return broken_way(number, version, key.path);
  return &*at;
}

Result<std::optional<std::optional<Cell>>> EventLog::image_as_of(BoardNumber number, const CellKey& key,
                                                                 const StoredCell& now, Version version) {
  if (now.trail.newest() <= version) {
    auto cell = now.cell();
    if (!cell) return tl::unexpected(cell.error());
    return std::optional(std::move(*cell));
  }
  const auto at = newest_at(number, key, now.trail, version);
  if (!at) return tl::unexpected(at.error());
  if (*at == 0) return std::nullopt;
  const auto logged = change(number, key, *at);
  if (!logged) return tl::unexpected(logged.error());
  return std::optional((*logged)->change.image);
}

Result<std::optional<conflict::CellChange>> EventLog::change_at(BoardNumber number, const CellKey& key,
                                                                const StoredCell& now, Version version) {
  const auto at = newest_at(number, key, now.trail, version);
  if (!at) return tl::unexpected(at.error());
  if (*at == 0) return std::nullopt;
  const auto logged = change(number, key, *at);
  if (!logged) return tl::unexpected(logged.error());
  auto image = (*logged)->change.image;
  const auto made = event(number, *at);
  if (!made) return tl::unexpected(made.error());
  return conflict::CellChange{*at, (*made)->actor, std::move(image)};
}

Result<Version> EventLog::newest_at(BoardNumber number, const CellKey& key, const blackboard::Trail& trail,
                                    Version version) {
  return walk_back(trail, version, [&](Version newer) -> Result<blackboard::Trail::Pointers> {
    const auto logged = change(number, key, newer);
    if (!logged) return tl::unexpected(logged.error());
    return blackboard::Trail::Pointers{(*logged)->previous, (*logged)->jump};
  });
}

Result<std::shared_ptr<const Event>> EventLog::revision_as_of(BoardNumber number, const Path& path,
                                                              const blackboard::Trail& trail, Version version) {
  const auto at = walk_back(trail, version, [&](Version newer) -> Result<blackboard::Trail::Pointers> {
    const auto found = event(number, newer);
    if (!found) return tl::unexpected(found.error());
    const TouchedField* touched = find_touched(**found, path);
    const bool leads_back = touched != nullptr && touched->previous < newer && touched->jump <= touched->previous;
    if (!leads_back) return broken_way(number, newer, path);
    return blackboard::Trail::Pointers{touched->previous, touched->jump};
  });
  if (!at) return tl::unexpected(at.error());
  if (*at == 0) return nullptr;
  return event(number, *at);
}

}  // namespace tafel::store
