// What a run has found, as one line: JSON for bench/report.py, or words for people.
#pragma once

#include <string>

#include "bench/load/run.hpp"

namespace tafel::bench {

std::string json_line(const std::string& peer, const Settings& settings, const Outcome& outcome);
std::string plain_line(const std::string& peer, const Settings& settings, const Outcome& outcome);

}  // namespace tafel::bench
