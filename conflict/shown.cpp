#include "conflict/shown.hpp"

#include <algorithm>

#include "common/base/limits.hpp"

namespace tafel::conflict {
namespace {

Current of_dot(Value value, const Dot& dot) { return {std::move(value), dot.version(), dot.confidence, dot.actor}; }

Current shown_set(std::vector<std::pair<CellKey, Cell>> parts, bool whole) {
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    const auto& x = std::get<ElementCell>(a.second);
    const auto& y = std::get<ElementCell>(b.second);
    return x.first != y.first ? x.first < y.first : x.place < y.place;
  });
  Current current;
  List list;
  for (const auto& [key, cell] : parts) {
    const auto& element = std::get<ElementCell>(cell);
    current.version = std::max(current.version, element.dots.back().version());
    list.push_back(element.value);
  }
  if (whole || list.size() <= limits::current_elements_max) current.value = std::move(list);
  return current;
}

Current shown_log(const std::vector<std::pair<CellKey, Cell>>& parts, bool whole) {
  Current current;
  List list;
  for (const auto& [key, cell] : parts) {
    const auto& entry = std::get<EntryCell>(cell);
    current.version = entry.dot.version();
    list.push_back(entry.value);
  }
  if (whole || list.size() <= limits::current_elements_max) current.value = std::move(list);
  return current;
}

void put_nested(Value& root, const std::vector<std::string>& segments, std::size_t at, Value value) {
  if (at + 1 == segments.size()) {
    root.set(segments[at], std::move(value));
    return;
  }
  if (root.find(segments[at]) == nullptr) root.set(segments[at], Map{});
  Map& map = *root.get_if<Map>();
  const auto entry = std::find_if(map.begin(), map.end(), [&](const MapEntry& e) { return e.first == segments[at]; });
  put_nested(entry->second, segments, at + 1, std::move(value));
}

bool is_index(const std::string& segment) {
  return segment == "-" || std::all_of(segment.begin(), segment.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<Current> shown_leaf(const Draft& draft, const Path& path, bool whole) {
  const auto kind = draft.kind(path);
  if (!kind) return std::nullopt;
  const auto info = draft.board().field(path);
  if (!whole && info && info->parts > limits::current_elements_max) return Current{{}, info->changed, {}, {}};
  if (*kind == Kind::set) return shown_set(draft.parts(path, Part::element), whole);
  if (*kind == Kind::log) return shown_log(draft.parts(path, Part::entry), whole);
  const CellPointer cell = draft.cell(leaf_key(path));
  if (const auto* reg = std::get_if<RegisterCell>(cell.get())) {
    const Sibling& shown = shown_sibling(*reg);
    return of_dot(shown.value, shown.dot);
  }
  if (const auto* counter = std::get_if<CounterCell>(cell.get())) return of_dot(counter->total, counter->dot);
  const auto& extremum = std::get<ExtremumCell>(*cell);
  return of_dot(extremum.value, extremum.dot);
}

std::optional<Value> shown_value(const Draft& draft, const Path& path) {
  if (auto leaf = shown_leaf(draft, path, true)) return std::move(leaf->value);
  const auto leaves = draft.leaves_below(path, limits::delta_leaves_max + 1);
  if (leaves.empty() || leaves.size() > limits::delta_leaves_max) return std::nullopt;
  Value root = Map{};
  const std::size_t depth = path.depth();
  for (const auto& [below, kind] : leaves) {
    if (auto leaf = shown_leaf(draft, below, true)) put_nested(root, below.segments(), depth, std::move(leaf->value));
  }
  return root;
}

bool may_read_all(const Draft& draft, const Rights& rights, const Path& path) {
  if (rights.may_read_everything()) return true;
  if (draft.kind(path)) return rights.may_read(path);
  const auto leaves = draft.leaves_below(path, limits::delta_leaves_max + 1);
  if (leaves.empty() || leaves.size() > limits::delta_leaves_max) return rights.may_read(path);  // nothing is shown
  return std::all_of(leaves.begin(), leaves.end(), [&](const auto& leaf) { return rights.may_read(leaf.first); });
}

bool is_inside_list(const Draft& draft, const Path& path) {
  for (std::optional<Path> at = path, parent = at->parent(); parent; at = parent, parent = at->parent()) {
    if (!is_index(at->segments().back())) continue;
    const auto shown = shown_leaf(draft, *parent, true);
    if (shown && shown->value.get_if<List>() != nullptr) return true;
  }
  return false;
}

Version last_change(const Draft& draft, const Path& path) {
  const BoardView& board = draft.board();
  if (const auto info = board.field(path); info && info->kind && draft.kind(path)) return info->changed;
  if (draft.leaves_below(path, 1).empty()) return 0;
  Version newest = 0;
  board.fields_below(path, [&](const Path&, const FieldInfo& info) {
    newest = std::max(newest, info.changed);
    return true;
  });
  return newest;
}

}  // namespace tafel::conflict
