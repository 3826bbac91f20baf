#include "broker/verb_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "broker/deletion.hpp"
#include "common/codec/fields.hpp"
#include "conflict/dots.hpp"

namespace tafel::broker {

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

Change reserved_register(const VerbRequest& request, const Path& path, Value value, Version version, Version base) {
  const Dot dot = conflict::make_dot(request.stamp, request.delta, path, {version, 0}, base, Confidence::verified);
  return {leaf_key(path), RegisterCell{{{std::move(value), dot}}}};
}

Result<Rights> rights_on(const VerbRequest& request, const std::string& board) {
  const auto schema = request.schema_of(board);
  if (!schema) return tl::unexpected(schema.error());
  return request.roles.rights_of(request.stamp.actor, board).under((*schema)->schema);
}

tl::expected<NamedBoard, ErrorInfo> named_board(const Delta& delta, std::string_view member,
                                           std::string_view version_member) {
  const Value& value = delta.ops.front().value;
  const auto wrong = [&] {
    return refused(delta, ErrorCode::bad_value,
                   fmt::format("{0} takes {{\"{1}\": board id, \"{2}\": version (may be left out)}}, found {3}",
                               name_of(delta.ops.front().verb), member, version_member, brief(value)));
  };
  const auto* map = value.get_if<Map>();
  if (map == nullptr) return wrong();
  NamedBoard named;
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
  const BoardView& view = request.transaction.view(board);
  const bool is_kept = view.keeps(version);
  if (const auto failed = request.transaction.failure()) return tl::unexpected(*failed);
  if (is_kept && version > 0) return std::nullopt;
  const Version floor = std::max<Version>(view.floor(), 1);
  return refused_version(
             delta, ErrorCode::base_too_old,
             fmt::format("the history of {} reaches back to version {}; version {} is gone", board, floor, version),
             floor)
      .value();
}

Result<std::optional<ErrorInfo>> deleted(const VerbRequest& request, const std::string& board, const Rights& rights) {
  const auto deletion = request.transaction.deletion(board);
  if (!deletion) return tl::unexpected(deletion.error());
  if (!*deletion) return std::nullopt;
  ErrorInfo error = deleted_error(board, **deletion, rights);
  error.op = 0;
  error.path = op_of(request).path;
  return error;
}

}  // namespace tafel::broker
