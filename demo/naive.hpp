// The three usual ways to merge what several agents write, each given the recorded schedule of a board. An agent works
// on the copy that it saw (this way's own state, as many arrivals ago as its base says), makes its changes there, and
// sends what the way asks for.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "demo/schedule.hpp"

namespace tafel::demo {

enum class NaiveWay {
  whole_state,    // the agent writes the whole state back; the last writer wins
  shallow_merge,  // the agent sends each top-level key that it touched, whole; the last writer of a key wins
  final_fields,   // the agent sends the final value of each field that it speaks of, lists whole; blanks are ignored
};
inline constexpr std::array naive_ways{NaiveWay::whole_state, NaiveWay::shallow_merge, NaiveWay::final_fields};
std::string_view name_of(NaiveWay way);  // "whole_state", …

struct NaiveRun {
  Value state{Map{}};     // at the end, as nested maps
  std::size_t bytes = 0;  // that the agents sent, as MessagePack
};

NaiveRun merge_naively(NaiveWay way, const Schedule& schedule);

}  // namespace tafel::demo
