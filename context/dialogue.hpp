// The turns of a dialogue that is kept as a log of the board.
#pragma once

#include <string>
#include <vector>

#include "blackboard/read.hpp"
#include "context/context.hpp"

namespace tafel::context {

// A user message and the replies to it (before the first user message: what was said until then), with the tool calls
// and their replies inside it. Never empty.
struct Turn {
  std::size_t number = 0;  // from 1, in the log as it is now
  std::vector<Message> messages;
};

// An entry that can not be shown.
struct UnfitEntry {
  std::string name;  // "entry 12.0"
  std::string reason;
  std::string text;  // the entry as JSON
};

struct Dialogue {
  std::vector<Turn> turns;  // oldest first
  std::vector<UnfitEntry> unfit;
};

// Shows an entry when it is a map with the role user, assistant or tool and with content that is not blank, or with
// tool calls. The role system is for the caller's own instructions alone. A call without all its replies in the same
// turn, and a reply without its call, are unfit: model interfaces refuse both.
Dialogue read_dialogue(const blackboard::FieldView& log);

}  // namespace tafel::context
