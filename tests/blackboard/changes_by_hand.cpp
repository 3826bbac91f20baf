#include "tests/blackboard/changes_by_hand.hpp"

#include <algorithm>

#include "common/codec/msgpack.hpp"
#include "tests/blackboard/board_builder.hpp"

namespace tafel::testing {
namespace {

std::string encoded(const std::optional<Cell>& cell) {
  std::string bytes;
  PackWriter out(bytes);
  ExactSink values;
  if (cell) write_cell(out, *cell, values);
  return bytes;
}

constexpr int random_fields = 15;

}  // namespace

Delta delta_for(const std::string& board, const std::string& id, const std::string& payload) {
  Delta delta;
  delta.board = board;
  delta.id = id;
  delta.payload_hash = sha256(payload);
  delta.ops.resize(1);
  delta.ops[0].path = "field";
  delta.ops[0].value = payload;
  delta.ops[0].has_value = true;
  return delta;
}

conflict::Stamp stamp_at(TimeMs now, const std::string& actor) { return {actor, "epoch", now, "0123456789abcdef"}; }

conflict::Judgement judgement_of(std::vector<Change> changes, Version base) {
  std::sort(changes.begin(), changes.end(),
            [](const Change& left, const Change& right) { return left.key < right.key; });
  conflict::Judgement judgement;
  judgement.results.resize(1);
  judgement.results[0].outcome = Outcome::applied;
  judgement.changes = std::move(changes);
  judgement.base = base;
  return judgement;
}

Dot dot_at(Version version, std::uint32_t op) {
  Dot dot;
  dot.mark = {version, op};
  dot.base = version - 1;
  dot.actor = "planner";
  dot.time = static_cast<TimeMs>(version) * 10;
  dot.salt = version * 1000 + op;
  return dot;
}

Change set_leaf(const std::string& path, Value value, Version version) {
  return {leaf_key(path_of(path)), RegisterCell{{{std::move(value), dot_at(version)}}}};
}

Change add_element(const std::string& path, Value value, Version version) {
  const CellKey key = element_key(path_of(path), value);
  return {key, ElementCell{std::move(value), {version, 0}, 0, {dot_at(version)}}};
}

Change append_entry(const std::string& path, Value value, Version version) {
  return {entry_key(path_of(path), {version, 0}), EntryCell{std::move(value), dot_at(version)}};
}

Change hold(const std::string& path, Value value, Version version) {
  return {suggestion_key(path_of(path), {version, 0}),
          SuggestionCell{SuggestionCell::Act::set, std::move(value), dot_at(version)}};
}

Change gone(CellKey key) { return {std::move(key), std::nullopt}; }

Change expiring(Change change, TimeMs at) {
  if (auto* leaf = std::get_if<RegisterCell>(&*change.image)) leaf->siblings.front().dot.expires = at;
  if (auto* element = std::get_if<ElementCell>(&*change.image)) element->dots.front().expires = at;
  return change;
}

bool is_same(const std::optional<Cell>& left, const std::optional<Cell>& right) {
  return encoded(left) == encoded(right);
}

void NaiveHistory::apply(Version version, const std::vector<Change>& changes) {
  for (const Change& change : changes) images_[change.key][version] = change.image;
  version_ = version;
}

std::optional<Cell> NaiveHistory::as_of(const CellKey& key, Version version) const {
  const auto images = images_.find(key);
  if (images == images_.end()) return std::nullopt;
  const auto after = images->second.upper_bound(version);
  return after == images->second.begin() ? std::nullopt : std::prev(after)->second;
}

blackboard::Board NaiveHistory::board(Version version, const std::optional<Path>& path) const {
  blackboard::Board board;
  for (const auto& [key, images] : images_) {
    if (!path || key.path.is_at_or_below(*path)) board.put(key, as_of(key, version));
  }
  board.set_version(version);
  return board;
}

std::vector<CellKey> NaiveHistory::keys() const {
  std::vector<CellKey> keys;
  for (const auto& [key, images] : images_) keys.push_back(key);
  return keys;
}

NaiveHistory NaiveHistory::until(Version version) const {
  NaiveHistory part;
  part.version_ = version;
  for (const auto& [key, images] : images_) {
    for (auto image = images.begin(); image != images.upper_bound(version); ++image) part.images_[key].insert(*image);
  }
  return part;
}

std::vector<Change> RandomChanges::next(const NaiveHistory& history) {
  const Version version = history.version() + 1;
  std::map<CellKey, Change> changes;
  const std::uint64_t count = 1 + below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const CellKey key = random_key(version);
    const bool goes = history.as_of(key, version) && below(3) == 0;
    changes.insert_or_assign(key, goes ? gone(key) : Change{key, random_cell(key, version)});
  }
  std::vector<Change> list;
  for (auto& [key, change] : changes) list.push_back(std::move(change));
  return list;
}

// The number of the field decides its kind, so that a field never changes its kind while it is there.
CellKey RandomChanges::random_key(Version version) {
  const auto field = static_cast<int>(below(random_fields));
  std::string text = "group" + std::to_string(field % 3) + ".field" + std::to_string(field);
  if (long_paths_)
    text = std::string(350 + 5 * static_cast<std::size_t>(field % 4), 'p') + "." + std::string(100, 'q') + "." + text;
  const Path path = path_of(text);
  if (below(8) == 0) return suggestion_key(path, {version, 0});
  switch (field % 5) {
    case 0: return element_key(path, static_cast<std::int64_t>(below(4)));
    case 1: return entry_key(path, {version, static_cast<std::uint32_t>(below(2))});
    default: return leaf_key(path);
  }
}

Cell RandomChanges::random_cell(const CellKey& key, Version version) {
  Dot dot = dot_at(version);
  if (below(4) == 0) dot.expires = static_cast<TimeMs>(1'000'000 + below(1000));
  const Value value = std::string(below(40), 'v') + std::to_string(below(1000));
  if (key.part == Part::element) return ElementCell{*codec::decode(key.id), {version, 0}, 0, {dot}};
  if (key.part == Part::entry) return EntryCell{value, dot};
  if (key.part == Part::suggestion) return SuggestionCell{SuggestionCell::Act::set, value, dot_at(version)};
  const std::string text = key.path.text();
  if (text.back() == '2' || text.back() == '7') return CounterCell{static_cast<std::int64_t>(below(100)), dot};
  return RegisterCell{{{value, dot}}};
}

}  // namespace tafel::testing
