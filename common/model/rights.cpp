#include "common/model/rights.hpp"

#include <algorithm>
#include <array>

namespace tafel {
namespace {
constexpr std::array<std::string_view, right_count> right_names{
    "read",   "set",    "patch", "incr",  "max",   "min", "append", "unset",  "accept",        "dismiss",
    "revert", "schema", "fork",  "merge", "erase", "tag", "retain", "delete", "read_personal", "read_secret"};
}

std::string_view name_of(Right right) { return right_names[static_cast<std::size_t>(right)]; }

std::optional<Right> right_from(std::string_view name) {
  const auto at = std::find(right_names.begin(), right_names.end(), name);
  if (at == right_names.end()) return std::nullopt;
  return static_cast<Right>(at - right_names.begin());
}

Right right_of(Verb verb) {
  switch (verb) {
    case Verb::set:
    case Verb::copy:
    case Verb::move: return Right::set;
    case Verb::patch:
    case Verb::add_item: return Right::patch;
    case Verb::incr: return Right::incr;
    case Verb::max: return Right::max;
    case Verb::min: return Right::min;
    case Verb::append: return Right::append;
    case Verb::unset: return Right::unset;
    case Verb::accept: return Right::accept;
    case Verb::dismiss: return Right::dismiss;
    case Verb::revert: return Right::revert;
    case Verb::schema: return Right::schema;
    case Verb::fork: return Right::fork;
    case Verb::merge: return Right::merge;
    case Verb::erase: return Right::erase;
    case Verb::tag: return Right::tag;
    case Verb::retain: return Right::retain;
    case Verb::delete_board: return Right::delete_board;
  }
  return Right::set;
}

Rights::Rights(std::vector<Grant> grants) : grants_(std::make_shared<const std::vector<Grant>>(std::move(grants))) {
  for (const Grant& grant : *grants_) {
    if (grant.paths.matches_everything()) everywhere_ |= grant.rights;
  }
}

Rights Rights::everything() {
  static const Rights all(
      std::vector<Grant>{{*Pattern::for_boards("**"), *Pattern::for_paths("**"), ~0U, confidence_highest}});
  return all;
}

std::optional<Confidence> Rights::cap(const Path& path, Right right) const {
  std::optional<Confidence> best;
  std::vector<std::string> segments;  // split when the first pattern asks for them
  for (const Grant& grant : *grants_) {
    if (!grant.allows(right) || (best && *best >= grant.cap)) continue;
    if (!grant.paths.matches_everything()) {
      if (segments.empty()) segments = path.segments();
      if (!grant.paths.matches(segments)) continue;
    }
    best = grant.cap;
  }
  return best;
}

Rights Rights::under(std::shared_ptr<const Schema> schema) const {
  Rights rights = *this;
  rights.schema_ = std::move(schema);
  return rights;
}

bool Rights::needs_schema() const {
  return !(has_everywhere(Right::read_personal) && has_everywhere(Right::read_secret));
}

bool Rights::may_read_path(const Path& path) const {
  return has_everywhere(Right::read) || cap(path, Right::read).has_value();
}

bool Rights::may_read(const Path& path) const {
  if (may_read_everything()) return true;
  if (!may_read_path(path)) return false;
  switch (schema_ == nullptr ? Sensitivity::none : schema_->sensitivity(path)) {
    case Sensitivity::none: return true;
    case Sensitivity::personal: return cap(path, Right::read_personal).has_value();
    case Sensitivity::secret: return cap(path, Right::read_secret).has_value();
  }
  return false;
}

bool Rights::may_read_everything() const {
  const bool hides_some = schema_ != nullptr && schema_->has_sensitive() && needs_schema();
  return has_everywhere(Right::read) && !hides_some;
}

bool Rights::may_read_anything() const {
  return std::any_of(grants_->begin(), grants_->end(), [](const Grant& grant) { return grant.allows(Right::read); });
}

void RoleTable::add_role(const std::string& role, std::vector<Grant> grants) {
  restricted_ = true;
  roles_[role] = std::move(grants);
}

void RoleTable::add_actor(const std::string& actor, std::vector<std::string> roles) {
  restricted_ = true;
  actors_[actor] = std::move(roles);
}

Rights RoleTable::rights_of(std::string_view actor, std::string_view board) const {
  if (!restricted_) return Rights::everything();
  auto held = actors_.find(actor);
  if (held == actors_.end()) held = actors_.find("*");
  std::vector<Grant> grants;
  if (held == actors_.end()) return Rights(std::move(grants));
  const auto segments = board_segments(board);
  for (const std::string& role : held->second) {
    const auto found = roles_.find(role);
    if (found == roles_.end()) continue;
    for (const Grant& grant : found->second) {
      if (grant.boards.matches(segments)) grants.push_back(grant);
    }
  }
  return Rights(std::move(grants));
}

bool RoleTable::is_open(std::string_view board) const { return rights_of("*", board).may_read_everything(); }

}  // namespace tafel
