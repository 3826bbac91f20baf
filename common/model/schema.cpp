#include "common/model/schema.hpp"

namespace tafel {

std::optional<OnConflict> on_conflict_from(std::string_view name) {
  if (name == "keep_both") return OnConflict::keep_both;
  if (name == "latest") return OnConflict::latest;
  if (name == "first") return OnConflict::first;
  if (name == "reject") return OnConflict::reject;
  return std::nullopt;
}

const FieldRule& Schema::rule(const Path& path) const {
  static const FieldRule nothing_declared;
  const auto at = rules_.find(path);
  return at == rules_.end() ? nothing_declared : at->second;
}

}  // namespace tafel
