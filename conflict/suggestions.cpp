// Suggestions: what the confidence gate held back, kept beside the field until an authority takes it over or drops it.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/limits.hpp"
#include "conflict/rules.hpp"

namespace tafel::conflict {
namespace {

bool says_the_same(const SuggestionCell& held, SuggestionCell::Act act, const Value& value, Confidence confidence) {
  return held.act == act && held.dot.confidence == confidence && held.value == value;
}

const SuggestionCell& as_suggestion(const std::pair<CellKey, Cell>& part) {
  return std::get<SuggestionCell>(part.second);
}

// The suggested act as a write of the accepting actor.
LeafVerdict perform(const Writing& writing, const Path& path, const SuggestionCell& suggestion, Confidence confidence) {
  switch (suggestion.act) {
    case SuggestionCell::Act::set: {
      const auto kind = writing.draft.kind(path);
      if (kind == Kind::max || kind == Kind::min) return set_extremum(writing, path, suggestion.value, confidence);
      Task task(Task::Type::set, path);
      task.value = writing.schema.rule(path).with_text_rules(suggestion.value);
      return write_set(writing, task, Right::accept);
    }
    case SuggestionCell::Act::remove: {
      const auto* elements = suggestion.value.get_if<List>();
      const auto intent = set_intent(writing, path, {}, elements != nullptr ? *elements : List{}, std::nullopt);
      return merge_set(writing, path, intent, Right::accept, true);
    }
    case SuggestionCell::Act::unset: {
      if (const auto* entry = suggestion.value.get_if<std::string>()) {
        Task task(Task::Type::unset_entry, path);
        task.mark = *mark_from_text(*entry);
        return unset_entry(writing, task, Right::accept);
      }
      const auto kind = writing.draft.kind(path);
      if (!kind) return outcome_of(path, Outcome::unchanged, Reason::absent);
      return unset_leaf(writing, path, *kind, confidence);
    }
  }
  return outcome_of(path, Outcome::unchanged);
}

// The suggestion that an accept or dismiss names, once its actor may do that.
tl::expected<std::pair<SuggestionCell, Confidence>, ErrorInfo> find(const Writing& writing, const Task& task,
                                                                    Right right) {
  const auto confidence = writing.permitted(task.path, right);
  if (!confidence) return tl::unexpected(confidence.error());
  const auto cell = writing.draft.cell(suggestion_key(task.path, task.mark));
  if (cell) return std::pair{std::get<SuggestionCell>(*cell), *confidence};
  return tl::unexpected(writing.refused(
      ErrorCode::unknown_suggestion, task.path,
      fmt::format("{} holds no suggestion {}; read its suggestions again", task.path.text(), mark_text(task.mark))));
}

}  // namespace

std::optional<std::string> hold(Draft& draft, const Path& path, SuggestionCell::Act act, const Value& value,
                                const Dot& dot) {
  const auto held = draft.parts(path, Part::suggestion);
  const bool repeated = std::any_of(held.begin(), held.end(), [&](const auto& part) {
    return says_the_same(as_suggestion(part), act, value, dot.confidence);
  });
  if (repeated) return std::nullopt;
  Dot lasting = dot;
  lasting.expires = std::nullopt;  // what was suggested stays until somebody decides
  draft.put(suggestion_key(path, dot.mark), SuggestionCell{act, value, lasting});
  const auto after = draft.parts(path, Part::suggestion);
  if (after.size() > limits::suggestions_max)
    draft.put(after.front().first, std::nullopt);  // the oldest mark comes first
  return mark_text(dot.mark);
}

void settle(Draft& draft, const Path& path, Confidence confidence) {
  for (const auto& [key, cell] : draft.parts(path, Part::suggestion)) {
    const Dot& dot = std::get<SuggestionCell>(cell).dot;
    if (dot.confidence <= confidence && dot.version() <= draft.base()) draft.put(key, std::nullopt);
  }
}

LeafOutcome gate(const Writing& writing, const Path& path, SuggestionCell::Act act, const Value& value,
                 Confidence confidence) {
  auto id = hold(writing.draft, path, act, value, writing.dot(path, confidence));
  LeafOutcome result = id ? outcome_of(path, Outcome::held) : outcome_of(path, Outcome::unchanged, Reason::repeated);
  if (id) result.held.push_back(std::move(*id));
  result.gated = true;
  return result;
}

LeafVerdict accept_suggestion(const Writing& writing, const Task& task) {
  if (writing.op.speaks_of_register && writing.last_word.on_register(task.path, writing.op.index)) {
    return outcome_of(task.path, Outcome::unchanged, Reason::overridden);
  }
  const auto found = find(writing, task, Right::accept);
  if (!found) return tl::unexpected(found.error());
  auto written = perform(writing, task.path, found->first, found->second);
  if (!written || written->outcome == Outcome::held || written->gated)
    return written;  // still held: the suggestion stays
  writing.draft.put(suggestion_key(task.path, task.mark), std::nullopt);
  if (written->outcome == Outcome::unchanged) *written = outcome_of(task.path, Outcome::applied);
  return written;
}

LeafVerdict dismiss_suggestion(const Writing& writing, const Task& task) {
  if (const auto found = find(writing, task, Right::dismiss); !found) return tl::unexpected(found.error());
  writing.draft.put(suggestion_key(task.path, task.mark), std::nullopt);
  return outcome_of(task.path, Outcome::applied);
}

}  // namespace tafel::conflict
