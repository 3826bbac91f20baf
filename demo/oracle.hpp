// The oracle of loss: what must stand at the end of a schedule, whoever merged it, and what of it is missing. It knows
// the words, who had seen what, and how sure each writer was; it does not know how the merging was done. It never asks
// for more than the agents were promised: a word may be gone when a later writer had seen it, or when a surer word
// covers it.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "blackboard/board.hpp"
#include "demo/schedule.hpp"

namespace tafel::demo {

struct Losses {
  std::size_t flushed = 0;  // fields with a value that show a blank
  std::size_t members = 0;  // elements that were added, that nobody who had seen them removed, and that are missing
  std::size_t facts = 0;    // fields where a confirmed or verified value gave way to a weaker or stale one
  std::size_t updates =
      0;  // words, increments, log entries and removals without a trace, gone by somebody who had not seen them
  std::size_t increments = 0;  // those of the updates that are increments of a counter

  std::size_t total() const { return flushed + members + facts + updates; }
  Losses& operator+=(const Losses& other);
  friend bool operator==(const Losses&, const Losses&) = default;
};

// What a field shows at the end: of a set or log, a list. `beside` are conflicting values that a reader sees with it.
struct EndField {
  Value value;
  std::vector<Value> beside;
};
using Ending = std::map<Path, EndField>;

Ending ending_of(const blackboard::Board& board);
Ending ending_of(const Value& tree);  // nested maps; every other value is a leaf

Losses find_losses(const Schedule& schedule, const Ending& ending);

}  // namespace tafel::demo
