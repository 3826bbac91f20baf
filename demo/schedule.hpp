// The recorded schedule of a board: every delta in the order in which it arrived, with the base that its writer had
// seen, and what it said that was news to its writer. The naive ways of merging are given the same schedule, and one
// oracle judges all of them.
#pragma once

#include <string>
#include <vector>

#include "blackboard/board.hpp"
#include "common/model/delta.hpp"
#include "common/model/names.hpp"

namespace tafel::demo {

// One thing that a delta says about one leaf or element. Blanks and repetitions of what its writer saw say nothing.
struct Word {
  enum class Act { say, add, remove, count, append };
  Path path;
  Act act = Act::say;
  Value value;  // say, append: the value; add, remove: the element; count: the amount
  Confidence confidence = Confidence::stated;
};

struct Arrival {
  Version version = 0;  // of the board, after it; the first is 1, and none is left out
  Version base = 0;
  std::string actor;
  Delta delta;
  std::vector<Word> news;
};

struct Schedule {
  std::string board;
  std::vector<Arrival> arrivals;
};

// What `delta` says beyond what its writer saw (SEMANTICS 5.2, 5.3 and 7, as far as the demo's agents go: set, patch,
// incr and append, one say per leaf). Written apart from the server's rules, so that the two check each other.
std::vector<Word> news_of(const Delta& delta, const blackboard::Board& seen);

}  // namespace tafel::demo
