// `tag` and `retain`: which versions stay.
#include <fmt/format.h>

#include <algorithm>

#include "broker/verb_parts.hpp"
#include "common/base/limits.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/retention_codec.hpp"

namespace tafel::broker {

using conflict::BoardView;

namespace {

bool is_number(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::size_t count_tags(const BoardView& view) {
  std::size_t count = 0;
  view.fields_below(*Path::parse(tags_path), [&](const Path&, const FieldInfo& info) {
    if (info.kind) ++count;
    return true;
  });
  return count;
}

}  // namespace

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
  if (is_number(path->segments().back())) {
    return VerbVerdict(refused(delta, ErrorCode::bad_path,
                               "a tag of digits alone would be taken for a version: put something beside them, as v5"));
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

}  // namespace tafel::broker
