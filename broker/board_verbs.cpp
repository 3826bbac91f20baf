#include "broker/board_verbs.hpp"

#include <fmt/format.h>

#include "broker/verb_parts.hpp"

namespace tafel::broker {

using conflict::BoardView;

namespace {

// What every delta is asked first: epoch, base, expect.
std::optional<ErrorInfo> check_guards(const VerbRequest& request, const BoardView& view, const Rights& rights) {
  Delta guards = request.delta;
  guards.ops.clear();
  const auto judged = conflict::judge(view, *request.schema, rights, guards, request.stamp);
  return judged ? std::nullopt : std::optional(judged.error());
}

}  // namespace

std::optional<Verb> board_verb_of(const Delta& delta) {
  if (delta.ops.size() != 1 || delta.ops.front().malformed) return std::nullopt;
  const Verb verb = delta.ops.front().verb;
  return is_of_board(verb) ? std::optional(verb) : std::nullopt;
}

Result<VerbVerdict> judge_board_verb(const VerbRequest& request) {
  const Delta& delta = request.delta;
  const Op& op = op_of(request);
  const Rights rights = request.roles.rights_of(request.stamp.actor, delta.board).under(request.schema);
  const BoardView& view = request.transaction.view(delta.board);
  if (auto error = check_guards(request, view, rights)) return VerbVerdict(tl::unexpected(std::move(*error)));
  if (op.ttl_ms) return VerbVerdict(refused(delta, ErrorCode::bad_value, "ttl_ms belongs to set, patch and append"));
  const auto path = Path::parse(op.path);
  if (!path) return VerbVerdict(refused(delta, ErrorCode::bad_path, path.error().message));
  if (!rights.cap(*path, right_of(op.verb))) {
    return VerbVerdict(refused(delta, ErrorCode::forbidden,
                               fmt::format("{} may not {} {}", request.stamp.actor, name_of(op.verb), op.path)));
  }
  switch (op.verb) {
    case Verb::fork: return judge_fork(request);
    case Verb::tag: return judge_tag(request, view);
    case Verb::erase: return judge_erase(request, view);
    case Verb::retain: return judge_retain(request, view);
    case Verb::delete_board: return judge_delete(request, view, rights);
    default: return judge_merge(request, rights);
  }
}

}  // namespace tafel::broker
