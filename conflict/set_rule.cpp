// Set: a confidence-layered observed-remove set (SEMANTICS 7).
#include <algorithm>
#include <set>

#include "conflict/rules.hpp"

namespace tafel::conflict {
namespace {

using ElementIds = std::set<std::string>;

ElementIds ids_of(const std::vector<Value>& elements) {
  ElementIds ids;
  for (const Value& element : elements) ids.insert(element_id(element));
  return ids;
}

std::optional<ElementCell> as_element(const CellPointer& cell) {
  if (!cell) return std::nullopt;
  return std::get<ElementCell>(*cell);
}

// What merging a SetPatch has found so far.
struct Merge {
  const Writing& writing;
  const Path& path;
  Confidence confidence;
  bool changed = false;
  std::vector<Reason> reasons;
  List held_back;

  void add(const Value& element, std::uint32_t place) {
    const CellKey key = element_key(path, element);
    auto cell = as_element(writing.draft.cell(key));
    const Dot dot = writing.dot(path, confidence);
    if (!cell) cell = ElementCell{element, dot.mark, place, {}};
    // The new dot is the newest: it makes every dot superfluous that is not more confident.
    std::erase_if(cell->dots, [&](const Dot& old) { return old.confidence <= confidence; });
    cell->dots.push_back(dot);
    writing.draft.put(key, std::move(*cell));
    changed = true;
  }

  void remove(const Value& element) {
    const CellKey key = element_key(path, element);
    auto cell = as_element(writing.draft.cell(key));
    if (!writing.draft.seen(key)) {
      reasons.push_back(cell ? Reason::not_seen : Reason::absent);
      return;
    }
    if (!cell) {
      reasons.push_back(Reason::absent);
      return;
    }
    const Version base = writing.draft.base();
    const auto is_seen = [&](const Dot& dot) { return dot.version() <= base; };
    const bool holds = std::any_of(cell->dots.begin(), cell->dots.end(),
                                   [&](const Dot& dot) { return is_seen(dot) && dot.confidence > confidence; });
    const auto removed =
        std::erase_if(cell->dots, [&](const Dot& dot) { return is_seen(dot) && dot.confidence <= confidence; });
    if (holds) held_back.push_back(element);
    if (removed > 0) {
      changed = true;
      writing.draft.put(key, cell->dots.empty() ? std::nullopt : std::optional<Cell>(std::move(*cell)));
    } else if (!holds) {
      reasons.push_back(Reason::not_seen);
    }
  }
};

bool is_confirmation(const Writing& writing, const ElementCell& seen) {
  const auto written = writing.explicit_confidence();
  return written &&
         std::all_of(seen.dots.begin(), seen.dots.end(), [&](const Dot& dot) { return *written > dot.confidence; });
}

}  // namespace

SetIntent set_intent(const Writing& writing, const Path& path, const std::vector<Value>& add,
                     const std::vector<Value>& remove, const std::optional<std::vector<Value>>& reset) {
  SetIntent intent;
  const auto is_void = [&](const Value& element) {
    const bool overridden = writing.last_word.on_element(path, element, writing.op.index);
    intent.some_void = intent.some_void || overridden;
    return overridden;
  };
  if (writing.last_word.on_all_elements(path, holds_another_kind(writing, path), writing.op.index)) {
    intent.some_void = true;
    return intent;
  }
  ElementIds wanted;  // of A
  const ElementIds added = ids_of(add);
  const ElementIds removed = ids_of(remove);
  const ElementIds final = ids_of(reset.value_or(std::vector<Value>{}));
  const auto want = [&](const Value& element) {
    const std::string id = element_id(element);
    if (wanted.insert(id).second && !is_void(element)) intent.wanted.push_back({element, added.contains(id)});
  };
  if (reset) {
    for (const Value& element : *reset) {
      if (!removed.contains(element_id(element))) want(element);
    }
  }
  for (const Value& element : add) want(element);
  ElementIds unwanted;
  const auto reject = [&](const Value& element) {
    const std::string id = element_id(element);
    if (!wanted.contains(id) && unwanted.insert(id).second && !is_void(element)) intent.unwanted.push_back(element);
  };
  for (const Value& element : remove) reject(element);
  if (reset) {
    auto seen = writing.draft.seen_parts(path, Part::element);
    std::sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) {
      const auto& x = std::get<ElementCell>(a.second);
      const auto& y = std::get<ElementCell>(b.second);
      return x.first != y.first ? x.first < y.first : x.place < y.place;
    });
    for (const auto& [key, cell] : seen) {
      const Value& element = std::get<ElementCell>(cell).value;
      if (!final.contains(element_id(element))) reject(element);
    }
  }
  return intent;
}

LeafVerdict merge_set(const Writing& writing, const Path& path, const SetIntent& intent, Right right, bool is_direct) {
  std::vector<std::size_t> additions;
  bool echoed = false;
  const bool may_read = writing.rights.may_read(path);
  for (std::size_t i = 0; i < intent.wanted.size(); ++i) {
    const auto seen =
        may_read ? as_element(writing.draft.seen(element_key(path, intent.wanted[i].element))) : std::nullopt;
    const bool named = is_direct && intent.wanted[i].is_named;
    if (seen && !writing.is_asserted() && !(named && is_confirmation(writing, *seen))) {
      echoed = true;
    } else {
      additions.push_back(i);
    }
  }
  if (additions.empty() && intent.unwanted.empty()) {
    return outcome_of(path, Outcome::unchanged, echoed || !intent.some_void ? Reason::echo : Reason::overridden);
  }
  const auto confidence = writing.permitted(path, right);
  if (!confidence) return tl::unexpected(confidence.error());
  if (auto error = check_place(writing, path, Kind::set)) return tl::unexpected(std::move(*error));
  for (const std::size_t i : additions) {
    if (auto error = check_schema(writing, path, intent.wanted[i].element)) return tl::unexpected(std::move(*error));
  }

  if (!additions.empty() && !writing.draft.kind(path)) writing.draft.make_room(path);
  Merge merge{writing, path, *confidence, false, {}, {}};
  for (const std::size_t i : additions) merge.add(intent.wanted[i].element, static_cast<std::uint32_t>(i));
  for (const Value& element : intent.unwanted) merge.remove(element);
  if (merge.changed) settle(writing.draft, path, *confidence);

  LeafOutcome result = outcome_of(path, Outcome::unchanged);
  if (!merge.held_back.empty()) {
    result = gate(writing, path, SuggestionCell::Act::remove, merge.held_back, *confidence);
    if (result.reason) merge.reasons.push_back(*result.reason);
  }
  if (merge.changed) result.outcome = Outcome::applied;
  if (result.outcome != Outcome::unchanged) {
    result.reason = std::nullopt;
    return result;
  }
  if (echoed) merge.reasons.push_back(Reason::echo);
  if (intent.some_void) merge.reasons.push_back(Reason::overridden);
  result.reason = *std::min_element(merge.reasons.begin(), merge.reasons.end());
  return result;
}

LeafVerdict write_patch(const Writing& writing, const Task& task) {
  return merge_set(writing, task.path, set_intent(writing, task.path, task.add, task.remove, task.reset), Right::patch,
                   true);
}

}  // namespace tafel::conflict
