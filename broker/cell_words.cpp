#include "broker/cell_words.hpp"

#include <utility>

#include "common/codec/cell_codec.hpp"
#include "conflict/restore.hpp"

namespace tafel::broker {
namespace {

// "value" with where it comes from.
Value words_of(Value value, const Dot& dot) {
  Value words(Map{{"value", std::move(value)},
                  {"confidence", name_of(dot.confidence)},
                  {"version", dot.version()},
                  {"time", dot.time},
                  {"actor", dot.actor}});
  if (dot.source != nullptr) words.set("source", codec::source_to_map(*dot.source));
  if (dot.expires) words.set("expires", *dot.expires);
  return words;
}

// As sure as its surest dot, and told by the newest.
Value element_words(const ElementCell& element) {
  Value words = words_of(element.value, element.dots.back());
  words.set("confidence", name_of(element.dots.front().confidence));
  return words;
}

Value entry_words(const EntryCell& entry) {
  Value words = words_of(entry.value, entry.dot);
  words.set("id", mark_text(entry.dot.mark));
  return words;
}

Value suggestion_words(const SuggestionCell& suggestion) {
  Value words = words_of(suggestion.value, suggestion.dot);
  words.set("id", mark_text(suggestion.dot.mark)).set("op", name_of(suggestion.act));
  return words;
}

Value register_words(const RegisterCell& cell) {
  const Sibling& shown = shown_sibling(cell);
  Value words = words_of(shown.value, shown.dot);
  List conflicts;
  for (const Sibling& sibling : cell.siblings) {
    if (&sibling != &shown) conflicts.push_back(words_of(sibling.value, sibling.dot));
  }
  if (!conflicts.empty()) words.set("conflicts", std::move(conflicts));
  return words;
}

}  // namespace

Value leaf_words(const Cell& cell) {
  Value words;
  if (const auto* reg = std::get_if<RegisterCell>(&cell)) {
    words = register_words(*reg);
  } else if (const auto* counter = std::get_if<CounterCell>(&cell)) {
    words = words_of(counter->total, counter->dot);
  } else if (const auto* extremum = std::get_if<ExtremumCell>(&cell)) {
    words = words_of(extremum->value, extremum->dot);
  }
  if (const auto kind = kind_of(cell)) words.set("kind", name_of(*kind));
  return words;
}

Value part_words(const Cell& cell) {
  if (const auto* element = std::get_if<ElementCell>(&cell)) return element_words(*element);
  if (const auto* entry = std::get_if<EntryCell>(&cell)) return entry_words(*entry);
  if (const auto* suggestion = std::get_if<SuggestionCell>(&cell)) return suggestion_words(*suggestion);
  return leaf_words(cell);
}

Value blame_words(const blackboard::FieldView& view) {
  Value words(Map{{"kind", name_of(view.kind)},
                  {"confidence", name_of(view.confidence)},
                  {"version", view.version},
                  {"time", view.time},
                  {"actor", view.actor}});
  if (view.source != nullptr) words.set("source", codec::source_to_map(*view.source));
  List parts;
  for (const ElementCell& element : view.elements) parts.push_back(element_words(element));
  for (const EntryCell& entry : view.entries) parts.push_back(entry_words(entry));
  if (view.kind == Kind::set) {
    words.set("elements", std::move(parts));
  } else if (view.kind == Kind::log) {
    words.set("entries", std::move(parts));
  } else {
    words.set("value", view.value);
  }
  if (view.conflicts.empty()) return words;
  List conflicts;
  for (const Sibling& sibling : view.conflicts) conflicts.push_back(words_of(sibling.value, sibling.dot));
  return words.set("conflicts", std::move(conflicts));
}

bool says_the_same(const std::optional<Cell>& left, const std::optional<Cell>& right) {
  return conflict::says_the_same(left, right);
}

}  // namespace tafel::broker
