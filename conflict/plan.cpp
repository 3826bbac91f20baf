#include "conflict/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/limits.hpp"

namespace tafel::conflict {
namespace {

// The first thing that is wrong with an op's form; thrown by nobody, returned up.
using Defect = std::optional<ErrorInfo>;

struct Planner {
  const Op& op;
  std::size_t index;
  const Schema& schema;
  std::vector<Task> tasks;

  Defect wrong(ErrorCode code, std::string message) const { return refusal(code, index, op.path, std::move(message)); }
  Defect wrong_at(ErrorCode code, std::string path, std::string message) const {
    return refusal(code, index, std::move(path), std::move(message));
  }

  Defect check_value(const Value& value, const std::string& path) const {
    const auto defect = find_defect(value);
    if (!defect) return std::nullopt;
    return wrong_at(defect->too_large ? ErrorCode::too_large : ErrorCode::bad_value, path, defect->message);
  }

  bool is_blank_here(const Path& path, const Value& value) const {
    return is_blank(value) && !schema.rule(path).allow_blank;
  }

  // The text rules, also on each element of a list, which may become a set.
  Value with_text_rules(const FieldRule& rule, const Value& value) const {
    const auto* list = value.get_if<List>();
    if (list == nullptr) return rule.with_text_rules(value);
    List changed;
    for (const Value& item : *list) changed.push_back(rule.with_text_rules(item));
    return changed;
  }

  Task& add_task(Task::Type type, const Path& path) { return tasks.emplace_back(type, path); }

  Defect spread(const Path& path, const Map& map) {
    for (const auto& [key, member] : map) {
      if (const auto defect = segment_defect(key)) {
        return wrong(ErrorCode::bad_path, fmt::format("a key below {}: {}", path.text(), *defect));
      }
      auto segments = path.segments();
      segments.push_back(key);
      const auto below = Path::from_segments(segments);
      if (!below) return wrong(ErrorCode::bad_path, below.error().message);
      if (auto defect = set_leaf(*below, member, false)) return defect;
    }
    return std::nullopt;
  }

  Defect set_leaf(const Path& path, const Value& given, bool is_direct) {
    if (tasks.size() >= limits::delta_leaves_max) {
      return wrong(ErrorCode::too_large,
                   fmt::format("an op that speaks of more than {} leaves", limits::delta_leaves_max));
    }
    const FieldRule& rule = schema.rule(path);
    const auto* map = given.get_if<Map>();
    if (map != nullptr && !map->empty() && !rule.whole) return spread(path, *map);
    if (auto defect = check_value(given, path.text())) return defect;
    Value value = given;
    if (rule.trim || rule.nfc) {
      value = with_text_rules(rule, given);
      if (auto defect = check_value(value, path.text())) return defect;  // a normal form may be longer
    }
    Task& task = add_task(is_blank_here(path, value) ? Task::Type::blank : Task::Type::set, path);
    task.value = std::move(value);
    task.is_direct = is_direct;
    const auto* list = task.value.get_if<List>();
    const bool keeps_blanks = rule.allow_blank;
    task.is_list = list != nullptr && (keeps_blanks || !std::all_of(list->begin(), list->end(), is_blank));
    return std::nullopt;
  }

  // Copies the elements that say something: no blanks, no duplicates.
  Defect elements(const std::vector<Value>& given, const Path& path, std::vector<Value>& kept) const {
    std::set<std::string> ids;
    const FieldRule& rule = schema.rule(path);
    for (const Value& raw : given) {
      if (auto defect = check_value(raw, op.path)) return defect;
      const Value element = rule.with_text_rules(raw);
      if (rule.nfc) {
        if (auto defect = check_value(element, op.path)) return defect;
      }
      if (is_blank_here(path, element)) continue;
      if (ids.insert(element_id(element)).second) kept.push_back(element);
    }
    return std::nullopt;
  }

  Defect plan_patch(const Path& path) {
    Task task(Task::Type::patch, path);
    if (auto defect = elements(op.add, path, task.add)) return defect;
    if (auto defect = elements(op.remove, path, task.remove)) return defect;
    if (op.reset) {
      std::vector<Value> kept;
      if (auto defect = elements(*op.reset, path, kept)) return defect;
      if (!kept.empty() || schema.rule(path).allow_blank) task.reset = std::move(kept);
    }
    if (op.add.size() + op.remove.size() + (op.reset ? op.reset->size() : 0) > limits::delta_leaves_max) {
      return wrong(ErrorCode::too_large, fmt::format("a patch of more than {} elements", limits::delta_leaves_max));
    }
    if (task.add.empty() && task.remove.empty() && !task.reset) task.type = Task::Type::blank;
    tasks.push_back(std::move(task));
    return std::nullopt;
  }

  Defect plan_number(const Path& path, Task::Type type) {
    if (is_blank(op.value)) {
      add_task(Task::Type::blank, path);
      return std::nullopt;
    }
    if (auto defect = check_value(op.value, op.path)) return defect;
    if (!op.value.is_number()) {
      return wrong(ErrorCode::bad_value, fmt::format("{} takes a number, found {}", name_of(op.verb), brief(op.value)));
    }
    add_task(type, path).value = op.value;
    return std::nullopt;
  }

  Defect plan_incr(const Path& path) {
    if (!op.has_value) {
      add_task(Task::Type::incr, path).value = 1;
      return std::nullopt;
    }
    if (auto defect = plan_number(path, Task::Type::incr)) return defect;
    Task& task = tasks.back();
    if (task.type == Task::Type::blank || task.value.as_int64()) return std::nullopt;
    if (task.value.get_if<std::uint64_t>() != nullptr) {
      return wrong(ErrorCode::out_of_bounds, "a counter's amount must fit into int64");
    }
    return wrong(ErrorCode::bad_value, fmt::format("a counter takes an integer, found {}", brief(op.value)));
  }

  Defect plan_value(const Path& path, Task::Type type) {
    if (auto defect = check_value(op.value, op.path)) return defect;
    const FieldRule& rule = schema.rule(path);
    Value value = rule.with_text_rules(op.value);
    if (rule.nfc) {
      if (auto defect = check_value(value, op.path)) return defect;
    }
    const bool is_nothing = is_blank_here(path, value);
    add_task(is_nothing ? Task::Type::blank : type, path).value = std::move(value);
    return std::nullopt;
  }

  Defect plan_schema(const Path& path) {
    if (!op.value.is_nil()) {
      if (auto defect = check_value(op.value, op.path)) return defect;
    }
    add_task(Task::Type::schema, path).value = op.value;
    return std::nullopt;
  }

  // A schema has its own two places; everything else has none among the reserved paths.
  Defect check_reserved(const Path& path) const {
    const bool is_place = path.text() == schema_of_board || path.text() == schema_of_below;
    if (op.verb == Verb::schema) {
      if (is_place) return std::nullopt;
      return wrong(ErrorCode::bad_path,
                   fmt::format("a schema stands at {} (of this board) or {} (of the boards below it)", schema_of_board,
                               schema_of_below));
    }
    // What is done to a whole board has places of its own; here it is only to be told that it stands alone.
    if (!path.is_reserved() || is_of_board(op.verb)) return std::nullopt;
    if (is_place)
      return wrong(ErrorCode::forbidden,
                   "a schema is written by the op \"schema\" only, with the document as its value");
    return wrong(ErrorCode::forbidden, "paths that begin with $ are written by their own verbs only");
  }

  Defect plan_mark(const Path& path, Task::Type type, const std::string& text) {
    const auto mark = mark_from_text(text);
    if (!mark) {
      return wrong(ErrorCode::bad_value,
                   fmt::format("an id like \"5.0\" (version, op index) is needed, found \"{}\"", text));
    }
    add_task(type, path).mark = *mark;
    return std::nullopt;
  }

  Defect plan_by_verb(const Path& path) {
    switch (op.verb) {
      case Verb::set: return set_leaf(path, op.value, true);
      case Verb::patch: return plan_patch(path);
      case Verb::incr: return plan_incr(path);
      case Verb::max: return plan_number(path, Task::Type::max);
      case Verb::min: return plan_number(path, Task::Type::min);
      case Verb::append: return plan_value(path, Task::Type::append);
      case Verb::add_item: return plan_value(path, Task::Type::add_item);
      case Verb::unset:
        if (!op.entry.empty()) return plan_mark(path, Task::Type::unset_entry, op.entry);
        add_task(Task::Type::unset, path);
        return std::nullopt;
      case Verb::accept: return plan_mark(path, Task::Type::accept, op.suggestion);
      case Verb::dismiss: return plan_mark(path, Task::Type::dismiss, op.suggestion);
      case Verb::schema: return plan_schema(path);
      case Verb::revert:
        if (op.to.has_value() == (op.since && !op.actor.empty()))
          return wrong(ErrorCode::bad_value, "revert needs either a version, or an actor and a version");
        add_task(Task::Type::revert, path);
        return std::nullopt;
      case Verb::fork:
      case Verb::merge:
      case Verb::erase:
      case Verb::tag:
      case Verb::retain:
      case Verb::delete_board:
        return wrong(ErrorCode::bad_value, fmt::format("{} stands alone in its delta", name_of(op.verb)));
      case Verb::copy: return set_leaf(path, op.value, true);  // value filled in by unfold
      case Verb::move: {
        if (auto defect = set_leaf(path, op.value, true)) return defect;
        const auto from = Path::parse(op.from);
        if (!from) return wrong(ErrorCode::bad_path, from.error().message);
        if (from->is_reserved()) {
          return wrong(ErrorCode::forbidden, "paths that begin with $ are written by their own verbs only");
        }
        if (path.is_below(*from)) return wrong(ErrorCode::bad_path, "nothing can be moved to a place below itself");
        if (*from != path) add_task(Task::Type::unset, *from);  // onto itself: an echo
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  Defect check_ttl(std::optional<std::int64_t>& ttl_ms) const {
    if (!op.ttl_ms) return std::nullopt;
    const bool takes_ttl = op.verb == Verb::set || op.verb == Verb::patch || op.verb == Verb::append;
    if (!takes_ttl) return wrong(ErrorCode::bad_value, "ttl_ms belongs to set, patch and append");
    constexpr std::int64_t ttl_max = std::int64_t{1} << 53;
    ttl_ms = op.ttl_ms->as_int64();
    if (ttl_ms && *ttl_ms >= 1 && *ttl_ms <= ttl_max) return std::nullopt;
    return wrong(ErrorCode::bad_value, fmt::format("ttl_ms is an integer from 1 to 2^53, found {}", brief(*op.ttl_ms)));
  }

  // Why the op could not be read.
  ErrorInfo unreadable() const {
    const Malformed& why = *op.malformed;
    const ErrorCode code = why.is_forbidden ? ErrorCode::forbidden
                           : why.is_path    ? ErrorCode::bad_path
                                            : ErrorCode::bad_value;
    ErrorInfo error = refusal(code, index, why.is_forbidden ? op.from : op.path, why.message);
    if (op.path.empty() && !op.from_pointer) error.path = std::nullopt;  // it had none
    return error;
  }

  Defect run(std::optional<std::int64_t>& ttl_ms) {
    if (op.malformed && (op.malformed->is_verb || op.malformed->is_path || op.malformed->is_forbidden))
      return unreadable();
    const auto path = Path::parse(op.path);
    if (!path) return wrong(ErrorCode::bad_path, path.error().message);
    if (auto defect = check_reserved(*path)) return defect;
    if (op.malformed) return unreadable();
    if (auto defect = check_ttl(ttl_ms)) return defect;
    return plan_by_verb(*path);
  }
};

}  // namespace

ErrorInfo refusal(ErrorCode code, std::size_t op, std::string path, std::string message) {
  ErrorInfo error;
  error.code = code;
  error.op = op;
  error.path = std::move(path);
  error.message = std::move(message);
  return error;
}

PlannedOp plan_op(const Op& op, std::size_t index, const Schema& schema) {
  PlannedOp planned;
  planned.op = &op;
  planned.index = index;
  Planner planner{op, index, schema, {}};
  planned.error = planner.run(planned.ttl_ms);
  if (!planned.error) planned.tasks = std::move(planner.tasks);
  return planned;
}

}  // namespace tafel::conflict
