// What the server says of one board: its log from the first version on, as followers get it and as people read it, its
// digest, and what `verify` finds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents_sdk/cpp/agent.hpp"
#include "common/base/result.hpp"

namespace tafel::demo {

struct BoardRecord {
  std::string board;
  Version head = 0;
  std::string digest;                                           // hex
  std::vector<std::shared_ptr<const codec::FeedEvent>> events;  // every version, in order
  std::vector<Value> results;        // of each version: what became of its ops, as the log tells it
  std::vector<std::string> defects;  // found by `verify`
};

Result<BoardRecord> read_board(sdk::Agent& agent, const std::string& board);

}  // namespace tafel::demo
