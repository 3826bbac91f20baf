// One agent as a process: follows the boards of the dialogues through the SDK, answers to each turn that is broadcast,
// keeps a journal.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "demo/team.hpp"

namespace tafel::demo {

struct AgentSettings {
  std::string server;
  std::size_t member = 0;  // index in the team
  std::size_t agents = agents_default;
  std::filesystem::path dialogues;
  std::size_t limit = 0;
  std::size_t boards_at_once = 1;
  std::int64_t pace_ms = 0;  // about how long an agent thinks about a turn
  std::filesystem::path journal;
};

// The exit code of the process. Reports on standard output.
int run_agent(const AgentSettings& settings);

}  // namespace tafel::demo
