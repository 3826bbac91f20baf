// The result of a run: what was counted, what was checked, and how the ways to merge compare.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "demo/oracle.hpp"
#include "demo/tally.hpp"

namespace tafel::demo {

// A way to merge: Tafel's or one of the naive ones.
struct Column {
  std::string name;  // "tafel", "whole_state", …
  Losses losses;
  std::size_t bytes = 0;  // that the agents wrote, as MessagePack
};

struct Check {
  std::string name;  // a sentence that should be true
  bool passed = false;
  std::string detail;  // numbers, or the first thing that is wrong
};

struct Summary {
  std::size_t agents = 0;
  std::size_t dialogues = 0;
  std::size_t turns = 0;
  double seconds = 0;  // from the first delta to the last
  Tally tally;
  std::size_t conflicts_open = 0;
  std::size_t mirrors = 0;      // compared
  std::vector<Column> columns;  // Tafel's is the first
  std::vector<Check> checks;

  bool passed() const;
  std::size_t processes() const { return agents + 1; }  // and the server
};

std::string summary_text(const Summary& summary);
std::string summary_json(const Summary& summary);

}  // namespace tafel::demo
