// Log: entries in the order of commit, each a cell of its own (SEMANTICS 8).
#include "conflict/rules.hpp"

namespace tafel::conflict {

void keep_newest(const Writing& writing, const Path& path) {
  const auto keep = writing.schema.rule(path).keep;
  if (!keep) return;
  const auto entries = writing.draft.parts(path, Part::entry);
  for (std::size_t i = 0; i + *keep < entries.size(); ++i) writing.draft.put(entries[i].first, std::nullopt);
}

LeafVerdict write_entry(const Writing& writing, const Task& task) {
  const auto confidence = writing.permitted(task.path, Right::append);
  if (!confidence) return tl::unexpected(confidence.error());
  if (auto error = check_place(writing, task.path, Kind::log)) return tl::unexpected(std::move(*error));
  if (auto error = check_schema(writing, task.path, task.value)) return tl::unexpected(std::move(*error));
  const Dot dot = writing.dot(task.path, *confidence);
  if (!writing.draft.kind(task.path)) writing.draft.make_room(task.path);
  settle(writing.draft, task.path, *confidence);
  writing.draft.put(entry_key(task.path, dot.mark), EntryCell{task.value, dot});
  keep_newest(writing, task.path);
  return outcome_of(task.path, Outcome::applied);
}

LeafVerdict unset_entry(const Writing& writing, const Task& task, Right right) {
  const auto confidence = writing.permitted(task.path, right);
  if (!confidence) return tl::unexpected(confidence.error());
  if (const auto kind = writing.draft.kind(task.path); kind && *kind != Kind::log) {
    return tl::unexpected(
        writing.refused(ErrorCode::kind_mismatch, task.path, task.path.text() + " is no log: it has no entries"));
  }
  const CellKey key = entry_key(task.path, task.mark);
  const auto cell = writing.draft.cell(key);
  if (!cell) return outcome_of(task.path, Outcome::unchanged, Reason::absent);
  const Dot& dot = std::get<EntryCell>(*cell).dot;
  if (dot.version() > writing.draft.base() || !writing.draft.seen(key))
    return outcome_of(task.path, Outcome::unchanged, Reason::not_seen);
  if (dot.confidence > *confidence) {
    // The value names the entry, so that accepting the suggestion removes it alone.
    return gate(writing, task.path, SuggestionCell::Act::unset, Value(mark_text(task.mark)), *confidence);
  }
  settle(writing.draft, task.path, *confidence);
  writing.draft.put(key, std::nullopt);
  return outcome_of(task.path, Outcome::applied);
}

}  // namespace tafel::conflict
