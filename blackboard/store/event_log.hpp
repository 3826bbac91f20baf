// The events of the store, seen through one transaction, and the way back to older images of a cell.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <unordered_map>

#include "blackboard/store/layout.hpp"
#include "common/base/limits.hpp"
#include "conflict/board_view.hpp"

namespace tafel::store {

// What the event says of the field; null when it did not change it.
const TouchedField* find_touched(const Event& event, const Path& path);

// The log of one board: its events from the floor on. What was before lies in the table `floors`, as far as it is kept.
struct BoardLog {
  BoardNumber number = BoardNumber::none;
  Version floor = 0;
};

// Decoded events, the most recently used ones: the cells of one delta often lead back to the same events, and so do the
// ways from one revision of a field to the next; a whole such way must find room.
class EventCache {
 public:
  struct Limits {
    std::size_t events_min = limits::store_kept_events_min;  // so many whatever their size
    std::size_t events_max = limits::store_kept_events_max;
    std::size_t bytes_max = limits::store_kept_events_bytes;  // of their records
  };

  EventCache() : EventCache(Limits()) {}
  explicit EventCache(const Limits& limits) : limits_(limits) {}

  std::shared_ptr<const Event> find(BoardNumber number, Version version);  // null: not kept
  void keep(BoardNumber number, std::shared_ptr<const Event> event, std::size_t record_bytes);
  void forget(BoardNumber number, Version version);
  void clear();

 private:
  struct Key {
    BoardNumber number;
    Version version;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>(key.version * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(key.number));
    }
  };
  struct Kept {
    Key key;
    std::shared_ptr<const Event> event;
    std::size_t bytes = 0;
  };
  void drop(std::list<Kept>::iterator kept);

  Limits limits_;
  std::list<Kept> kept_;  // most recently used first
  std::unordered_map<Key, std::list<Kept>::iterator, Hash> places_;
  std::size_t bytes_ = 0;
};

class EventLog {
 public:
  explicit EventLog(KvRead& kv) : EventLog(kv, std::make_shared<EventCache>()) {}
  EventLog(KvRead& kv, std::shared_ptr<EventCache> cache) : kv_(kv), cache_(std::move(cache)) {}

  // The event that made `version`, which the caller knows to exist: Fault::bad_bytes when it is not there.
  Result<std::shared_ptr<const Event>> event(BoardNumber number, Version version);

  // The event has been written just now, or rewritten.
  void keep(BoardNumber number, std::shared_ptr<const Event> event, std::size_t record_bytes) {
    cache_->keep(number, std::move(event), record_bytes);
  }
  void forget(BoardNumber number, Version version) { cache_->forget(number, version); }

  // The cell as it was after `version` (null: it was not there); nullopt when no change at or before it is known. `now`
  // is its record; the way back goes along the pointers of each change.
  Result<std::optional<CellPointer>> image_as_of(const BoardLog& log, const CellKey& key, const StoredCell& now,
                                                 Version version);

  // The newest change of the cell at or before `version`; nullopt when there is none. Of one below the floor the actor
  // is not known.
  Result<std::optional<conflict::CellChange>> change_at(const BoardLog& log, const CellKey& key, const StoredCell& now,
                                                        Version version);

  // The newest event at or before `version` that changed the field; null when there is none. `trail` is that of its
  // record.
  Result<std::shared_ptr<const Event>> revision_as_of(const BoardLog& log, const Path& path,
                                                      const blackboard::Trail& trail, Version version);

  // What was known of the field after `version`; nullopt when it had not been written to by then.
  Result<std::optional<FieldInfo>> field_as_of(const BoardLog& log, const Path& path, const FieldRecord& now,
                                               Version version);

 private:
  struct FoundChange {
    std::shared_ptr<const Event> event;
    const LoggedChange* change = nullptr;  // in the event
  };

  // The version of the newest change at or before `version`, 0 when there is none; or any one below the floor, from
  // where the kept images lead on.
  Result<Version> newest_at(const BoardLog& log, const CellKey& key, const blackboard::Trail& trail, Version version);
  Result<Version> newest_at(const BoardLog& log, const Path& path, const blackboard::Trail& trail, Version version);
  Result<std::optional<StoredCell>> kept_at(const BoardLog& log, const CellKey& key, Version found, Version version);
  Result<FoundChange> change(BoardNumber number, const CellKey& key, Version version);
  // `pointers_at` reads those that an event recorded.
  template <class PointersAt>
  Result<Version> walk_back(const BoardLog& log, const blackboard::Trail& trail, Version version,
                            PointersAt pointers_at);

  KvRead& kv_;
  std::shared_ptr<EventCache> cache_;
};

}  // namespace tafel::store
