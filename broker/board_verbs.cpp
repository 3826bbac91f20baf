#include "broker/board_verbs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "blackboard/net_changes.hpp"
#include "broker/deletion.hpp"
#include "common/base/check.hpp"
#include "common/base/limits.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/retention_codec.hpp"
#include "conflict/dots.hpp"

namespace tafel::broker {
namespace {

using conflict::BoardView;
using conflict::Judgement;

tl::unexpected<ErrorInfo> refused(const Delta& delta, ErrorCode code, std::string message) {
  ErrorInfo error;
  error.code = code;
  error.op = 0;
  if (!delta.ops.empty()) error.path = delta.ops.front().path;
  error.message = std::move(message);
  return tl::unexpected(std::move(error));
}

tl::unexpected<ErrorInfo> refused_version(const Delta& delta, ErrorCode code, std::string message, Version found) {
  auto error = refused(delta, code, std::move(message));
  error.value().found = Value(found);
  return error;
}

Judgement applied(std::vector<Change> changes, Version base) {
  Judgement judgement;
  judgement.results.resize(1);
  judgement.results[0].outcome = Outcome::applied;
  judgement.changes = std::move(changes);
  judgement.base = base;
  return judgement;
}

Judgement unchanged(Reason reason, Version base) {
  Judgement judgement = applied({}, base);
  judgement.results[0].outcome = Outcome::unchanged;
  judgement.results[0].reason = reason;
  return judgement;
}

// A reserved register has one value: the newest.
Change reserved_register(const VerbRequest& request, const Path& path, Value value, Version version, Version base) {
  const Dot dot = conflict::make_dot(request.stamp, request.delta, path, {version, 0}, base, Confidence::verified);
  return {leaf_key(path), RegisterCell{{{std::move(value), dot}}}};
}

// Of the writer on another board; what is personal or secret there counts too.
Result<Rights> rights_on(const VerbRequest& request, const std::string& board) {
  const auto schema = request.schema_of(board);
  if (!schema) return tl::unexpected(schema.error());
  return request.roles.rights_of(request.stamp.actor, board).under((*schema)->schema);
}

const Op& op_of(const VerbRequest& request) { return request.delta.ops.front(); }

// What every delta is asked first: epoch, base, expect.
std::optional<ErrorInfo> check_guards(const VerbRequest& request, const BoardView& view, const Rights& rights) {
  Delta guards = request.delta;
  guards.ops.clear();
  const auto judged = conflict::judge(view, *request.schema, rights, guards, request.stamp);
  return judged ? std::nullopt : std::optional(judged.error());
}

// The members of an op's value: one text that is needed, and a version.
struct Named {
  std::string board;
  std::optional<Version> version;
};
tl::expected<Named, ErrorInfo> named_board(const Delta& delta, std::string_view member,
                                           std::string_view version_member) {
  const Value& value = delta.ops.front().value;
  const auto wrong = [&] {
    return refused(delta, ErrorCode::bad_value,
                   fmt::format("{0} takes {{\"{1}\": board id, \"{2}\": version (may be left out)}}, found {3}",
                               name_of(delta.ops.front().verb), member, version_member, brief(value)));
  };
  const auto* map = value.get_if<Map>();
  if (map == nullptr) return wrong();
  Named named;
  for (const auto& [key, item] : *map) {
    if (key == member && item.get_if<std::string>() != nullptr) {
      named.board = *item.get_if<std::string>();
    } else if (key == version_member && (item.is_nil() || codec::as_uint64(item))) {
      named.version = codec::as_uint64(item);
    } else {
      return wrong();
    }
  }
  if (const auto defect = board_id_defect(named.board)) {
    return refused(delta, ErrorCode::bad_value, fmt::format("\"{}\": {}", member, *defect));
  }
  return named;
}

// That the board can be read as it was after the version.
Result<std::optional<ErrorInfo>> check_version(const VerbRequest& request, const std::string& board, Version version,
                                               const Head& head) {
  const Delta& delta = request.delta;
  if (head.version == 0)
    return refused(delta, ErrorCode::bad_value, fmt::format("there is no board {}", board)).value();
  if (version > head.version) {
    return refused_version(delta, ErrorCode::future_base,
                           fmt::format("the board {} is at version {}; version {} does not exist yet", board,
                                       head.version, version),
                           head.version)
        .value();
  }
  const auto is_kept = request.transaction.keeps(board, version);
  if (!is_kept) return tl::unexpected(is_kept.error());
  if (*is_kept && version > 0) return std::nullopt;
  const Version floor = std::max<Version>(request.transaction.view(board).floor(), 1);
  return refused_version(
             delta, ErrorCode::base_too_old,
             fmt::format("the history of {} reaches back to version {}; version {} is gone", board, floor, version),
             floor)
      .value();
}

// The error of another board that was deleted; nullopt when it was not.
Result<std::optional<ErrorInfo>> deleted(const VerbRequest& request, const std::string& board, const Rights& rights) {
  const auto deletion = request.transaction.deletion(board);
  if (!deletion) return tl::unexpected(deletion.error());
  if (!*deletion) return std::nullopt;
  ErrorInfo error = deleted_error(board, **deletion, rights);
  error.op = 0;
  error.path = op_of(request).path;
  return error;
}

// --- fork ---

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
  return VerbJudgement{std::nullopt,
                       applied({reserved_register(request, path, std::move(value), version + 1, version)}, version)};
}

// --- tag ---

std::size_t count_tags(const BoardView& view) {
  std::size_t count = 0;
  view.fields_below(*Path::parse(tags_path), [&](const Path&, const FieldInfo& info) {
    if (info.kind) ++count;
    return true;
  });
  return count;
}

Result<VerbVerdict> judge_tag(const VerbRequest& request, const BoardView& view) {
  const Delta& delta = request.delta;
  const auto path = Path::parse(op_of(request).path);
  const Path tags = *Path::parse(tags_path);
  if (!path || !path->is_below(tags) || path->depth() != 2) {
    return VerbVerdict(refused(delta, ErrorCode::bad_path,
                               fmt::format("a tag stands at {}.NAME, with a name of one segment", tags_path)));
  }
  const Version base = delta.base.value_or(view.version());
  const auto present = view.cell(leaf_key(*path));
  const Value& value = op_of(request).value;
  if (value.is_nil()) {
    if (!present) return VerbJudgement{std::nullopt, unchanged(Reason::absent, base)};
    return VerbJudgement{std::nullopt, applied({{leaf_key(*path), std::nullopt}}, base)};
  }
  const auto version = codec::as_uint64(value);
  if (!version) {
    return VerbVerdict(
        refused(delta, ErrorCode::bad_value,
                fmt::format("a tag names a version of the board, or nil to go; found {}", brief(value))));
  }
  const auto head = request.transaction.head(delta.board);
  if (!head) return tl::unexpected(head.error());
  auto error = check_version(request, delta.board, *version, *head);
  if (!error) return tl::unexpected(error.error());
  if (*error) return VerbVerdict(tl::unexpected(std::move(**error)));
  if (present && shown_sibling(std::get<RegisterCell>(*present)).value == value)
    return VerbJudgement{std::nullopt, unchanged(Reason::echo, base)};
  if (!present && count_tags(view) >= limits::tags_per_board_max) {
    return VerbVerdict(refused(
        delta, ErrorCode::too_large,
        fmt::format("{} versions have names already, as many as may; take one away", limits::tags_per_board_max)));
  }
  return VerbJudgement{std::nullopt,
                       applied({reserved_register(request, *path, value, view.version() + 1, base)}, base)};
}

// --- retain ---

Result<VerbVerdict> judge_retain(const VerbRequest& request, const BoardView& view) {
  const Delta& delta = request.delta;
  const Path path = *Path::parse(retention_path);
  if (op_of(request).path != retention_path) {
    return VerbVerdict(
        refused(delta, ErrorCode::bad_path, fmt::format("what is retained is said at {}", retention_path)));
  }
  const Version base = delta.base.value_or(view.version());
  const auto present = view.cell(leaf_key(path));
  if (op_of(request).value.is_nil()) {
    if (!present) return VerbJudgement{std::nullopt, unchanged(Reason::absent, base)};
    return VerbJudgement{std::nullopt, applied({{leaf_key(path), std::nullopt}}, base)};
  }
  const auto retention = codec::retention_from_value(op_of(request).value);
  if (!retention) return VerbVerdict(refused(delta, ErrorCode::bad_value, retention.error().message));
  Value value = codec::retention_to_value(*retention);
  if (present && shown_sibling(std::get<RegisterCell>(*present)).value == value)
    return VerbJudgement{std::nullopt, unchanged(Reason::echo, base)};
  return VerbJudgement{std::nullopt,
                       applied({reserved_register(request, path, std::move(value), view.version() + 1, base)}, base)};
}

// --- erase ---

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

// --- merge ---

// One field of a view, as it is or as it was, put into a board.
void copy_field(const BoardView& view, const Path& path, std::optional<Version> version, blackboard::Board& board) {
  const auto put = [&](const CellKey& key) {
    const auto cell = version ? view.cell_as_of(key, *version) : view.cell(key);
    if (cell) board.put(key, *cell);
  };
  put(leaf_key(path));
  for (const Part part : {Part::element, Part::entry}) {
    view.parts(path, part, [&](const CellKey& key, const std::optional<Cell>&, Version) {
      put(key);
      return true;
    });
  }
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

// --- delete ---

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

// The fork's own erasure: by the same actor, and with a source that leads to the first.
Result<void> erase_in_fork(const VerbRequest& request, const std::string& fork, std::vector<Event>& events) {
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
  if (changes->empty()) return {};
  auto judgement = applied(std::move(*changes), head->version);
  if (auto prepared = request.prepare(fork, judgement, stamp.now); !prepared) return prepared;
  auto event = request.transaction.append(delta, judgement, stamp);
  if (!event) return tl::unexpected(event.error());
  const store::Erasure erasure{0, fork, path, event->version, stamp.actor, event->time};
  if (auto noted = request.transaction.note_erasure(erasure); !noted) return noted;
  events.push_back(std::move(*event));
  return {};
}

}  // namespace

std::optional<Verb> board_verb_of(const Delta& delta) {
  if (delta.ops.size() != 1 || delta.ops.front().malformed) return std::nullopt;
  const Verb verb = delta.ops.front().verb;
  const bool is_one = verb == Verb::fork || verb == Verb::merge || verb == Verb::erase || verb == Verb::tag ||
                      verb == Verb::retain || verb == Verb::delete_board;
  return is_one ? std::optional(verb) : std::nullopt;
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

Result<std::vector<Event>> erase_in_forks(const VerbRequest& request) {
  std::vector<Event> events;
  const auto forks = request.transaction.forks_of(request.delta.board);
  if (!forks) return tl::unexpected(forks.error());
  for (const std::string& fork : *forks) {
    if (auto done = erase_in_fork(request, fork, events); !done) return tl::unexpected(done.error());
  }
  return events;
}

}  // namespace tafel::broker
