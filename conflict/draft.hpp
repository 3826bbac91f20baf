// The board as one delta leaves it while it is being judged: the view before the delta, under the changes made so far.
// What has expired is absent here, whether it was swept or not.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "conflict/board_view.hpp"

namespace tafel::conflict {

class Draft {
 public:
  Draft(const BoardView& board, Version base, TimeMs now) : board_(board), base_(base), now_(now) {}

  // As it is now, with the changes of this delta.
  CellPointer cell(const CellKey& key) const;
  std::optional<Kind> kind(const Path& path) const;  // nullopt: the leaf is absent
  std::vector<std::pair<Path, Kind>> leaves_below(const Path& path,
                                                  std::size_t count_max) const;    // strictly below, in path order
  std::vector<std::pair<CellKey, Cell>> parts(const Path& path, Part part) const;  // in the order of their ids
  bool has_part(const Path& path, Part part) const;

  // As the writer saw it: after version `base`, without this delta.
  CellPointer seen(const CellKey& key) const;
  CellPointer as_of(const CellKey& key, Version version) const;  // another version, likewise
  std::vector<std::pair<CellKey, Cell>> seen_parts(const Path& path, Part part) const;

  void put(const CellKey& key, std::optional<Cell> image);
  // Removes what has expired at, above and below an absent leaf before it is written: stored cells keep to the
  // structure whatever the clock of a reader says.
  void make_room(const Path& path);

  // Changes since a point, to be taken back when an op is rejected.
  std::size_t point() const { return undo_.size(); }
  void back_to(std::size_t point);

  bool is_changed() const { return !overlay_.empty(); }
  std::vector<Change> changes() const;  // by cell key

  const BoardView& board() const { return board_; }
  Version base() const { return base_; }
  Version version() const { return board_.version() + 1; }  // the one that this delta takes
  TimeMs now() const { return now_; }

 private:
  using Overlay = std::map<CellKey, CellPointer>;
  CellPointer alive(CellPointer cell) const;
  void remove_expired(const Path& path);
  std::optional<Kind> kind_in_board(const Path& path, bool ignore_overlaid_parts) const;

  const BoardView& board_;
  Version base_;
  TimeMs now_;
  Overlay overlay_;
  std::vector<std::pair<CellKey, std::optional<CellPointer>>> undo_;  // what the overlay held before
};

}  // namespace tafel::conflict
