// unset: removes what its writer had seen, leaf by leaf, within its confidence (SEMANTICS 8).
#include <fmt/format.h>

#include <algorithm>

#include "common/base/limits.hpp"
#include "conflict/rules.hpp"

namespace tafel::conflict {
namespace {

Removal remove_register(const Writing& writing, const Path& path, Confidence confidence) {
  Removal removal;
  RegisterCell cell = std::get<RegisterCell>(*writing.draft.cell(leaf_key(path)));
  for (const Sibling& sibling : cell.siblings) {
    const bool seen = sibling.dot.version() <= writing.draft.base();
    removal.spared = removal.spared || !seen;
    removal.held_back = removal.held_back || (seen && sibling.dot.confidence > confidence);
  }
  const auto gone = std::erase_if(cell.siblings, [&](const Sibling& sibling) {
    return sibling.dot.version() <= writing.draft.base() && sibling.dot.confidence <= confidence;
  });
  removal.removed = gone > 0;
  if (removal.removed) {
    writing.draft.put(leaf_key(path), cell.siblings.empty() ? std::nullopt : std::optional<Cell>(std::move(cell)));
  }
  return removal;
}

Removal remove_elements(const Writing& writing, const Path& path, Confidence confidence) {
  Removal removal;
  const bool is_wholly_void = writing.last_word.on_all_elements(path, false, writing.op.index);
  for (auto& [key, part] : writing.draft.parts(path, Part::element)) {
    ElementCell cell = std::get<ElementCell>(part);
    if (is_wholly_void || writing.last_word.on_element(path, cell.value, writing.op.index)) {
      removal.overridden = true;
      continue;
    }
    for (const Dot& dot : cell.dots) {
      const bool seen = dot.version() <= writing.draft.base();
      removal.spared = removal.spared || !seen;
      removal.held_back = removal.held_back || (seen && dot.confidence > confidence);
    }
    const auto gone = std::erase_if(cell.dots, [&](const Dot& dot) {
      return dot.version() <= writing.draft.base() && dot.confidence <= confidence;
    });
    if (gone == 0) continue;
    removal.removed = true;
    writing.draft.put(key, cell.dots.empty() ? std::nullopt : std::optional<Cell>(std::move(cell)));
  }
  return removal;
}

// An entry that a revert brought back keeps its key, so its age alone does not tell.
bool was_seen(const Draft& draft, const CellKey& key, const Dot& dot) {
  return dot.version() <= draft.base() && draft.seen(key) != nullptr;
}

Removal remove_entries(const Writing& writing, const Path& path, Confidence confidence) {
  Removal removal;
  const auto entries = writing.draft.parts(path, Part::entry);
  removal.held_back = std::any_of(entries.begin(), entries.end(), [&](const auto& part) {
    return std::get<EntryCell>(part.second).dot.confidence > confidence;
  });
  if (removal.held_back) return removal;
  for (const auto& [key, part] : entries) {
    if (!was_seen(writing.draft, key, std::get<EntryCell>(part).dot)) {
      removal.spared = true;
    } else {
      removal.removed = true;
      writing.draft.put(key, std::nullopt);
    }
  }
  return removal;
}

tl::expected<Removal, ErrorInfo> remove_counter(const Writing& writing, const Path& path, Confidence confidence) {
  Removal removal;
  CounterCell cell = std::get<CounterCell>(*writing.draft.cell(leaf_key(path)));
  removal.held_back = cell.dot.confidence > confidence;
  if (removal.held_back) return removal;
  if (cell.dot.version() <= writing.draft.base()) {
    removal.removed = true;
    writing.draft.put(leaf_key(path), std::nullopt);
    return removal;
  }
  // Increments that the writer had not seen stay: only the total as of its base goes.
  const auto seen_cell = writing.draft.seen(leaf_key(path));
  const auto* seen = seen_cell ? std::get_if<CounterCell>(&*seen_cell) : nullptr;
  if (seen == nullptr || seen->total == 0) {
    removal.spared = true;
    return removal;
  }
  std::int64_t rest = 0;
  const FieldRule& rule = writing.schema.rule(path);
  if (__builtin_sub_overflow(cell.total, seen->total, &rest) || rest < rule.floor.value_or(INT64_MIN) ||
      rest > rule.ceil.value_or(INT64_MAX)) {
    const bool may_read = writing.rights.may_read(path);
    return tl::unexpected(writing.refused(
        ErrorCode::out_of_bounds, path,
        may_read ? fmt::format("{} is {}; taking {} away leaves its range", path.text(), cell.total, seen->total)
                 : fmt::format("taking away what was seen of {} leaves its range", path.text())));
  }
  removal.removed = true;
  cell.total = rest;
  cell.dot = writing.dot(path, cell.dot.confidence);  // taking away says nothing about what is left
  writing.draft.put(leaf_key(path), cell);
  return removal;
}

Removal remove_extremum(const Writing& writing, const Path& path, Confidence confidence) {
  Removal removal;
  const ExtremumCell cell = std::get<ExtremumCell>(*writing.draft.cell(leaf_key(path)));
  removal.held_back = cell.dot.confidence > confidence;
  if (removal.held_back) return removal;
  removal.spared = cell.dot.version() > writing.draft.base();
  removal.removed = !removal.spared;
  if (removal.removed) writing.draft.put(leaf_key(path), std::nullopt);
  return removal;
}

// Later ops of the same delta have the last word on the whole leaf. (On some elements of a set: remove_elements.)
bool is_void(const Writing& writing, const Path& path, Kind kind) {
  const std::size_t index = writing.op.index;
  if (kind == Kind::register_) return writing.last_word.on_register(path, index);
  if (kind != Kind::set) return false;
  if (writing.last_word.on_all_elements(path, false, index)) return true;
  const auto elements = writing.draft.parts(path, Part::element);
  return std::all_of(elements.begin(), elements.end(), [&](const auto& part) {
    return writing.last_word.on_element(path, std::get<ElementCell>(part.second).value, index);
  });
}

Reason reason_of(const Removal& removal) {
  if (removal.spared) return Reason::not_seen;
  return removal.overridden ? Reason::overridden : Reason::absent;
}

}  // namespace

tl::expected<Removal, ErrorInfo> remove_leaf(const Writing& writing, const Path& path, Kind kind,
                                             Confidence confidence) {
  switch (kind) {
    case Kind::register_: return remove_register(writing, path, confidence);
    case Kind::set: return remove_elements(writing, path, confidence);
    case Kind::counter: return remove_counter(writing, path, confidence);
    case Kind::max:
    case Kind::min: return remove_extremum(writing, path, confidence);
    case Kind::log: return remove_entries(writing, path, confidence);
  }
  return Removal{};
}

LeafVerdict unset_leaf(const Writing& writing, const Path& path, Kind kind, Confidence confidence) {
  const auto removal = remove_leaf(writing, path, kind, confidence);
  if (!removal) return tl::unexpected(removal.error());
  if (removal->removed) settle(writing.draft, path, confidence);
  LeafOutcome result = outcome_of(path, Outcome::unchanged, reason_of(*removal));
  if (removal->held_back) result = gate(writing, path, SuggestionCell::Act::unset, Nil{}, confidence);
  if (removal->removed) {
    result.outcome = Outcome::applied;
    result.reason = std::nullopt;
  }
  return result;
}

tl::expected<std::vector<LeafOutcome>, ErrorInfo> unset_all(const Writing& writing, const Task& task,
                                                            std::size_t leaves_max) {
  std::vector<std::pair<Path, Kind>> leaves;
  if (const auto kind = writing.draft.kind(task.path)) {
    leaves.emplace_back(task.path, *kind);
  } else {
    leaves = writing.draft.leaves_below(task.path, leaves_max + 1);
  }
  if (leaves.size() > leaves_max) {
    return tl::unexpected(
        writing.refused(ErrorCode::too_large, task.path,
                        fmt::format("the unsets of one delta may reach {} fields, with those below {} "
                                    "there are more: unset smaller parts",
                                    limits::delta_leaves_max, task.path.text())));
  }
  std::vector<LeafOutcome> results;
  if (leaves.empty()) {
    if (writing.last_word.on_register(task.path, writing.op.index)) {
      return std::vector{outcome_of(task.path, Outcome::unchanged, Reason::overridden)};
    }
    if (const auto confidence = writing.permitted(task.path, Right::unset); !confidence)
      return tl::unexpected(confidence.error());
    return std::vector{outcome_of(task.path, Outcome::unchanged, Reason::absent)};
  }
  for (const auto& [path, kind] : leaves) {
    if (is_void(writing, path, kind)) {
      results.push_back(outcome_of(path, Outcome::unchanged, Reason::overridden));
      continue;
    }
    const auto confidence = writing.permitted(path, Right::unset);
    if (!confidence && !writing.rights.may_read(path)) {  // its name is not told either
      return tl::unexpected(writing.refused(
          ErrorCode::forbidden, task.path,
          fmt::format("{} may not unset everything at and below {}", writing.stamp.actor, task.path.text())));
    }
    if (!confidence) return tl::unexpected(confidence.error());
    auto leaf = unset_leaf(writing, path, kind, *confidence);
    if (!leaf) return tl::unexpected(leaf.error());
    results.push_back(std::move(*leaf));
  }
  return results;
}

}  // namespace tafel::conflict
