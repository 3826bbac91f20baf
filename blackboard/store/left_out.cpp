#include "blackboard/store/left_out.hpp"

#include <algorithm>

#include "common/codec/event_pieces.hpp"

namespace tafel::store {
namespace {

// Whether the pattern may match a path that goes on below `segments`.
bool may_match_below(const Pattern& pattern, const std::vector<std::string>& segments) {
  const auto& parts = pattern.parts();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (i == parts.size()) return false;
    if (parts[i] == "**") return true;
    if (parts[i] != "*" && parts[i] != segments[i]) return false;
  }
  return parts.size() > segments.size();
}

// Ops whose path is that of the field that they write, and whose value is all that they say of it.
bool writes_a_leaf(Verb verb) {
  switch (verb) {
    case Verb::set:
    case Verb::patch:
    case Verb::incr:
    case Verb::max:
    case Verb::min:
    case Verb::append:
    case Verb::accept:
    case Verb::dismiss:
    case Verb::add_item: return true;
    case Verb::unset:
    case Verb::copy:
    case Verb::move:
    case Verb::revert:
    case Verb::schema:
    case Verb::fork:
    case Verb::merge:
    case Verb::erase:
    case Verb::tag:
    case Verb::retain:
    case Verb::delete_board: return false;
  }
  return false;
}

}  // namespace

LeftOut::LeftOut(std::shared_ptr<const Schema> schema, std::set<Path> inherited)
    : schema_(std::move(schema)),
      has_rules_(schema_ != nullptr && schema_->has_sensitive()),
      paths_(std::move(inherited)) {}

bool LeftOut::take_from(Event& event) {
  if (!is_any()) return false;
  for (std::size_t i = 0; i < event.changes.size(); ++i) {
    const CellKey& key = event.changes[i].change.key;
    if (!is_left_out(key.path)) continue;
    paths_.insert(key.path);
    if (key.part != Part::field && !codec::is_change_erased(event, i)) taken_.insert(key.path);
  }
  return codec::erase_pieces(
      event, [&](const Op& op, const OpResult& result) { return may_tell(op, result); },
      [&](const Path& path) { return is_left_out(path); });
}

bool LeftOut::takes(const Path& path) {
  if (!is_left_out(path)) return false;
  paths_.insert(path);
  taken_.insert(path);
  return true;
}

// What the server itself keeps (schemas, tags) is nobody's personal data, and boards need it.
bool LeftOut::is_left_out(const Path& path) const {
  if (path.is_reserved()) return false;
  return paths_.contains(path) || (has_rules_ && schema_->sensitivity(path) != Sensitivity::none);
}

bool LeftOut::is_left_out_above(const Path& path) const {
  for (std::optional<Path> at = path; at; at = at->parent()) {
    if (is_left_out(*at)) return true;
  }
  return false;
}

bool LeftOut::may_be_below(const Path& path) const {
  const auto next = paths_.upper_bound(path);
  if (next != paths_.end() && next->is_below(path)) return true;
  if (!has_rules_) return false;
  const auto segments = path.segments();
  return std::any_of(schema_->rules().begin(), schema_->rules().end(), [&](const DeclaredRule& declared) {
    if (declared.rule.sensitivity == Sensitivity::none) return false;
    return declared.path ? declared.path->is_below(path) : may_match_below(*declared.pattern, segments);
  });
}

bool LeftOut::holds(const Path& path, const Value& value) const {
  if (is_left_out(path)) return true;
  const auto* map = value.get_if<Map>();
  if (map == nullptr) return false;
  return std::any_of(map->begin(), map->end(), [&](const MapEntry& entry) {
    return segment_defect(entry.first) || holds(path.child(entry.first), entry.second);
  });
}

// Rather too much goes than too little: an op that can not be read, and an error, may quote any value at, above or
// below their path.
bool LeftOut::may_tell(const Op& op, const OpResult& result) const {
  if (op.malformed) return true;
  const bool says_its_value_only = writes_a_leaf(op.verb) && !result.error;
  const auto tells_of = [&](const std::string& text) {
    const auto path = Path::parse(text);
    if (!path || is_left_out_above(*path) || holds(*path, op.value)) return true;
    if (result.current && holds(*path, result.current->value)) return true;
    return !says_its_value_only && may_be_below(*path);
  };
  return tells_of(op.path) || (!op.from.empty() && tells_of(op.from));
}

}  // namespace tafel::store
