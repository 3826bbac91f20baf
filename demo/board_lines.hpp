// A board and a context as lines of text for people.
#pragma once

#include <string>
#include <vector>

#include "blackboard/board.hpp"
#include "context/context.hpp"

namespace tafel::demo {

// One line a field: value, confidence, conflicting values, number of held suggestions; those of the trip first. Logs
// and counters are left out.
std::vector<std::string> board_lines(const blackboard::Board& board);

// Those of `lines` that are not among `before`, at most a few; a last line tells how many more there are.
std::vector<std::string> new_lines(const std::vector<std::string>& before, const std::vector<std::string>& lines);

// The messages of a context, one after the other.
std::vector<std::string> context_lines(const context::Context& context);

// `text` cut to about `columns` columns (a Chinese character takes two), with "…" where something is missing.
std::string shortened(const std::string& text, std::size_t columns);

}  // namespace tafel::demo
