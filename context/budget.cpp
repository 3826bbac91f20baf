#include "context/budget.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/codec/json.hpp"

namespace tafel::context {
namespace {

constexpr std::size_t frame_tokens_per_message = 3;

// Saturates: a counter may answer anything.
std::size_t sum(std::size_t a, std::size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

std::size_t tokens_of(const std::vector<Item>& items) {
  std::size_t total = 0;
  for (const Item& item : items) total = sum(total, item.is_mandatory ? item.tokens : 0);
  return total;
}

ContextError over_budget(const Candidates& candidates, const Request& request, std::size_t needed) {
  std::string largest;
  const auto at = std::max_element(candidates.pinned.begin(), candidates.pinned.end(),
                                   [](const Item& a, const Item& b) { return a.tokens < b.tokens; });
  if (at != candidates.pinned.end()) largest = fmt::format(" (the largest: {} with {})", at->name, at->tokens);
  return {"over_budget",
          fmt::format("the parts that must be there need {} tokens, the budget is {}: system {}, frame of the state "
                      "{}, pinned {}{}, "
                      "current turn {}, task {}; a budget of {} would fit them, or fewer or shorter parts",
                      needed, request.budget_tokens, request.count(request.system),
                      request.count(candidates.section_begin + section_end()), tokens_of(candidates.pinned), largest,
                      tokens_of(candidates.turns), request.task ? request.count(*request.task) : 0, needed),
          needed};
}

// The items that may be left out, by what is worth most.
std::vector<Item*> optional_items(Candidates& candidates) {
  std::vector<Item*> items;
  for (Item& fact : candidates.facts) items.push_back(&fact);
  for (auto turn = candidates.turns.rbegin(); turn != candidates.turns.rend(); ++turn) {
    if (!turn->is_mandatory) items.push_back(&*turn);
  }
  return items;
}

// What does not fit is skipped, so that one long item blocks none behind it.
void choose_while_they_fit(const std::vector<Item*>& items, std::size_t room) {
  for (Item* item : items) {
    if (item->tokens > room) continue;
    item->is_chosen = true;
    room -= item->tokens;
  }
}

}  // namespace

std::string message_text(const Message& message) {
  std::string text = message.role + "\n" + message.content + "\n";
  if (!message.members.is_nil()) text += codec::to_json(message.members) + "\n";
  return text;
}

std::size_t count_tokens(const std::vector<Message>& messages, const TokenCounter& count) {
  std::size_t total = 0;
  for (const Message& message : messages)
    total = sum(total, sum(count(message_text(message)), frame_tokens_per_message));
  return total;
}

std::vector<Message> render(const Candidates& candidates, const Request& request) {
  std::vector<Message> messages;
  if (!request.system.empty()) messages.push_back({"system", request.system});
  std::string state = candidates.section_begin;
  for (const Item& item : candidates.pinned) state += item.line;
  for (const Item& item : candidates.facts) state += item.is_chosen ? item.line : "";
  messages.push_back({"system", state + section_end()});
  for (const Item& turn : candidates.turns) {
    if (turn.is_chosen) messages.insert(messages.end(), turn.messages.begin(), turn.messages.end());
  }
  if (request.task) messages.push_back({"user", *request.task});
  return messages;
}

tl::expected<std::size_t, ContextError> choose(Candidates& candidates, const Request& request) {
  const auto used = [&] { return count_tokens(render(candidates, request), request.count); };
  const std::size_t mandatory = used();
  if (mandatory > request.budget_tokens) return tl::unexpected(over_budget(candidates, request, mandatory));
  std::vector<Item*> items = optional_items(candidates);
  choose_while_they_fit(items, request.budget_tokens - mandatory);
  // A tokenizer may count the joined text higher than its parts; then the least valuable items go again.
  while (!items.empty() && used() > request.budget_tokens) {
    items.back()->is_chosen = false;
    items.pop_back();
  }
  return mandatory;
}

}  // namespace tafel::context
