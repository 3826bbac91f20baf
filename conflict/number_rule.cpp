// Counter, max and min (SEMANTICS 8): sums and joins, which commute.
#include <fmt/format.h>

#include <algorithm>

#include "conflict/rules.hpp"

namespace tafel::conflict {
namespace {

template <class CellType>
std::optional<CellType> current(const Draft& draft, const Path& path) {
  const auto cell = draft.cell(leaf_key(path));
  if (!cell) return std::nullopt;
  return std::get<CellType>(*cell);
}

ErrorInfo out_of_bounds(const Writing& writing, const Path& path, std::int64_t total, std::int64_t by,
                        std::string_view bound) {
  std::string message = fmt::format("{} is {}; adding {} leaves {}", path.text(), total, by, bound);
  if (!writing.rights.may_read(path)) message = fmt::format("adding {} to {} leaves {}", by, path.text(), bound);
  return writing.refused(ErrorCode::out_of_bounds, path, std::move(message));
}

Dot keep_highest(Dot dot, const Dot& before) {
  dot.confidence = std::max(dot.confidence, before.confidence);
  return dot;
}

}  // namespace

tl::expected<std::int64_t, ErrorInfo> sum_in_range(const Writing& writing, const Path& path, std::int64_t before,
                                                   std::int64_t by) {
  std::int64_t after = 0;
  if (__builtin_add_overflow(before, by, &after)) {
    return tl::unexpected(out_of_bounds(writing, path, before, by, "the range of int64"));
  }
  const FieldRule& rule = writing.schema.rule(path);
  if (rule.floor && after < *rule.floor)
    return tl::unexpected(out_of_bounds(writing, path, before, by, fmt::format("the floor of {}", *rule.floor)));
  if (rule.ceil && after > *rule.ceil)
    return tl::unexpected(out_of_bounds(writing, path, before, by, fmt::format("the ceiling of {}", *rule.ceil)));
  return after;
}

LeafVerdict write_counter(const Writing& writing, const Task& task) {
  const auto confidence = writing.permitted(task.path, Right::incr);
  if (!confidence) return tl::unexpected(confidence.error());
  if (auto error = check_place(writing, task.path, Kind::counter)) return tl::unexpected(std::move(*error));
  if (auto error = check_declared(writing, task.path)) return tl::unexpected(std::move(*error));
  const auto before = current<CounterCell>(writing.draft, task.path);
  const std::int64_t by = *task.value.as_int64();
  if (before && by == 0) return outcome_of(task.path, Outcome::unchanged, Reason::echo);
  const std::int64_t start = before ? before->total : writing.schema.rule(task.path).initial;
  const auto total = sum_in_range(writing, task.path, start, by);
  if (!total) return tl::unexpected(total.error());
  CounterCell after{*total, writing.dot(task.path, *confidence)};
  if (before) after.dot = keep_highest(after.dot, before->dot);
  if (!before) writing.draft.make_room(task.path);
  settle(writing.draft, task.path, *confidence);
  writing.draft.put(leaf_key(task.path), after);
  return outcome_of(task.path, Outcome::applied);
}

LeafVerdict write_extremum(const Writing& writing, const Task& task) {
  const bool is_max = task.type == Task::Type::max;
  const auto written = writing.explicit_confidence();
  const auto repeats = [&](const CellPointer& cell) {
    const auto* seen = cell ? std::get_if<ExtremumCell>(&*cell) : nullptr;
    return seen != nullptr && seen->is_max == is_max && seen->value == task.value &&
           !(written && *written > seen->dot.confidence);
  };
  const bool may_read = writing.rights.may_read(task.path);
  if (may_read && !writing.is_asserted() && repeats(writing.draft.seen(leaf_key(task.path)))) {
    return outcome_of(task.path, Outcome::unchanged, Reason::echo);
  }
  const auto confidence = writing.permitted(task.path, is_max ? Right::max : Right::min);
  if (!confidence) return tl::unexpected(confidence.error());
  if (auto error = check_place(writing, task.path, is_max ? Kind::max : Kind::min))
    return tl::unexpected(std::move(*error));
  if (auto error = check_schema(writing, task.path, task.value)) return tl::unexpected(std::move(*error));
  auto cell = current<ExtremumCell>(writing.draft, task.path);
  const bool is_new = !cell;
  const int order = cell ? compare_numbers(task.value, cell->value) : 0;
  if (!cell || (is_max ? order > 0 : order < 0)) {
    Dot dot = writing.dot(task.path, *confidence);
    if (cell) dot = keep_highest(dot, cell->dot);
    cell = ExtremumCell{is_max, task.value, dot};
  } else if (written && *confidence > cell->dot.confidence) {
    cell->dot.confidence = *confidence;  // the value stays; somebody surer than before stands behind this field
  } else {
    return outcome_of(task.path, Outcome::unchanged, Reason::echo);
  }
  if (is_new) writing.draft.make_room(task.path);
  settle(writing.draft, task.path, *confidence);
  writing.draft.put(leaf_key(task.path), *cell);
  return outcome_of(task.path, Outcome::applied);
}

LeafVerdict set_extremum(const Writing& writing, const Path& path, const Value& value, Confidence confidence) {
  const ExtremumCell cell = *current<ExtremumCell>(writing.draft, path);
  if (cell.dot.confidence > confidence) return gate(writing, path, SuggestionCell::Act::set, value, confidence);
  if (cell.dot.version() > writing.draft.base()) return outcome_of(path, Outcome::unchanged, Reason::not_seen);
  settle(writing.draft, path, confidence);
  writing.draft.put(leaf_key(path), ExtremumCell{cell.is_max, value, writing.dot(path, confidence)});
  return outcome_of(path, Outcome::applied);
}

}  // namespace tafel::conflict
