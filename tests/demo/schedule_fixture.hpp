// Builds boards as agents saw them, and schedules by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents_sdk/cpp/agent.hpp"
#include "blackboard/board.hpp"
#include "demo/oracle.hpp"
#include "demo/schedule.hpp"

namespace tafel::demo {

inline Path path_of(std::string_view text) { return *Path::parse(text); }

inline Dot dot_of(Version version, Confidence confidence, std::string actor = "a", Version base = 0) {
  Dot dot;
  dot.mark = {version, 0};
  dot.base = base;
  dot.confidence = confidence;
  dot.actor = std::move(actor);
  return dot;
}

inline void put_register(blackboard::Board& board, std::string_view path, std::vector<std::pair<Value, Dot>> siblings) {
  RegisterCell cell;
  for (auto& [value, dot] : siblings) cell.siblings.push_back({std::move(value), std::move(dot)});
  board.put(leaf_key(path_of(path)), Cell(std::move(cell)));
}

inline void put_element(blackboard::Board& board, std::string_view path, const Value& value, const Dot& dot,
                        std::uint32_t place = 0) {
  ElementCell cell;
  cell.value = value;
  cell.first = dot.mark;
  cell.place = place;
  cell.dots = {dot};
  board.put(element_key(path_of(path), value), Cell(std::move(cell)));
}

inline Word said(std::string_view path, Value value, Confidence confidence = Confidence::stated) {
  return {path_of(path), Word::Act::say, std::move(value), confidence};
}
inline Word added(std::string_view path, Value value, Confidence confidence = Confidence::stated) {
  return {path_of(path), Word::Act::add, std::move(value), confidence};
}
inline Word removed(std::string_view path, Value value, Confidence confidence = Confidence::stated) {
  return {path_of(path), Word::Act::remove, std::move(value), confidence};
}

// Numbers the arrivals from 1 on.
class ScheduleBuilder {
 public:
  ScheduleBuilder& arrive(Version base, std::vector<Word> news) {
    return arrive(sdk::DeltaBuilder(base), std::move(news));
  }
  ScheduleBuilder& arrive(const sdk::DeltaBuilder& delta, std::vector<Word> news = {}) {
    const Version version = schedule_.arrivals.size() + 1;
    schedule_.arrivals.push_back({version, delta.delta().base.value_or(0), "a", delta.delta(), std::move(news)});
    return *this;
  }
  const Schedule& schedule() const { return schedule_; }

 private:
  Schedule schedule_{"demo/x", {}};
};

inline sdk::DeltaBuilder on(Version base) { return sdk::DeltaBuilder(base); }

inline Ending shows(std::string_view path, Value value, std::vector<Value> beside = {}) {
  Ending ending;
  ending[path_of(path)] = {std::move(value), std::move(beside)};
  return ending;
}

}  // namespace tafel::demo
