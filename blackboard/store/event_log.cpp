#include "blackboard/store/event_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "blackboard/store/floors.hpp"
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

std::shared_ptr<const Event> EventCache::find(BoardNumber number, Version version) {
  const auto place = places_.find({number, version});
  if (place == places_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, place->second);
  return place->second->event;
}

void EventCache::keep(BoardNumber number, std::shared_ptr<const Event> event, std::size_t record_bytes) {
  const Key key{number, event->version};
  forget(number, event->version);
  kept_.push_front({key, std::move(event), record_bytes});
  places_.emplace(key, kept_.begin());
  bytes_ += record_bytes;
  while (kept_.size() > limits_.events_max || (kept_.size() > limits_.events_min && bytes_ > limits_.bytes_max))
    drop(std::prev(kept_.end()));
}

void EventCache::forget(BoardNumber number, Version version) {
  if (const auto place = places_.find({number, version}); place != places_.end()) drop(place->second);
}

void EventCache::clear() {
  kept_.clear();
  places_.clear();
  bytes_ = 0;
}

void EventCache::drop(std::list<Kept>::iterator kept) {
  bytes_ -= kept->bytes;
  places_.erase(kept->key);
  kept_.erase(kept);
}

Result<std::shared_ptr<const Event>> EventLog::event(BoardNumber number, Version version) {
  if (auto kept = cache_->find(number, version)) return kept;
  auto read = read_event(kv_, number, version);
  if (!read) return tl::unexpected(read.error());
  cache_->keep(number, read->event, read->bytes);
  return std::move(read->event);
}

template <class PointersAt>
Result<Version> EventLog::walk_back(const BoardLog& log, const blackboard::Trail& trail, Version version,
                                    PointersAt pointers_at) {
  Version at = trail.newest() <= version ? trail.newest() : trail.start_for(version);
  while (at > version && at >= log.floor) {
    const Result<blackboard::Trail::Pointers> pointers = pointers_at(at);
    if (!pointers) return tl::unexpected(pointers.error());
    at = pointers->jump >= version && pointers->jump > 0 ? pointers->jump : pointers->previous;
  }
  return at;
}

Result<EventLog::FoundChange> EventLog::change(BoardNumber number, const CellKey& key, Version version) {
  auto found = event(number, version);
  if (!found) return tl::unexpected(found.error());
  const auto& changes = (*found)->changes;
  const auto at =
      std::lower_bound(changes.begin(), changes.end(), key,
                       [](const LoggedChange& change, const CellKey& wanted) { return change.change.key < wanted; });
  const bool is_found = at != changes.end() && at->change.key == key;
  const bool leads_back = is_found && at->previous < version && at->jump <= at->previous;
  if (!leads_back) return broken_way(number, version, key.path);
  return FoundChange{std::move(*found), &*at};
}

Result<std::optional<CellPointer>> EventLog::image_as_of(const BoardLog& log, const CellKey& key, const StoredCell& now,
                                                         Version version) {
  const auto told = [](const StoredCell& stored) -> Result<std::optional<CellPointer>> {
    auto cell = stored.cell();
    if (!cell) return tl::unexpected(cell.error());
    return std::optional(std::move(*cell));
  };
  if (now.trail.newest() <= version) return told(now);
  const auto at = newest_at(log, key, now.trail, version);
  if (!at) return tl::unexpected(at.error());
  if (*at == 0) return std::nullopt;
  if (*at < log.floor) {
    const auto kept = kept_at(log, key, *at, version);
    if (!kept) return tl::unexpected(kept.error());
    if (!*kept) return std::nullopt;
    return told(**kept);
  }
  const auto logged = change(log.number, key, *at);
  if (!logged) return tl::unexpected(logged.error());
  const auto& image = logged->change->change.image;
  return std::optional(image ? CellPointer(logged->event, &*image) : nullptr);
}

Result<std::optional<conflict::CellChange>> EventLog::change_at(const BoardLog& log, const CellKey& key,
                                                                const StoredCell& now, Version version) {
  const auto at = newest_at(log, key, now.trail, version);
  if (!at) return tl::unexpected(at.error());
  if (*at == 0) return std::nullopt;
  if (*at < log.floor) {
    // The newest of all lies in the record itself.
    const auto kept =
        now.trail.newest() <= version ? Result<std::optional<StoredCell>>(now) : kept_at(log, key, *at, version);
    if (!kept) return tl::unexpected(kept.error());
    if (!*kept) return std::nullopt;
    const auto cell = (*kept)->cell();
    if (!cell) return tl::unexpected(cell.error());
    return conflict::CellChange{(*kept)->trail.newest(), {}, copy_of(*cell)};
  }
  const auto logged = change(log.number, key, *at);
  if (!logged) return tl::unexpected(logged.error());
  return conflict::CellChange{*at, logged->event->actor, logged->change->change.image};
}

Result<std::optional<StoredCell>> EventLog::kept_at(const BoardLog& log, const CellKey& key, Version found,
                                                    Version version) {
  auto kept = kept_cell(kv_, log.number, key, version);
  if (!kept) return kept;
  // What was found by the way back, and is no event any more, must be there.
  if (found <= version && (!*kept || (*kept)->trail.newest() != found))
    return bad_record(Table::floors, floor_key(log.number, key, found), "the image of a cell is missing");
  return kept;
}

Result<Version> EventLog::newest_at(const BoardLog& log, const CellKey& key, const blackboard::Trail& trail,
                                    Version version) {
  return walk_back(log, trail, version, [&](Version newer) -> Result<blackboard::Trail::Pointers> {
    const auto logged = change(log.number, key, newer);
    if (!logged) return tl::unexpected(logged.error());
    return blackboard::Trail::Pointers{logged->change->previous, logged->change->jump};
  });
}

Result<Version> EventLog::newest_at(const BoardLog& log, const Path& path, const blackboard::Trail& trail,
                                    Version version) {
  return walk_back(log, trail, version, [&](Version newer) -> Result<blackboard::Trail::Pointers> {
    const auto found = event(log.number, newer);
    if (!found) return tl::unexpected(found.error());
    const TouchedField* touched = find_touched(**found, path);
    const bool leads_back = touched != nullptr && touched->previous < newer && touched->jump <= touched->previous;
    if (!leads_back) return broken_way(log.number, newer, path);
    return blackboard::Trail::Pointers{touched->previous, touched->jump};
  });
}

Result<std::shared_ptr<const Event>> EventLog::revision_as_of(const BoardLog& log, const Path& path,
                                                              const blackboard::Trail& trail, Version version) {
  const auto at = newest_at(log, path, trail, version);
  if (!at) return tl::unexpected(at.error());
  if (*at == 0 || *at < log.floor) return nullptr;
  return event(log.number, *at);
}

Result<std::optional<FieldInfo>> EventLog::field_as_of(const BoardLog& log, const Path& path, const FieldRecord& now,
                                                       Version version) {
  const auto at = newest_at(log, path, now.trail, version);
  if (!at) return tl::unexpected(at.error());
  if (*at == 0) return std::nullopt;
  if (now.trail.newest() <= version) return now.info;
  if (*at < log.floor) {
    const auto kept = kept_field(kv_, log.number, path, version);
    if (!kept) return tl::unexpected(kept.error());
    if (*at <= version && (!*kept || (*kept)->trail.newest() != *at))
      return bad_record(Table::floors, floor_key(log.number, field_key(path), *at), "the image of a field is missing");
    return *kept ? std::optional((*kept)->info) : std::nullopt;
  }
  const auto made = event(log.number, *at);
  if (!made) return tl::unexpected(made.error());
  const TouchedField* touched = find_touched(**made, path);
  if (touched == nullptr) return broken_way(log.number, *at, path);
  return touched->info;
}

}  // namespace tafel::store
