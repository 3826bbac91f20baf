#include "blackboard/store/field_count.hpp"

namespace tafel::store {

void FieldCount::add(const CellKey& key, const Cell& cell) {
  if (key.part == Part::suggestion) return;
  ++parts_;
  if (!may_expire(cell)) ++lasting_;
  is_mixed_ = is_mixed_ || (kind_ && kind_ != kind_of(cell));
  kind_ = kind_of(cell);
}

bool FieldCount::fits(const FieldInfo& info) const {
  return parts_ == info.parts && lasting_ == info.lasting && kind_ == info.kind && !is_mixed_;
}

}  // namespace tafel::store
