// The differences of one field between two versions, gathered cell by cell and told as a map.
#pragma once

#include <map>
#include <optional>

#include "common/model/cell.hpp"

namespace tafel::broker {

class FieldDifference {
 public:
  // Nothing is added where both say the same: then only who said it is another.
  void add(const CellKey& key, const std::optional<Cell>& before, const std::optional<Cell>& after);
  bool empty() const { return leaf_.get_if<Map>()->empty() && lists_.empty(); }

  // {"before"?, "after"?, "elements"?, "entries"?, "suggestions"?}: the first two of a register, counter, max or min,
  // null where it was not there; the others {"added"?, "removed"?, "changed"?}, lists.
  Value words() const;
  // As one revision: {"value", "confidence", …} or {"gone": true} of the first; {"kind", "added"?, …} of a set or log;
  // "held" and "dropped" suggestions.
  Value as_revision() const;

 private:
  using Lists = std::map<std::string_view, List>;
  Value part_words(Part part) const;

  Value leaf_{Map{}};
  std::map<Part, Lists> lists_;
};

}  // namespace tafel::broker
