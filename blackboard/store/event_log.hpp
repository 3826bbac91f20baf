// The events of the store, seen through one transaction, and the way back to older images of a cell.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "blackboard/store/layout.hpp"
#include "conflict/board_view.hpp"

namespace tafel::store {

// What the event says of the field; null when it did not change it.
const TouchedField* find_touched(const Event& event, const Path& path);

// The log of one board: its events from the floor on. What was before lies in the table `floors`, as far as it is kept.
struct BoardLog {
  BoardNumber number = BoardNumber::none;
  Version floor = 0;
};

class EventLog {
 public:
  explicit EventLog(KvRead& kv) : kv_(kv) {}

  // The event that made `version`, which the caller knows to exist: Fault::bad_bytes when it is not there.
  Result<std::shared_ptr<const Event>> event(BoardNumber number, Version version);

  // The event has been rewritten.
  void forget(BoardNumber number, Version version);

  // The cell as it was after `version`; nullopt when no change at or before it is known. `now` is its record; the way
  // back goes along the pointers of each change.
  Result<std::optional<std::optional<Cell>>> image_as_of(const BoardLog& log, const CellKey& key, const StoredCell& now,
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
  struct Kept {
    BoardNumber number;
    Version version;
    std::shared_ptr<const Event> event;
  };

  // The version of the newest change at or before `version`, 0 when there is none; or any one below the floor, from
  // where the kept images lead on.
  Result<Version> newest_at(const BoardLog& log, const CellKey& key, const blackboard::Trail& trail, Version version);
  Result<Version> newest_at(const BoardLog& log, const Path& path, const blackboard::Trail& trail, Version version);
  Result<std::optional<StoredCell>> kept_at(const BoardLog& log, const CellKey& key, Version found, Version version);
  Result<const LoggedChange*> change(BoardNumber number, const CellKey& key, Version version);
  // `pointers_at` reads those that an event recorded.
  template <class PointersAt>
  Result<Version> walk_back(const BoardLog& log, const blackboard::Trail& trail, Version version,
                            PointersAt pointers_at);

  KvRead& kv_;
  std::deque<Kept> kept_;  // most recently used first: the cells of one delta often lead back to the same events
};

}  // namespace tafel::store
