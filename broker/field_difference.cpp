#include "broker/field_difference.hpp"

#include <utility>

#include "broker/cell_words.hpp"

namespace tafel::broker {
namespace {

std::string_view plural_of(Part part) {
  return part == Part::element ? "elements" : part == Part::entry ? "entries" : "suggestions";
}

}  // namespace

void FieldDifference::add(const CellKey& key, const std::optional<Cell>& before, const std::optional<Cell>& after) {
  if (says_the_same(before, after)) return;
  if (key.part == Part::leaf) {
    leaf_.set("before", before ? leaf_words(*before) : Value());
    leaf_.set("after", after ? leaf_words(*after) : Value());
    return;
  }
  const char* const list = before && after ? "changed" : after ? "added" : "removed";
  Value words = broker::part_words(after ? *after : *before);
  if (before && after) words.set("before", broker::part_words(*before));
  lists_[key.part][list].push_back(std::move(words));
}

Value FieldDifference::part_words(Part part) const {
  Value words{Map{}};
  for (const auto& [name, list] : lists_.at(part)) words.set(name, list);
  return words;
}

Value FieldDifference::words() const {
  Value words = leaf_;
  for (const auto& [part, lists] : lists_) words.set(plural_of(part), part_words(part));
  return words;
}

Value FieldDifference::as_revision() const {
  Value words{Map{}};
  for (const Part part : {Part::element, Part::entry}) {
    if (!lists_.contains(part)) continue;
    words = part_words(part);
    words.set("kind", name_of(part == Part::element ? Kind::set : Kind::log));
  }
  if (const Value* after = leaf_.find("after")) {
    if (!after->is_nil()) {
      words = *after;
    } else if (words.find("kind") == nullptr) {
      words.set("gone", true);
    }
  }
  if (const auto held = lists_.find(Part::suggestion); held != lists_.end()) {
    for (const auto& [name, list] : held->second) words.set(name == "removed" ? "dropped" : "held", list);
  }
  return words;
}

}  // namespace tafel::broker
