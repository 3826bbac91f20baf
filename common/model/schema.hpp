// The declared rules of fields, as data that the judge is given. Where they come from (a versioned event of the board)
// is not built yet; an empty schema declares nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/model/delta.hpp"
#include "common/model/names.hpp"

namespace tafel {

// What happens to a concurrent value of equal confidence.
enum class OnConflict : std::uint8_t { keep_both, latest, first, reject };
std::optional<OnConflict> on_conflict_from(std::string_view name);

struct FieldRule {
  std::optional<Kind> kind;
  bool whole = false;  // type object or any: a map is one value, not spread
  bool allow_blank = false;
  OnConflict on_conflict = OnConflict::keep_both;
  std::optional<std::int64_t> floor;  // counters
  std::optional<std::int64_t> ceil;
  std::int64_t initial = 0;
  std::optional<std::uint64_t> keep;  // logs: entries that stay
};

class Schema {
 public:
  void declare(const Path& path, FieldRule rule) { rules_[path] = rule; }
  // The rule of a path; a rule that declares nothing where there is none.
  const FieldRule& rule(const Path& path) const;
  bool empty() const { return rules_.empty(); }

 private:
  std::map<Path, FieldRule> rules_;
};

}  // namespace tafel
