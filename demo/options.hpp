// The command line of the demo.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "demo/agent_process.hpp"
#include "demo/team.hpp"

namespace tafel::demo {

struct Options {
  std::filesystem::path dialogues;  // empty: the small set that comes with the demo
  std::size_t limit = 0;
  std::size_t agents = agents_default;
  std::size_t boards_at_once = 0;  // 0: as fits the set
  std::int64_t pace_ms = -1;       // below 0: as fits the set
  std::filesystem::path data;      // empty: a temporary directory
  std::filesystem::path json;      // empty: no summary as JSON
  bool keep = false;
  bool quiet = false;
  std::optional<std::string> text;     // to print instead of running
  std::optional<AgentSettings> agent;  // this process is one of the agents
};

// A failure says what is wrong with the arguments.
Result<Options> parse_options(const std::vector<std::string>& arguments);

}  // namespace tafel::demo
