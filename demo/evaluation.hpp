// After the last turn: reads the journals and the server's log, checks them board by board, plays the schedule in the
// naive ways, and sums up.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "agents_sdk/cpp/agent.hpp"
#include "common/base/result.hpp"
#include "demo/dialogues.hpp"
#include "demo/summary.hpp"
#include "demo/team.hpp"

namespace tafel::demo {

struct Played {
  const std::vector<Dialogue>& dialogues;
  const std::vector<Member>& team;
  std::filesystem::path journals;  // directory; a file for each agent
  double seconds = 0;
};

std::filesystem::path journal_file(const std::filesystem::path& directory, const Member& member);

// Calls `keep_going` between boards: when it says no, the result is Fault::closed.
Result<Summary> evaluate(sdk::Agent& agent, const Played& played,
                         const std::function<bool(std::size_t boards_done)>& keep_going);

}  // namespace tafel::demo
