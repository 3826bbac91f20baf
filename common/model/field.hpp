// What is known of a field as a whole, whatever cells it has.
#pragma once

#include <cstdint>
#include <optional>

#include "common/model/cell.hpp"

namespace tafel {

// It stays, as a tombstone, when the last part of the field goes.
struct FieldInfo {
  std::optional<Kind> kind;   // nullopt: the field is absent
  Version changed = 0;        // of its last change, removal included; suggestions do not count
  std::uint64_t parts = 0;    // live elements or entries; 1 for a field that is one cell
  std::uint64_t lasting = 0;  // those of them that can not expire

  friend bool operator==(const FieldInfo&, const FieldInfo&) = default;
};

}  // namespace tafel
