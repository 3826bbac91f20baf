#include <fmt/format.h>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "context/budget.hpp"
#include "context/candidates.hpp"
#include "context/context.hpp"

namespace tafel::context {
namespace {

std::optional<ContextError> defect_of(const std::string& board_id, const Request& request) {
  const auto bad = [](std::string message) { return ContextError{"bad_request", std::move(message), 0}; };
  if (auto defect = board_id_defect(board_id)) return bad("board: " + *defect);
  if (!is_utf8(request.system)) return bad("system: it must be valid UTF-8");
  if (request.task && !is_utf8(*request.task)) return bad("task: it must be valid UTF-8");
  if (!request.count) return bad("count: a token counter is needed; leave it out for the estimate");
  return std::nullopt;
}

// Sorts the items into what is in and what is out; of the latter a bounded list and the number of the rest.
void trace_items(Trace& trace, const Candidates& candidates) {
  std::size_t more = 0;
  for (const auto* items : {&candidates.pinned, &candidates.facts, &candidates.turns}) {
    for (const Item& item : *items) {
      if (item.is_chosen) {
        trace.included.push_back(item.name);
      } else if (trace.omitted.size() < limits::context_omissions_max) {
        trace.omitted.push_back({item.name, "budget", item.tokens});
      } else {
        ++more;
      }
    }
  }
  if (more > 0) trace.omitted.push_back({fmt::format("{} more", more), "budget", 0});
}

Trace trace_of(const Candidates& candidates, const Request& request, std::size_t mandatory, std::size_t used) {
  Trace trace{request.budget_tokens, used, mandatory, {}, {}};
  trace_items(trace, candidates);
  trace.omitted.insert(trace.omitted.end(), candidates.omitted.begin(), candidates.omitted.end());
  return trace;
}

}  // namespace

tl::expected<Context, ContextError> assemble(const std::string& board_id, const blackboard::Board& board, TimeMs now,
                                             const Rights& rights, const Request& request) {
  if (auto defect = defect_of(board_id, request)) return tl::unexpected(std::move(*defect));
  auto candidates = find_candidates(board_id, board, now, rights, request);
  if (!candidates) return tl::unexpected(candidates.error());
  const auto mandatory = choose(*candidates, request);
  if (!mandatory) return tl::unexpected(mandatory.error());
  Context context{board_id, board.version(), render(*candidates, request), {}};
  const std::size_t used = count_tokens(context.messages, request.count);
  context.trace = trace_of(*candidates, request, *mandatory, used);
  return context;
}

}  // namespace tafel::context
