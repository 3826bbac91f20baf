// What could go into a context: the parts that must, and the items that may, each whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "context/context.hpp"
#include "context/dialogue.hpp"
#include "context/state_section.hpp"

namespace tafel::context {

struct Item {
  std::string name;                 // for the trace: a path, or "turn 3"
  std::string line{};               // of a field
  std::vector<Message> messages{};  // of a turn
  std::size_t tokens = 0;
  bool is_mandatory = false;
  bool is_chosen = false;
};

struct Candidates {
  std::string section_begin;
  std::vector<Item> pinned;       // in the order of the request
  std::vector<Item> facts;        // the surest first, then by path
  std::vector<Item> turns;        // oldest first; the last one is the current turn
  std::vector<Omission> omitted;  // what is no candidate, and why
};

// Failure: a path of the request that is none.
tl::expected<Candidates, ContextError> find_candidates(const std::string& board_id, const blackboard::Board& board,
                                                       TimeMs now, const Rights& rights, const Request& request);

}  // namespace tafel::context
