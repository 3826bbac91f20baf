// Register: a confidence-layered multi-value register (SEMANTICS 6).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/limits.hpp"
#include "conflict/rules.hpp"

namespace tafel::conflict {
namespace {

std::vector<Sibling> siblings_of(const CellPointer& cell) {
  const auto* reg = cell ? std::get_if<RegisterCell>(&*cell) : nullptr;
  return reg != nullptr ? reg->siblings : std::vector<Sibling>{};
}

// The list of a log or the elements of a set as the writer saw them, for the echo of a whole record.
bool echoes_parts(const Draft& draft, const Path& path, const Value& value) {
  const auto* list = value.get_if<List>();
  if (list == nullptr) return false;
  auto entries = draft.seen_parts(path, Part::entry);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (!entries.empty()) {
    return std::equal(
        entries.begin(), entries.end(), list->begin(), list->end(),
        [](const auto& part, const Value& item) { return std::get<EntryCell>(part.second).value == item; });
  }
  std::set<std::string> seen;
  for (const auto& [key, cell] : draft.seen_parts(path, Part::element)) seen.insert(key.id);
  std::set<std::string> given;
  for (const Value& item : *list) given.insert(element_id(item));
  return !seen.empty() && seen == given;
}

// The value was visible to the writer and the op says nothing new about it (SEMANTICS 5.3).
bool is_echo(const Writing& writing, const Task& task) {
  if (writing.is_asserted() || !writing.rights.may_read(task.path)) return false;
  const auto cell = writing.draft.seen(leaf_key(task.path));
  if (!cell) return echoes_parts(writing.draft, task.path, task.value);
  if (const auto* counter = std::get_if<CounterCell>(&*cell)) return task.value == Value(counter->total);
  if (const auto* extremum = std::get_if<ExtremumCell>(&*cell)) return task.value == extremum->value;
  const auto siblings = siblings_of(cell);
  const auto same =
      std::find_if(siblings.begin(), siblings.end(), [&](const Sibling& s) { return s.value == task.value; });
  if (same == siblings.end()) return false;
  if (!task.is_direct) return true;
  const bool is_choice = siblings.size() > 1;
  const auto written = writing.explicit_confidence();
  const bool is_confirmation = written && *written > same->dot.confidence;
  return !is_choice && !is_confirmation;
}

// A list given to a set field is a reset, also when the set has been emptied since the writer saw it.
bool is_for_set(const Writing& writing, const Task& task) {
  if (task.value.get_if<List>() == nullptr) return false;
  const auto declared = writing.schema.rule(task.path).kind;
  if (declared) return *declared == Kind::set;
  if (const auto present = writing.draft.kind(task.path)) return *present == Kind::set;
  return writing.last_word.is_patched_before(task.path, writing.op.index) ||
         !writing.draft.seen_parts(task.path, Part::element).empty();
}

LeafVerdict reset_set(const Writing& writing, const Task& task, Right right) {
  std::vector<Value> elements;
  for (const Value& element : *task.value.get_if<List>()) {
    if (!is_blank(element) || writing.schema.rule(task.path).allow_blank) elements.push_back(element);
  }
  if (elements.empty() && !writing.schema.rule(task.path).allow_blank)
    return outcome_of(task.path, Outcome::ignored_blank);
  return merge_set(writing, task.path, set_intent(writing, task.path, {}, {}, elements), right, false);
}

// A write to a register whose place and permission are checked.
LeafVerdict merge_register(const Writing& writing, const Path& path, const Value& value, Confidence confidence) {
  Draft& draft = writing.draft;
  const auto siblings = siblings_of(draft.cell(leaf_key(path)));
  const Dot dot = writing.dot(path, confidence);
  const auto stronger = [&](const Sibling& s) { return s.dot.confidence > confidence; };
  if (std::any_of(siblings.begin(), siblings.end(), stronger)) {
    const bool said = std::any_of(siblings.begin(), siblings.end(),
                                  [&](const Sibling& s) { return stronger(s) && s.value == value; });
    if (said) return outcome_of(path, Outcome::unchanged, Reason::repeated);
    return gate(writing, path, SuggestionCell::Act::set, value, confidence);
  }

  RegisterCell merged;
  std::vector<const Sibling*> weaker;  // concurrent and below this confidence: they become suggestions
  const OnConflict policy = writing.schema.rule(path).on_conflict;
  for (const Sibling& sibling : siblings) {
    if (sibling.dot.version() <= draft.base() || sibling.value == value)
      continue;  // superseded, or merged into this write
    if (sibling.dot.confidence < confidence) {
      weaker.push_back(&sibling);
    } else if (policy == OnConflict::keep_both) {
      merged.siblings.push_back(sibling);
    } else if (policy == OnConflict::first) {
      return gate(writing, path, SuggestionCell::Act::set, value, confidence);
    } else if (policy == OnConflict::reject) {
      return tl::unexpected(concurrent_change(writing, path, sibling));
    }
  }
  if (merged.siblings.size() >= limits::siblings_max) return tl::unexpected(too_many_siblings(writing, path));
  if (siblings.empty()) draft.make_room(path);
  settle(draft, path, confidence);
  for (const Sibling* sibling : weaker) hold(draft, path, SuggestionCell::Act::set, sibling->value, sibling->dot);
  const Outcome outcome = merged.siblings.empty() ? Outcome::applied : Outcome::kept_both;
  merged.siblings.push_back({value, dot});
  draft.put(leaf_key(path), std::move(merged));
  return outcome_of(path, outcome);
}

}  // namespace

ErrorInfo concurrent_change(const Writing& writing, const Path& path, const Sibling& other) {
  const bool may_read = writing.rights.may_read(path);
  ErrorInfo error = writing.refused(
      ErrorCode::stale, path,
      fmt::format("{} was changed{} at version {}, which this delta (base {}) had not seen; "
                  "read it and decide again",
                  path.text(), may_read ? " to " + brief(other.value) : "", other.dot.version(), writing.draft.base()));
  error.retryable = true;
  if (may_read) {
    error.found = Value(Map{{"version", Value(other.dot.version())}, {"value", other.value}});
  }
  return error;
}

ErrorInfo too_many_siblings(const Writing& writing, const Path& path) {
  return writing.refused(
      ErrorCode::too_large, path,
      fmt::format("{} holds {} unresolved values; read it and choose one first", path.text(), limits::siblings_max));
}

LeafVerdict write_set(const Writing& writing, const Task& task, Right right) {
  if (is_for_set(writing, task)) return reset_set(writing, task, right);
  if (writing.last_word.on_register(task.path, writing.op.index)) {
    return outcome_of(task.path, Outcome::unchanged, Reason::overridden);
  }
  if (is_echo(writing, task)) return outcome_of(task.path, Outcome::unchanged, Reason::echo);
  const auto confidence = writing.permitted(task.path, right);
  if (!confidence) return tl::unexpected(confidence.error());
  if (auto error = check_place(writing, task.path, Kind::register_)) return tl::unexpected(std::move(*error));
  if (auto error = check_schema(writing, task.path, task.value)) return tl::unexpected(std::move(*error));
  if (auto error = check_step(writing, task.path, task.value)) return tl::unexpected(std::move(*error));
  return merge_register(writing, task.path, task.value, *confidence);
}

}  // namespace tafel::conflict
