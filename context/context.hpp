// Assembles the bounded context of one model call from a copy of the board: pure, no I/O, no clock.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "blackboard/board.hpp"
#include "common/model/rights.hpp"
#include "common/model/schema.hpp"

namespace tafel::context {

// Counts the tokens of a text. Must never undercount for the model in question.
using TokenCounter = std::function<std::size_t(std::string_view)>;

// Without a tokenizer: errs upward for every script (about one token per two ASCII letters, at least one per wide
// character).
std::size_t estimate_tokens(std::string_view text);

// Every member has a default, so that a caller may name only those that differ: {.pinned = {"budget"}}.
struct Request {
  std::string system{};                           // instructions; always first
  std::vector<std::string> pinned{};              // dot paths that are always shown, whatever their confidence
  Confidence facts_from = Confidence::confirmed;  // facts at or above this are shown as authoritative
  std::string dialogue = "dialogue";              // path of the log of turns: entries {"role","content",…}
  std::size_t turns = 6;                          // last turns kept whole; 4 to 8 advised; 0: no dialogue
  std::size_t budget_tokens = 4000;               // of everything together
  std::optional<std::string> task{};              // what to do now; always last
  TokenCounter count = estimate_tokens;
};

struct Message {
  std::string role;  // "system", "user", "assistant", "tool"
  std::string content;
  Value members{};  // of a turn's message, where it has them: "tool_calls", "tool_call_id", "name"
};

// How the budget is counted: for each message one count of its role, content and members as one text, plus 3 tokens for
// the marks that a chat format puts around a message.
std::size_t count_tokens(const std::vector<Message>& messages, const TokenCounter& count);

// What was left out and why.
struct Omission {
  std::string what;    // a path, or "turn 3"
  std::string reason;  // "budget", "blank", "older than the last 6 turns", …
  std::size_t tokens = 0;
};

struct Trace {
  std::size_t budget_tokens = 0;
  std::size_t used_tokens = 0;
  std::size_t mandatory_tokens = 0;   // system, frame of the state section, pinned paths, the current turn, task
  std::vector<std::string> included;  // paths and turns, in order
  std::vector<Omission> omitted;
};

struct Context {
  std::string board;
  Version base = 0;  // the version it was assembled from: a delta made from it carries it
  std::vector<Message> messages;
  Trace trace;
};

struct ContextError {
  std::string code;     // "over_budget", "bad_path", "bad_request"; from a mirror also "deleted"
  std::string message;  // says what would fit
  std::size_t needed_tokens = 0;
};

// The state section is marked as data, read-only and authoritative, with the version; conflicting values and held
// suggestions of the shown fields stand beside them. A turn is a user message up to the last reply before the next user
// message (tool calls and their replies inside it) and is never cut apart. Order: system, state, turns, task.
tl::expected<Context, ContextError> assemble(const std::string& board_id, const blackboard::Board& board, TimeMs now,
                                             const Rights& rights, const Request& request);

// The request of `tafel context --request FILE`, from its JSON form; a failure names the member.
tl::expected<Request, ContextError> request_from_value(const Value& value);
Value context_to_value(const Context& context);

// Pins what the schema always wants in the context, after what the request pins itself.
void pin_declared(Request& request, const Schema& schema);

}  // namespace tafel::context
