// `fork` and `merge`.
#include <fmt/format.h>

#include <algorithm>

#include "blackboard/net_changes.hpp"
#include "broker/verb_parts.hpp"
#include "common/base/limits.hpp"

namespace tafel::broker {
namespace {

using conflict::BoardView;

// One field of a view, as it is or as it was, put into a board.
void copy_field(const BoardView& view, const Path& path, std::optional<Version> version, blackboard::Board& board) {
  const auto put = [&](const CellKey& key) {
    const auto cell = version ? view.cell_as_of(key, *version) : view.cell(key);
    if (cell) board.put(key, *cell);
  };
  put(leaf_key(path));
  for (const Part part : {Part::element, Part::entry}) {
    view.parts(path, part, [&](const CellKey& key, const CellPointer&, Version) {
      put(key);
      return true;
    });
  }
}

}  // namespace

Result<VerbVerdict> judge_fork(const VerbRequest& request) {
  const Delta& delta = request.delta;
  const auto named = named_board(delta, "parent", "version");
  if (!named) return VerbVerdict(tl::unexpected(named.error()));
  if (named->board == delta.board)
    return VerbVerdict(refused(delta, ErrorCode::bad_value, "a board can not be a fork of itself"));
  const auto own = request.transaction.head(delta.board);
  if (!own) return tl::unexpected(own.error());
  if (own->version > 0) {
    return VerbVerdict(refused_version(
        delta, ErrorCode::stale,
        fmt::format("the board {} exists already, at version {}; a fork needs a new name", delta.board, own->version),
        own->version));
  }
  const auto parent = request.transaction.head(named->board);
  if (!parent) return tl::unexpected(parent.error());
  const auto there = rights_on(request, named->board);
  if (!there) return tl::unexpected(there.error());
  auto gone = deleted(request, named->board, *there);
  if (!gone) return tl::unexpected(gone.error());
  if (*gone) return VerbVerdict(tl::unexpected(std::move(**gone)));
  if (!there->may_read_everything()) {
    return VerbVerdict(
        refused(delta, ErrorCode::forbidden,
                fmt::format("{} may not read all of {}, so it can not be forked", request.stamp.actor, named->board)));
  }
  const Version version = named->version.value_or(parent->version);
  if (version < parent->erased) {
    return VerbVerdict(refused_version(
        delta, ErrorCode::base_too_old,
        fmt::format("something was erased on {} at version {}: fork it from there on", named->board, parent->erased),
        parent->erased));
  }
  auto error = check_version(request, named->board, version, *parent);
  if (!error) return tl::unexpected(error.error());
  if (*error) return VerbVerdict(tl::unexpected(std::move(**error)));
  if (!delta.check) {
    const auto made = request.transaction.fork(delta.board, named->board, version);
    if (!made) return tl::unexpected(made.error());
    if (!*made) {
      return VerbVerdict(
          refused(delta, ErrorCode::too_large,
                  fmt::format("a fork of {} forks: fork from a board further up", limits::forks_depth_max)));
    }
  }
  const Path path = *Path::parse(fork_path);
  Value value = Map{{"parent", named->board}, {"version", version}};
  std::vector<Change> changes{reserved_register(request, path, std::move(value), version + 1, version)};
  // The names of its parent's versions stay the parent's, which keeps them only as long as it has the names itself.
  const BoardView& above = request.transaction.view(named->board);
  above.fields_below(*Path::parse(tags_path), [&](const Path& tag, const FieldInfo&) {
    if (above.cell_as_of(leaf_key(tag), version)) changes.push_back({leaf_key(tag), std::nullopt});
    return true;
  });
  return VerbJudgement{std::nullopt, applied(std::move(changes), version)};
}

Result<VerbVerdict> judge_merge(const VerbRequest& request, const Rights& rights) {
  const Delta& delta = request.delta;
  const auto named = named_board(delta, "fork", "version");
  if (!named) return VerbVerdict(tl::unexpected(named.error()));
  const auto there = rights_on(request, named->board);
  if (!there) return tl::unexpected(there.error());
  auto gone = deleted(request, named->board, *there);
  if (!gone) return tl::unexpected(gone.error());
  if (*gone) return VerbVerdict(tl::unexpected(std::move(**gone)));
  const auto origin = request.transaction.origin(named->board);
  if (!origin) return tl::unexpected(origin.error());
  if (!*origin || (*origin)->parent != delta.board) {
    return VerbVerdict(
        refused(delta, ErrorCode::bad_value, fmt::format("{} is no fork of {}", named->board, delta.board)));
  }
  const auto touched = request.transaction.own_fields(named->board, limits::delta_leaves_max + 1);
  if (!touched) return tl::unexpected(touched.error());
  const BoardView& fork = request.transaction.view(named->board);
  const Version version = named->version.value_or(fork.version());
  if (version > fork.version() || version <= (*origin)->version) {
    return VerbVerdict(refused_version(
        delta, ErrorCode::future_base,
        fmt::format("the fork has versions {} to {} of its own", (*origin)->version + 1, fork.version()),
        fork.version()));
  }
  blackboard::Board before;
  blackboard::Board after;
  std::vector<Path> paths;
  for (const Path& path : *touched) {
    if (path.is_reserved()) continue;
    if (!there->may_read(path)) {
      return VerbVerdict(
          refused(delta, ErrorCode::forbidden,
                  fmt::format("{} may not read all that was written to {}", request.stamp.actor, named->board)));
    }
    copy_field(fork, path, (*origin)->version, before);
    copy_field(fork, path, version, after);
    paths.push_back(path);
  }
  const auto cap_of = [&](const Path& path) {
    Confidence highest = Confidence::guess;
    for (const Right right :
         {Right::set, Right::patch, Right::incr, Right::max, Right::min, Right::append, Right::unset})
      highest = std::max(highest, rights.cap(path, right).value_or(Confidence::guess));
    return delta.confidence ? std::min(highest, *delta.confidence) : highest;
  };
  Delta merged = delta;
  merged.base = (*origin)->version;
  merged.ops = blackboard::net_changes(before, after, paths, request.stamp.now, cap_of);
  if (paths.size() > limits::delta_leaves_max || merged.ops.size() > limits::delta_ops_max) {
    return VerbVerdict(
        refused(delta, ErrorCode::too_large,
                fmt::format("the fork differs by more than {} ops from where it began, and a merge is one "
                            "delta: bring it over in parts",
                            limits::delta_ops_max)));
  }
  if (merged.source.empty()) merged.source = {"merge", fmt::format("{}@{}", named->board, version), {}, {}};
  auto judged = conflict::judge(request.transaction.view(delta.board), *request.schema, rights, merged, request.stamp);
  if (!judged) return VerbVerdict(tl::unexpected(std::move(judged.error())));
  return VerbJudgement{std::move(merged), std::move(*judged)};
}

}  // namespace tafel::broker
