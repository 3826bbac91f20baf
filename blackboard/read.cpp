#include "blackboard/read.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/codec/cell_codec.hpp"
#include "common/codec/json.hpp"

namespace tafel::blackboard {
namespace {

// Whether a reader may see a path; asks the grants only where they differ from path to path.
class Sight {
 public:
  explicit Sight(const Reader& reader)
      : rights_(reader.rights), is_everything_(reader.rights == nullptr || reader.rights->may_read_everything()) {}

  bool covers(const Path& path) const { return is_everything_ || rights_->may_read(path); }

 private:
  const Rights* rights_;
  bool is_everything_;
};

const Dot& newest_dot(const ElementCell& element) {
  return *std::max_element(element.dots.begin(), element.dots.end(),
                           [](const Dot& a, const Dot& b) { return a.mark < b.mark; });
}

Confidence confidence_of(const ElementCell& element) {
  Confidence highest = Confidence::guess;
  for (const Dot& dot : element.dots) highest = std::max(highest, dot.confidence);
  return highest;
}

void show_origin(FieldView& view, const Dot& dot) {
  view.version = dot.version();
  view.time = dot.time;
  view.actor = dot.actor;
  view.source = dot.source;
}

void read_register(FieldView& view, const RegisterCell& cell) {
  const Sibling& shown = shown_sibling(cell);
  show_origin(view, shown.dot);
  view.value = shown.value;
  view.confidence = shown.dot.confidence;
  view.expires = shown.dot.expires;
  for (const Sibling& sibling : cell.siblings) {
    if (&sibling != &shown) view.conflicts.push_back(sibling);
  }
  std::sort(view.conflicts.begin(), view.conflicts.end(),
            [](const Sibling& a, const Sibling& b) { return a.dot.mark < b.dot.mark; });
}

void read_leaf(FieldView& view, const Cell& cell) {
  if (const auto* reg = std::get_if<RegisterCell>(&cell)) return read_register(view, *reg);
  const auto* counter = std::get_if<CounterCell>(&cell);
  const Dot& dot = counter != nullptr ? counter->dot : std::get<ExtremumCell>(cell).dot;
  show_origin(view, dot);
  view.confidence = dot.confidence;
  view.value = counter != nullptr ? Value(counter->total) : std::get<ExtremumCell>(cell).value;
}

// Orders what was gathered of a set or log, and sums it up as one value.
void finish_set(FieldView& view) {
  std::sort(view.elements.begin(), view.elements.end(), [](const ElementCell& a, const ElementCell& b) {
    return std::tie(a.first, a.place) < std::tie(b.first, b.place);
  });
  List values;
  const Dot* newest = nullptr;
  for (const ElementCell& element : view.elements) {
    values.push_back(element.value);
    view.confidence = std::max(view.confidence, confidence_of(element));
    const Dot& dot = newest_dot(element);
    if (newest == nullptr || newest->mark < dot.mark) newest = &dot;
  }
  show_origin(view, *newest);
  view.value = std::move(values);
}

void finish_log(FieldView& view) {
  std::sort(view.entries.begin(), view.entries.end(),
            [](const EntryCell& a, const EntryCell& b) { return a.dot.mark < b.dot.mark; });
  List values;
  for (const EntryCell& entry : view.entries) {
    values.push_back(entry.value);
    view.confidence = std::max(view.confidence, entry.dot.confidence);
  }
  show_origin(view, view.entries.back().dot);
  view.value = std::move(values);
}

void finish(FieldView& view) {
  if (!view.elements.empty()) finish_set(view);
  if (!view.entries.empty()) finish_log(view);
}

// Gathers live cells, which come in key order, into fields.
class FieldGatherer {
 public:
  void take(const Path& path, const Cell& cell) {
    const std::optional<Kind> kind = kind_of(cell);
    if (!kind) return;  // a suggestion is not part of the field's value
    if (views_.empty() || views_.back().path != path) begin(path, *kind);
    FieldView& view = views_.back();
    if (view.kind != *kind) return;  // a leaf has one kind; a copy that says otherwise shows its first
    if (const auto* element = std::get_if<ElementCell>(&cell)) {
      view.elements.push_back(*element);
    } else if (const auto* entry = std::get_if<EntryCell>(&cell)) {
      view.entries.push_back(*entry);
    } else {
      read_leaf(view, cell);
    }
  }

  std::vector<FieldView> result() {
    if (!views_.empty()) finish(views_.back());
    return std::move(views_);
  }

 private:
  void begin(const Path& path, Kind kind) {
    if (!views_.empty()) finish(views_.back());
    FieldView& view = views_.emplace_back(FieldView{path});
    view.kind = kind;
  }

  std::vector<FieldView> views_;
};

// Calls visit(path, live cell) for each cell at and below `path` that the reader may see, in key order. Reserved
// subtrees are shown to who names them.
template <class Visit>
void for_each_live(const Board& board, const std::optional<Path>& path, const Reader& reader, Visit visit) {
  const Sight sight(reader);
  const auto [first, last] = board.range(path);
  const Path* judged = nullptr;  // the cells of a field follow each other: one look at the rights for all of them
  bool is_visible = false;
  for (auto at = first; at != last; ++at) {
    if (judged == nullptr || *judged != at->first.path) {
      judged = &at->first.path;
      is_visible = (path || !judged->is_reserved()) && sight.covers(*judged);
    }
    if (!is_visible) continue;
    if (!may_expire(at->second)) {
      visit(at->first.path, at->second);
    } else if (const auto live = without_expired(at->second, reader.now)) {
      visit(at->first.path, *live);
    }
  }
}

struct Leaf {
  std::vector<std::string> segments;
  Value* value;
};

// The nested map of leaves in path order that agree in their first `depth` segments and have more.
Value nested(Leaf* first, Leaf* last, std::size_t depth) {
  Map map;
  while (first != last) {
    const std::string& key = first->segments[depth];
    Leaf* const end = std::find_if(first, last, [&](const Leaf& leaf) { return leaf.segments[depth] != key; });
    // A leaf has nothing below it; should a damaged copy hold something there, the leaf is shown.
    const bool is_leaf = first->segments.size() == depth + 1;
    map.emplace_back(key, is_leaf ? std::move(*first->value) : nested(first, end, depth + 1));
    first = end;
  }
  return map;
}

Value nested(std::vector<FieldView>& views, std::size_t depth) {
  std::vector<Leaf> leaves;
  leaves.reserve(views.size());
  for (FieldView& view : views) leaves.push_back({view.path.segments(), &view.value});
  return nested(leaves.data(), leaves.data() + leaves.size(), depth);
}

Value conflicts_value(const std::vector<Sibling>& conflicts) {
  List values;
  for (const Sibling& sibling : conflicts) values.push_back(sibling.value);
  return values;
}

Value confidences_by_element(const std::vector<ElementCell>& elements) {
  Map confidences;
  for (const ElementCell& element : elements) {
    confidences.emplace_back(codec::to_canonical_json(element.value), name_of(confidence_of(element)));
  }
  return confidences;
}

Value field_value(const FieldView& view) {
  Map map{{"kind", name_of(view.kind)}, {"value", view.value}};
  if (view.kind == Kind::register_) {
    map.emplace_back("confidence", name_of(view.confidence));
    map.emplace_back("version", view.version);
    if (!view.conflicts.empty()) map.emplace_back("conflicts", conflicts_value(view.conflicts));
  }
  if (view.kind == Kind::set) map.emplace_back("confidence", confidences_by_element(view.elements));
  return map;
}

Value suggestion_value(const SuggestionCell& suggestion, bool detail) {
  const Dot& dot = suggestion.dot;
  Map map{{"version", dot.version()},
          {"op", name_of(suggestion.act)},
          {"value", suggestion.value},
          {"confidence", name_of(dot.confidence)}};
  if (detail) {
    map.emplace_back("id", mark_text(dot.mark));
    map.emplace_back("actor", dot.actor);
    map.emplace_back("time", dot.time);
    map.emplace_back("source", dot.source != nullptr ? codec::source_to_map(*dot.source) : Value());
  }
  return map;
}

}  // namespace

std::vector<FieldView> fields(const Board& board, const std::optional<Path>& path, const Reader& reader) {
  FieldGatherer gatherer;
  for_each_live(board, path, reader, [&](const Path& at, const Cell& cell) { gatherer.take(at, cell); });
  return gatherer.result();
}

std::vector<SuggestionView> suggestions(const Board& board, const std::optional<Path>& path, const Reader& reader) {
  std::vector<SuggestionView> views;
  for_each_live(board, path, reader, [&](const Path& at, const Cell& cell) {
    // Ids are marks in big-endian bytes, so that key order is order of mark.
    if (const auto* suggestion = std::get_if<SuggestionCell>(&cell)) views.push_back({at, *suggestion});
  });
  return views;
}

std::optional<Value> value_at(const Board& board, const Path& path, const Reader& reader) {
  std::vector<FieldView> views = fields(board, path, reader);
  if (views.empty()) return std::nullopt;
  if (views.front().path == path) return std::move(views.front().value);
  return nested(views, path.depth());
}

Value state(const Board& board, const Reader& reader) {
  std::vector<FieldView> views = fields(board, std::nullopt, reader);
  return nested(views, 0);
}

Value fields_map(const Board& board, const std::optional<Path>& path, const Reader& reader) {
  Map map;
  for (const FieldView& view : fields(board, path, reader)) map.emplace_back(view.path.text(), field_value(view));
  return map;
}

Value suggestions_map(const Board& board, const std::optional<Path>& path, const Reader& reader, bool detail) {
  std::vector<std::pair<std::string, List>> lists;  // of one path after another
  for (const SuggestionView& view : suggestions(board, path, reader)) {
    std::string text = view.path.text();
    if (lists.empty() || lists.back().first != text) lists.emplace_back(std::move(text), List{});
    lists.back().second.push_back(suggestion_value(view.suggestion, detail));
  }
  Map map;
  for (auto& [text, list] : lists) map.emplace_back(text, std::move(list));
  return map;
}

}  // namespace tafel::blackboard
