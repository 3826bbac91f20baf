// What the judge may see of a board: the cells as they are, and as they were at any retained version.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/model/field.hpp"

namespace tafel::conflict {

// One change of a cell: when, by whom, and the cell as it was after it.
struct CellChange {
  Version version = 0;
  std::string actor;
  std::optional<Cell> image;  // nullopt: it was taken away
};

class BoardView {
 public:
  using FieldVisitor = std::function<bool(const Path&, const FieldInfo&)>;  // false: stop
  // `now` is null for a tombstone; `changed` is the version of the cell's last change.
  using PartVisitor = std::function<bool(const CellKey&, const CellPointer& now, Version changed)>;

  virtual ~BoardView() = default;

  virtual Version version() const = 0;
  virtual Version floor() const = 0;  // the oldest base that can be judged
  // True when the board can be read as it was after `version`; below the floor that may be so for single ones.
  virtual bool keeps(Version version) const { return version >= floor() && version <= this->version(); }
  virtual std::optional<FieldInfo> field(const Path& path) const = 0;
  // Every field strictly below `path`, tombstones too, in path order.
  virtual void fields_below(const Path& path, const FieldVisitor& visit) const = 0;
  virtual void all_fields(const FieldVisitor& visit) const = 0;  // in no order that counts
  virtual CellPointer cell(const CellKey& key) const = 0;
  // The cell as it was after `version`, one that is kept.
  virtual CellPointer cell_as_of(const CellKey& key, Version version) const = 0;
  // The newest change of the cell at or before `version`; nullopt when there is none.
  virtual std::optional<CellChange> change_at(const CellKey& key, Version version) const = 0;
  // Every cell of one part (element, entry or suggestion) of one field, tombstones too, in the order of their ids.
  virtual void parts(const Path& path, Part part, const PartVisitor& visit) const = 0;
};

}  // namespace tafel::conflict
