// A board in memory: its live cells and their digest. Mirrors keep one; the server fills one with the part of a board
// that a query asks for. `apply` is the only way state changes. Not safe for use by several threads at once.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "common/model/cell.hpp"

namespace tafel::blackboard {

class Board {
 public:
  using Cells = std::map<CellKey, Cell>;

  // Puts one after-image in place and keeps the digest. Of a version newer than the board's, or of a page of a
  // snapshot.
  void put(const CellKey& key, std::optional<Cell> image);
  // All changes of one version. The board is at `version` afterwards.
  void apply(Version version, const std::vector<Change>& changes);
  void set_version(Version version) { version_ = version; }

  Version version() const { return version_; }
  const Sum128& digest() const { return digest_; }
  const Cells& cells() const { return cells_; }
  const Cell* find(const CellKey& key) const;
  // The cells at and below `path` (nullopt: all), in key order.
  std::pair<Cells::const_iterator, Cells::const_iterator> range(const std::optional<Path>& path) const;

 private:
  void remove_field(const Path& path);
  void remove_all();

  Version version_ = 0;
  Sum128 digest_;
  Cells cells_;
};

}  // namespace tafel::blackboard
