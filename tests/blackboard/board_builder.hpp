// Builds a board by hand, cell by cell, without a judge: each call is one write at the next version.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blackboard/board.hpp"
#include "common/codec/json.hpp"

namespace tafel::testing {

struct Write {
  Confidence confidence = Confidence::stated;
  std::string actor = "planner";
  std::optional<Version> base{};  // default: the version before the write
  std::optional<TimeMs> expires{};
  std::shared_ptr<const Source> source{};
};

inline Path path_of(std::string_view text) { return *Path::parse(text); }
inline Value json(std::string_view text) { return *codec::parse_json(text); }

class BoardBuilder {
 public:
  // One more value of a register, beside those that are there.
  BoardBuilder& set(std::string_view path, Value value, const Write& write = {}) {
    const CellKey key = leaf_key(path_of(path));
    RegisterCell cell;
    if (const Cell* present = board_.find(key)) cell = std::get<RegisterCell>(*present);
    cell.siblings.push_back({std::move(value), next(write)});
    board_.put(key, cell);
    return *this;
  }
  BoardBuilder& add(std::string_view path, Value element, const Write& write = {}) {
    const CellKey key = element_key(path_of(path), element);
    const Dot dot = next(write);
    ElementCell cell{std::move(element), dot.mark, 0, {}};
    if (const Cell* present = board_.find(key)) cell = std::get<ElementCell>(*present);
    std::erase_if(cell.dots, [&](const Dot& older) { return older.confidence <= dot.confidence; });
    cell.dots.push_back(dot);
    board_.put(key, cell);
    return *this;
  }
  BoardBuilder& append(std::string_view path, Value value, const Write& write = {}) {
    const Dot dot = next(write);
    board_.put(entry_key(path_of(path), dot.mark), EntryCell{std::move(value), dot});
    return *this;
  }
  BoardBuilder& say(std::string_view role, std::string_view content) {
    return append("dialogue", Map{{"role", role}, {"content", content}});
  }
  BoardBuilder& counter(std::string_view path, std::int64_t total, const Write& write = {}) {
    board_.put(leaf_key(path_of(path)), CounterCell{total, next(write)});
    return *this;
  }
  BoardBuilder& extremum(std::string_view path, bool is_max, Value value, const Write& write = {}) {
    board_.put(leaf_key(path_of(path)), ExtremumCell{is_max, std::move(value), next(write)});
    return *this;
  }
  BoardBuilder& hold(std::string_view path, SuggestionCell::Act act, Value value, const Write& write = {}) {
    const Dot dot = next(write);
    board_.put(suggestion_key(path_of(path), dot.mark), SuggestionCell{act, std::move(value), dot});
    return *this;
  }

  blackboard::Board board() const {
    blackboard::Board board = board_;
    board.set_version(version_);
    return board;
  }

 private:
  Dot next(const Write& write) {
    ++version_;
    return {{version_, 0}, write.base.value_or(version_ - 1),    write.confidence, write.actor,
            write.source,  static_cast<TimeMs>(version_) * 1000, write.expires,    version_};
  }

  blackboard::Board board_;
  Version version_ = 0;
};

}  // namespace tafel::testing
