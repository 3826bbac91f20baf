// Counts the cells of a field, to hold what its record says of them against what they are.
#pragma once

#include <optional>

#include "common/model/cell.hpp"
#include "common/model/field.hpp"

namespace tafel::store {

class FieldCount {
 public:
  void add(const CellKey& key, const Cell& cell);  // a live one
  bool fits(const FieldInfo& info) const;

 private:
  std::uint64_t parts_ = 0;
  std::uint64_t lasting_ = 0;
  std::optional<Kind> kind_;
  bool is_mixed_ = false;
};

}  // namespace tafel::store
