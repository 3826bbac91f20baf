// Chooses which items go into a context so that all of it together stays within the budget.
#pragma once

#include <string>
#include <vector>

#include "context/candidates.hpp"
#include "context/context.hpp"

namespace tafel::context {

// One message as the text that is counted.
std::string message_text(const Message& message);

// The messages made of the chosen items: system, state, turns, task.
std::vector<Message> render(const Candidates& candidates, const Request& request);

// Chooses facts (in their order), then turns (the newest first), each that still fits. Returns the tokens of the
// mandatory part; the error says what would fit when that alone is above the budget.
tl::expected<std::size_t, ContextError> choose(Candidates& candidates, const Request& request);

}  // namespace tafel::context
