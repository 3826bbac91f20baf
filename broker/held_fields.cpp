#include "broker/held_fields.hpp"

#include <algorithm>

namespace tafel::broker {
namespace {

constexpr std::size_t leaves_max = 16;  // looked at below an inner path; blanks are rare

// Something that is not blank; an element or entry is a value whatever it is.
bool is_value(const conflict::Draft& board, const Path& path, Kind kind) {
  if (kind != Kind::register_) return true;
  const auto cell = board.cell(leaf_key(path));
  const auto* reg = cell ? std::get_if<RegisterCell>(&*cell) : nullptr;
  return reg != nullptr && !is_blank(shown_sibling(*reg).value);
}

bool holds_value(const conflict::Draft& board, const Path& path) {
  if (const auto kind = board.kind(path)) return is_value(board, path, *kind);
  const auto leaves = board.leaves_below(path, leaves_max);
  return std::any_of(leaves.begin(), leaves.end(),
                     [&](const auto& leaf) { return is_value(board, leaf.first, leaf.second); });
}

bool touches(const std::vector<Change>& changes, const Path& path) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    return change.key.part != Part::suggestion && change.key.path.is_at_or_below(path);
  });
}

}  // namespace

HeldFields::HeldFields(const std::vector<blackboard::RequiredField>& required, const conflict::Draft& board) {
  for (const auto& field : required) held_.push_back(holds_value(board, field.path));
}

HeldFields HeldFields::after(const std::vector<blackboard::RequiredField>& required, const std::vector<Change>& changes,
                             const conflict::Draft& board) const {
  HeldFields result = *this;
  for (std::size_t i = 0; i < required.size(); ++i) {
    // A field that holds none stays so until it is touched; one that holds a value may have lost it to time.
    const auto info = board.board().field(required[i].path);
    const bool may_expire = held_[i] && !(info && info->kind && info->lasting > 0);
    if (may_expire || touches(changes, required[i].path)) result.held_[i] = holds_value(board, required[i].path);
  }
  return result;
}

}  // namespace tafel::broker
