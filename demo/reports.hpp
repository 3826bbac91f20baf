// What an agent process tells the supervisor while it works: lines of JSON on its standard output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blackboard/board.hpp"
#include "common/base/result.hpp"
#include "demo/tally.hpp"

namespace tafel::demo {

struct Report {
  enum class Kind {
    delta,   // a receipt came: `tally`, and an example of something held or kept in `lines`
    turn,    // the coordinator brought a turn to a board
    board,   // how the board has grown: `lines`
    before,  // an agent's context before a turn was broadcast: `lines`
    after,   // … and after
    closed,  // the coordinator closed a board
    failed,  // the agent gives up: why, in `lines`
  };
  Kind kind = Kind::delta;
  std::string board;
  Version version = 0;
  Tally tally;
  std::vector<std::string> lines;
};

std::string report_to_line(const Report& report);  // with the end of the line
Result<Report> report_from_line(std::string_view line);

// What to show of a receipt: the first value that was kept beside another one, else the first word on the trip that was
// held, told as a sentence; nullopt when there is none. `mirror` is the agent's copy, which may not have the delta yet.
std::optional<std::string> example_of(const std::string& actor, const Delta& delta, const Receipt& receipt,
                                      const blackboard::Board& mirror);

}  // namespace tafel::demo
