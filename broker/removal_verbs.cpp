// `erase` and `delete`: what goes for good.
#include <fmt/format.h>

#include <algorithm>

#include "broker/verb_parts.hpp"
#include "common/base/check.hpp"
#include "common/base/limits.hpp"

namespace tafel::broker {

using conflict::BoardView;

namespace {

// Every field at or below the path, tombstones too: their history is to go as well.
tl::expected<std::vector<Change>, ErrorInfo> erased_fields(const Delta& delta, const BoardView& view,
                                                           const Path& path) {
  std::vector<Change> changes;
  const auto add = [&](const Path& field) { changes.push_back({field_key(field), std::nullopt}); };
  if (view.field(path)) add(path);
  view.fields_below(path, [&](const Path& below, const FieldInfo&) {
    add(below);
    return changes.size() <= limits::delta_leaves_max;
  });
  if (changes.size() > limits::delta_leaves_max) {
    return refused(delta, ErrorCode::too_large,
                   fmt::format("more than {} fields lie there: erase them in parts", limits::delta_leaves_max));
  }
  return changes;
}

// The first fork, or fork of a fork, in which the path can not be erased: then it is erased nowhere.
Result<std::optional<ErrorInfo>> check_forks(const VerbRequest& request, const std::string& board, const Path& path) {
  const auto forks = request.transaction.forks_of(board);
  if (!forks) return tl::unexpected(forks.error());
  for (const std::string& fork : *forks) {
    if (auto changes = erased_fields(request.delta, request.transaction.view(fork), path); !changes) {
      changes.error().message = fork + ": " + changes.error().message;
      return changes.error();
    }
    auto deeper = check_forks(request, fork, path);
    if (!deeper || *deeper) return deeper;
  }
  return std::nullopt;
}

// "acme/trip-b, acme/trip-c and 3 others": names those that the writer may read something of.
std::string names_of(const VerbRequest& request, const std::vector<std::string>& boards) {
  std::vector<std::string> names;
  for (const std::string& board : boards) {
    if (names.size() == limits::deletion_forks_named_max) break;
    if (request.roles.rights_of(request.stamp.actor, board).may_read_anything()) names.push_back(board);
  }
  const std::size_t others = boards.size() - names.size();
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (others > 0) text += fmt::format("{}{} other{}", names.empty() ? "" : " and ", others, others > 1 ? "s" : "");
  return text;
}

// The fork's own erasure: by the same actor, and with a source that leads to the first.
Result<void> erase_in_fork(const VerbRequest& request, const std::string& fork, std::vector<EventPointer>& events) {
  const auto deeper = request.transaction.forks_of(fork);
  if (!deeper) return tl::unexpected(deeper.error());
  for (const std::string& board : *deeper) {
    if (auto done = erase_in_fork(request, board, events); !done) return done;
  }
  Delta delta = request.delta;
  delta.id.clear();
  delta.board = fork;
  delta.base.reset();
  delta.expect = {};
  delta.source = {"erasure", request.delta.board, {}, {}};
  const auto head = request.transaction.head(fork);
  if (!head) return tl::unexpected(head.error());
  conflict::Stamp stamp = request.stamp;
  stamp.now = std::max(stamp.now, head->time);
  stamp.salt = request.transaction.new_salt();
  const Path path = *Path::parse(delta.ops.front().path);
  auto changes = erased_fields(delta, request.transaction.view(fork), path);
  TAFEL_CHECK(changes.has_value(), "judge_erase looked at all forks");
  if (changes->empty()) {
    // No field of it is there, but the log may hold what was refused.
    return request.transaction.note_erasure({0, fork, path, head->version + 1, stamp.actor, stamp.now});
  }
  auto judgement = applied(std::move(*changes), head->version);
  if (auto prepared = request.prepare(fork, judgement, stamp.now); !prepared) return prepared;
  auto event = request.transaction.append(delta, judgement, stamp);
  if (!event) return tl::unexpected(event.error());
  const store::Erasure erasure{0, fork, path, (*event)->version, stamp.actor, (*event)->time};
  if (auto noted = request.transaction.note_erasure(erasure); !noted) return noted;
  events.push_back(std::move(*event));
  return {};
}

}  // namespace

Result<VerbVerdict> judge_erase(const VerbRequest& request, const BoardView& view) {
  const Delta& delta = request.delta;
  const auto path = Path::parse(op_of(request).path);
  if (!path) return VerbVerdict(refused(delta, ErrorCode::bad_path, path.error().message));
  if (path->is_reserved())
    return VerbVerdict(
        refused(delta, ErrorCode::forbidden, "paths that begin with $ are written by their own verbs only"));
  auto changes = erased_fields(delta, view, *path);
  if (!changes) return VerbVerdict(tl::unexpected(changes.error()));
  auto in_forks = check_forks(request, delta.board, *path);
  if (!in_forks) return tl::unexpected(in_forks.error());
  if (*in_forks) return VerbVerdict(tl::unexpected(std::move(**in_forks)));
  const Version base = delta.base.value_or(view.version());
  if (changes->empty()) return VerbJudgement{std::nullopt, unchanged(Reason::absent, base)};
  return VerbJudgement{std::nullopt, applied(std::move(*changes), base)};
}

Result<std::vector<EventPointer>> erase_in_forks(const VerbRequest& request) {
  std::vector<EventPointer> events;
  const auto forks = request.transaction.forks_of(request.delta.board);
  if (!forks) return tl::unexpected(forks.error());
  for (const std::string& fork : *forks) {
    if (auto done = erase_in_fork(request, fork, events); !done) return tl::unexpected(done.error());
  }
  return events;
}

Result<VerbVerdict> judge_delete(const VerbRequest& request, const BoardView& view, const Rights& rights) {
  const Delta& delta = request.delta;
  if (op_of(request).path != board_path) {
    return VerbVerdict(refused(delta, ErrorCode::bad_path,
                               fmt::format("delete is of the whole board, {}; to take away a part of it, unset or "
                                           "erase that",
                                           board_path)));
  }
  if (view.version() == 0) {
    return VerbVerdict(refused(delta, ErrorCode::bad_value, fmt::format("there is no board {}", delta.board)));
  }
  const Path below = *Path::parse(schema_of_below);
  if (view.cell(leaf_key(below)) && !rights.cap(below, Right::schema)) {
    return VerbVerdict(refused(delta, ErrorCode::forbidden,
                               fmt::format("the schema of the boards below {0} stands on it and would go with it; {1} "
                                           "may not change that schema",
                                           delta.board, request.stamp.actor)));
  }
  const auto forks = request.transaction.forks_of(delta.board);
  if (!forks) return tl::unexpected(forks.error());
  if (!forks->empty()) {
    return VerbVerdict(refused(delta, ErrorCode::structure_conflict,
                               fmt::format("{} has forks, which show what it holds: delete them first. They are {}",
                                           delta.board, names_of(request, *forks))));
  }
  return VerbJudgement{std::nullopt, applied({{board_key(), std::nullopt}}, delta.base.value_or(view.version()))};
}

}  // namespace tafel::broker
