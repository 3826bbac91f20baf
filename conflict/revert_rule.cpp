// revert: a new delta that takes a subtree back to an older version, or takes back what one actor wrote. Finds what
// differs; restore.hpp puts it back.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/limits.hpp"
#include "conflict/restore.hpp"

namespace tafel::conflict {
namespace {

using Found = tl::expected<std::map<Path, std::vector<Restoration>>, ErrorInfo>;

// Finds the cells at and below a path that are to go back.
class Search {
 public:
  Search(const Writing& writing, const Task& task, std::size_t cells_max)
      : writing_(writing), op_(*writing.op.op), top_(task.path), cells_max_(cells_max) {}

  Found run() {
    for (const auto& [path, changed] : fields()) {
      if (!error_) look_at(path, changed);
    }
    if (error_) return tl::unexpected(std::move(*error_));
    return std::move(found_);
  }

 private:
  const Draft& draft() const { return writing_.draft; }
  const BoardView& board() const { return writing_.draft.board(); }
  Version from() const { return op_.to ? *op_.to : *op_.since; }

  // At and below the path, with the version of the last change; gathered first, since looking reads the board too.
  std::vector<std::pair<Path, Version>> fields() {
    std::vector<std::pair<Path, Version>> fields;
    if (const auto info = board().field(top_)) fields.emplace_back(top_, info->changed);
    board().fields_below(top_, [&](const Path& path, const FieldInfo& info) {
      if (fields.size() == limits::revert_fields_max) too_large();
      fields.emplace_back(path, info.changed);
      return !error_;
    });
    return fields;
  }

  void look_at(const Path& path, Version changed) {
    if (changed > from()) {
      look_at(leaf_key(path));
      look_at_parts(path, Part::element);
      look_at_parts(path, Part::entry);
    }
    look_at_parts(path, Part::suggestion);  // these are not counted as changes of the field
  }

  void look_at_parts(const Path& path, Part part) {
    std::vector<CellKey> moved;
    board().parts(path, part, [&](const CellKey& key, const CellPointer&, Version changed) {
      if (changed > from()) moved.push_back(key);
      return true;
    });
    for (const CellKey& key : moved) {
      if (!error_) look_at(key);
    }
  }

  void look_at(const CellKey& key) {
    Restoration cell{key, std::nullopt, copy_of(draft().seen(key))};
    if (op_.to) {
      cell.target = copy_of(draft().as_of(key, *op_.to));
    } else if (!without_actor(cell)) {
      return;
    }
    if (says_the_same(cell.target, cell.seen)) return;
    if (++count_ > cells_max_) return too_large();
    found_[key.path].push_back(std::move(cell));
  }

  // The newest change at or before `version`, if it is one of the actor's that is to be taken back.
  std::optional<CellChange> change_of_actor(const CellKey& key, Version version) {
    if (version <= from()) return std::nullopt;
    auto change = board().change_at(key, version);
    if (!change || change->version <= from() || change->actor != op_.actor) return std::nullopt;
    return change;
  }

  // Sets the target: as the cell was before the unbroken run of the actor's changes that ends at the base. False where
  // somebody else had the last word.
  bool without_actor(Restoration& cell) {
    Version before = draft().base();
    for (auto change = change_of_actor(cell.key, before); change; change = change_of_actor(cell.key, before)) {
      before = change->version - 1;
      if (!step()) return false;
    }
    cell.target = copy_of(draft().as_of(cell.key, before));
    const bool counts_on = counter_in(cell.seen) != nullptr && counter_in(cell.target) != nullptr;
    if (counts_on && written_by_others(cell.key, before)) return without_increments(cell);
    return before < draft().base();
  }

  bool written_by_others(const CellKey& key, Version version) {
    const auto change = board().change_at(key, version);
    return version > from() && change && change->version > from();
  }

  static const CounterCell* counter_in(const std::optional<Cell>& image) {
    return image ? std::get_if<CounterCell>(&*image) : nullptr;
  }

  // Others have counted too: the sum of what the actor added goes, theirs stays.
  bool without_increments(Restoration& cell) {
    __extension__ using Wide = __int128;
    Wide sum = 0;
    auto change = board().change_at(cell.key, draft().base());
    while (change && change->version > from() && counter_in(change->image) != nullptr) {
      if (!step()) return false;
      auto before = board().change_at(cell.key, change->version - 1);
      const auto* counted = before ? counter_in(before->image) : nullptr;
      const std::int64_t start = counted != nullptr ? counted->total : writing_.schema.rule(cell.key.path).initial;
      if (change->actor == op_.actor) sum += Wide{counter_in(change->image)->total} - start;
      change = std::move(before);
    }
    CounterCell target = *counter_in(cell.seen);
    target.dot.confidence = counter_in(cell.target)->dot.confidence;
    const Wide rest = target.total - sum;
    if (rest < INT64_MIN || rest > INT64_MAX) {
      error_ = writing_.refused(
          ErrorCode::out_of_bounds, cell.key.path,
          fmt::format("without what {} added, {} leaves the range of int64", op_.actor, cell.key.path.text()));
      return false;
    }
    target.total = static_cast<std::int64_t>(rest);
    cell.target = target;
    return true;
  }

  bool step() {
    if (++steps_ > limits::revert_steps_max) too_large();
    return !error_;
  }

  void too_large() {
    error_ = writing_.refused(
        ErrorCode::too_large, top_,
        fmt::format("the reverts of one delta may reach {} leaves and elements among {} fields; those at and below {} "
                    "are too many, or were written too often: revert smaller parts",
                    limits::delta_leaves_max, limits::revert_fields_max, top_.text()));
  }

  const Writing& writing_;
  const Op& op_;
  const Path top_;
  const std::size_t cells_max_;
  std::size_t count_ = 0;
  std::size_t steps_ = 0;
  std::map<Path, std::vector<Restoration>> found_;
  std::optional<ErrorInfo> error_;
};

std::optional<ErrorInfo> check_version(const Writing& writing, const Path& path) {
  const Draft& draft = writing.draft;
  const Op& op = *writing.op.op;
  const Version version = op.to ? *op.to : *op.since;
  if (version > draft.base()) {
    ErrorInfo error =
        writing.refused(ErrorCode::future_base, path,
                        fmt::format("a revert leads back: version {} lies above the base {}", version, draft.base()));
    error.expected = Value(version);
    error.found = Value(draft.base());
    return error;
  }
  const bool is_kept = op.to ? draft.board().keeps(version) : version >= draft.board().floor();
  if (!is_kept) {
    ErrorInfo error = writing.refused(
        ErrorCode::base_too_old, path,
        fmt::format("history reaches back to version {}; version {} is gone", draft.board().floor(), version));
    error.expected = Value(version);
    error.found = Value(draft.board().floor());
    return error;
  }
  return std::nullopt;
}

// Later ops of the same delta have the last word on the cell.
bool is_void(const Writing& writing, const Restoration& cell) {
  const std::size_t index = writing.op.index;
  const Path& path = cell.key.path;
  const std::optional<Cell>& either = cell.target ? cell.target : cell.seen;
  if (std::holds_alternative<RegisterCell>(*either)) return writing.last_word.on_register(path, index);
  const auto* element = std::get_if<ElementCell>(&*either);
  if (element == nullptr) return false;
  return writing.last_word.on_all_elements(path, false, index) ||
         writing.last_word.on_element(path, element->value, index);
}

tl::expected<Confidence, ErrorInfo> permitted(const Writing& writing, const Path& top, const Path& path) {
  auto confidence = writing.permitted(path, Right::revert, confidence_highest);
  if (confidence || writing.rights.may_read(path)) return confidence;
  return tl::unexpected(writing.refused(  // its name is not told either
      ErrorCode::forbidden, top,
      fmt::format("{} may not revert everything at and below {}", writing.stamp.actor, top.text())));
}

}  // namespace

tl::expected<std::vector<LeafOutcome>, ErrorInfo> revert_all(const Writing& writing, const Task& task,
                                                             std::size_t leaves_max) {
  if (auto error = check_version(writing, task.path)) return tl::unexpected(std::move(*error));
  auto found = Search(writing, task, leaves_max).run();
  if (!found) return tl::unexpected(found.error());
  std::vector<LeafOutcome> results;
  std::vector<LeafRevert> leaves;
  for (auto& [path, cells] : *found) {
    std::erase_if(cells, [&](const Restoration& cell) { return is_void(writing, cell); });
    if (cells.empty()) {
      results.push_back(outcome_of(path, Outcome::unchanged, Reason::overridden));
      continue;
    }
    const auto confidence = permitted(writing, task.path, path);
    if (!confidence) return tl::unexpected(confidence.error());
    leaves.emplace_back(writing, path, *confidence, std::move(cells));
  }
  for (LeafRevert& leaf : leaves) {
    if (auto error = leaf.take_away()) return tl::unexpected(std::move(*error));
  }
  for (LeafRevert& leaf : leaves) {
    if (auto error = leaf.bring_back()) return tl::unexpected(std::move(*error));
    results.push_back(std::move(leaf).outcome());
  }
  if (!results.empty()) return results;
  if (const auto confidence = permitted(writing, task.path, task.path); !confidence)
    return tl::unexpected(confidence.error());
  return std::vector{outcome_of(task.path, Outcome::unchanged, Reason::echo)};
}

}  // namespace tafel::conflict
