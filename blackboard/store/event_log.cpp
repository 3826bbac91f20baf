#include "blackboard/store/event_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "blackboard/store/floors.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/limits.hpp"
#include "common/codec/event_codec.hpp"

namespace tafel::store {
namespace {

Result<std::shared_ptr<const Event>> read_event(KvRead& kv, BoardNumber number, Version version) {
  const std::string key = event_key(number, version);
  const auto record = get_record(kv, Table::events, key);
  if (!record) return tl::unexpected(record.error());
  if (!*record) return bad_record(Table::events, key, fmt::format("the event of version {} is missing", version));
  auto event = codec::decode_event(**record);
  if (!event) return bad_record(Table::events, key, event.error().message);
  if (event->version != version) return bad_record(Table::events, key, "this is the event of another version");
  return std::make_shared<const Event>(std::move(*event));
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
    Kept item = std::move(*kept);
    kept_.erase(kept);
    kept_.push_front(std::move(item));
    return kept_.front().event;
  }
  auto event = read_event(kv_, number, version);
  if (!event) return event;
  kept_.push_front({number, version, *event});
  if (kept_.size() > limits::store_kept_events_max) kept_.pop_back();
  return event;
}

void EventLog::forget(BoardNumber number, Version version) {
  std::erase_if(kept_, [&](const Kept& item) { return item.number == number && item.version == version; });
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

Result<std::optional<std::optional<Cell>>> EventLog::image_as_of(const BoardLog& log, const CellKey& key,
                                                                 const StoredCell& now, Version version) {
  const auto told = [](const StoredCell& stored) -> Result<std::optional<std::optional<Cell>>> {
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
  return std::optional((*logged)->change.image);
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
    auto image = (*kept)->cell();
    if (!image) return tl::unexpected(image.error());
    return conflict::CellChange{(*kept)->trail.newest(), {}, std::move(*image)};
  }
  const auto logged = change(log.number, key, *at);
  if (!logged) return tl::unexpected(logged.error());
  auto image = (*logged)->change.image;
  const auto made = event(log.number, *at);
  if (!made) return tl::unexpected(made.error());
  return conflict::CellChange{*at, (*made)->actor, std::move(image)};
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
    return blackboard::Trail::Pointers{(*logged)->previous, (*logged)->jump};
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
