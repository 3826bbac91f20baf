// The events of the store, seen through one transaction, and the way back to older images of a cell.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "blackboard/store/layout.hpp"

namespace tafel::store {

class EventLog {
 public:
  explicit EventLog(KvRead& kv) : kv_(kv) {}

  // The event that made `version`, which the caller knows to exist: Fault::bad_bytes when it is not there.
  Result<std::shared_ptr<const Event>> event(BoardNumber number, Version version);

  // The cell as it was after `version`. `now` is its record; the way back goes along the pointers of each change.
  Result<std::optional<Cell>> image_as_of(BoardNumber number, const CellKey& key, const StoredCell& now,
                                          Version version);
  // The newest change of the cell at or before `version`; nullopt when there is none.
  Result<std::optional<conflict::CellChange>> change_at(BoardNumber number, const CellKey& key, const StoredCell& now,
                                                        Version version);

 private:
  struct Kept {
    BoardNumber number;
    Version version;
    std::shared_ptr<const Event> event;
  };

  // The version of the newest change at or before `version`; 0 when there is none.
  Result<Version> newest_at(BoardNumber number, const CellKey& key, const StoredCell& now, Version version);
  Result<const LoggedChange*> change(BoardNumber number, const CellKey& key, Version version);

  KvRead& kv_;
  std::deque<Kept> kept_;  // most recently used first: the cells of one delta often lead back to the same events
};

}  // namespace tafel::store
