#include "conflict/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/limits.hpp"
#include "conflict/expect.hpp"
#include "conflict/rules.hpp"
#include "conflict/shown.hpp"
#include "conflict/unfold.hpp"

namespace tafel::conflict {
namespace {

template <class T>
using Verdict = tl::expected<T, ErrorInfo>;

ErrorInfo delta_error(ErrorCode code, std::string message, Value expected, Value found) {
  ErrorInfo error;
  error.code = code;
  error.message = std::move(message);
  error.expected = std::move(expected);
  error.found = std::move(found);
  return error;
}

std::optional<ErrorInfo> check_base(const BoardView& board, const Delta& delta, const Stamp& stamp) {
  if (!delta.epoch.empty() && delta.epoch != stamp.epoch) {
    return delta_error(
        ErrorCode::wrong_epoch,
        "the store is another one than the delta was made for, so its versions mean nothing here; read again",
        Value(delta.epoch), Value(stamp.epoch));
  }
  const Version base = delta.base.value_or(board.version());
  if (base > board.version()) {
    return delta_error(ErrorCode::future_base,
                       fmt::format("base {} lies above the board's version {}", base, board.version()), Value(base),
                       Value(board.version()));
  }
  if (base < board.floor()) {
    return delta_error(
        ErrorCode::base_too_old,
        fmt::format("base {} lies below the retained history, which begins at {}; read again", base, board.floor()),
        Value(base), Value(board.floor()));
  }
  return std::nullopt;
}

// What one op did, with all its leaves.
struct OpOutcome {
  std::vector<LeafOutcome> leaves;
  std::optional<ErrorInfo> error;
};

// Judges the ops of one delta in order on one draft.
class OpsJudge {
 public:
  OpsJudge(const BoardView& board, const Schema& schema, const Rights& rights, const Delta& delta, const Stamp& stamp,
           const SchemaScope* scope, std::vector<PlannedOp> plan, Version base)
      : schema_(schema),
        rights_(rights),
        delta_(delta),
        stamp_(stamp),
        scope_(scope),
        plan_(std::move(plan)),
        draft_(board, base, stamp.now) {}

  // The first refusal when the delta is atomic; otherwise refused ops stay in the results.
  Verdict<std::vector<OpOutcome>> run() {
    for (std::size_t round = 1;; ++round) {
      auto results = run_once();
      if (!results || !reject(*results) || round == limits::rejudge_rounds_max) return results;
    }
  }

  const Draft& draft() const { return draft_; }
  const std::vector<PlannedOp>& plan() const { return plan_; }

 private:
  // Plans anew that what was refused is wrong, so that it has no last word: what it seemed to override is judged again
  // without it. It stays rejected: judged on other ops' changes it might stand, and be a second word on its leaf. False
  // when nothing was refused that was not planned so.
  bool reject(const std::vector<OpOutcome>& results) {
    bool is_news = false;
    for (PlannedOp& op : plan_) {
      if (op.error || !results[op.index].error) continue;
      op.error = results[op.index].error;
      is_news = true;
    }
    return is_news;
  }

  Verdict<std::vector<OpOutcome>> run_once() {
    draft_.back_to(0);
    leaves_reached_ = 0;
    const LastWord last_word(plan_);
    std::vector<OpOutcome> results;
    for (const PlannedOp& op : plan_) {
      const std::size_t point = draft_.point();
      OpOutcome outcome = judge_op(op, last_word);
      if (outcome.error) {
        if (delta_.atomic) return tl::unexpected(std::move(*outcome.error));
        draft_.back_to(point);
      }
      results.push_back(std::move(outcome));
    }
    return results;
  }

  OpOutcome judge_op(const PlannedOp& op, const LastWord& last_word) {
    OpOutcome outcome;
    if (op.error) {
      outcome.error = op.error;
      return outcome;
    }
    if (op.op->from_pointer) {
      if (auto error = check_no_index(op)) {
        outcome.error = std::move(error);
        return outcome;
      }
    }
    const Writing writing{draft_, schema_, rights_, delta_, stamp_, last_word, op, scope_};
    for (const Task& task : op.tasks) {
      if (task.type == Task::Type::unset || task.type == Task::Type::revert) {
        const std::size_t leaves_max = limits::delta_leaves_max - leaves_reached_;
        auto leaves = task.type == Task::Type::unset ? unset_all(writing, task, leaves_max)
                                                     : revert_all(writing, task, leaves_max);
        if (!leaves) {
          outcome.error = leaves.error();
          return outcome;
        }
        leaves_reached_ += leaves->size();
        std::move(leaves->begin(), leaves->end(), std::back_inserter(outcome.leaves));
        continue;
      }
      auto leaf = judge_task(writing, task);
      if (!leaf) {
        outcome.error = leaf.error();
        return outcome;
      }
      outcome.leaves.push_back(std::move(*leaf));
    }
    return outcome;
  }

  // A pointer into a list ("/list/0") names no field: lists are edited by what they hold.
  std::optional<ErrorInfo> check_no_index(const PlannedOp& op) const {
    for (const std::string& text : {op.op->path, op.op->from}) {
      const auto path = Path::parse(text);
      if (!path || !is_inside_list(draft_, *path)) continue;  // there is no `from`, or it points at a field
      return refusal(
          ErrorCode::bad_path, op.index, op.op->path,
          fmt::format("{} points into a list: add with a pointer that ends in /-, or patch it by its elements", text));
    }
    return std::nullopt;
  }

  LeafVerdict judge_task(const Writing& writing, const Task& task) {
    switch (task.type) {
      case Task::Type::blank: return outcome_of(task.path, Outcome::ignored_blank);
      case Task::Type::set: return write_set(writing, task, Right::set);
      case Task::Type::patch: return write_patch(writing, task);
      case Task::Type::add_item: return write_item(writing, task);
      case Task::Type::incr: return write_counter(writing, task);
      case Task::Type::max:
      case Task::Type::min: return write_extremum(writing, task);
      case Task::Type::append: return write_entry(writing, task);
      case Task::Type::unset_entry: return unset_entry(writing, task, Right::unset);
      case Task::Type::accept: return accept_suggestion(writing, task);
      case Task::Type::dismiss: return dismiss_suggestion(writing, task);
      case Task::Type::schema: return write_schema(writing, task);
      case Task::Type::unset:
      case Task::Type::revert: break;  // judge_op: they have several leaves
    }
    return outcome_of(task.path, Outcome::unchanged);
  }

  // JSON Patch's "add to the end": an entry of a log, else an element of a set.
  LeafVerdict write_item(const Writing& writing, const Task& task) {
    const auto present = draft_.kind(task.path);
    const auto kind = present ? present : schema_.rule(task.path).kind;
    if (kind == Kind::log) return write_entry(writing, task);
    Task patch(Task::Type::patch, task.path);
    patch.add.push_back(task.value);
    return write_patch(writing, patch);
  }

  const Schema& schema_;
  const Rights& rights_;
  const Delta& delta_;
  const Stamp& stamp_;
  const SchemaScope* scope_;
  std::vector<PlannedOp> plan_;
  Draft draft_;
  std::size_t leaves_reached_ = 0;  // by the unsets and reverts of this round
};

std::vector<PlannedOp> plan_all(const std::vector<Op>& ops, const Schema& schema, const Draft& before) {
  std::vector<PlannedOp> plan;
  std::size_t said = 0;  // leaves and elements
  for (std::size_t i = 0; i < ops.size(); ++i) {
    PlannedOp op = plan_op(ops[i], i, schema);
    if (!op.error && ops[i].verb == Verb::schema && ops.size() > 1) {
      op.error = refusal(ErrorCode::bad_value, i, ops[i].path,
                         "a schema is the only op of its delta: what it says counts from the next delta on");
    }
    for (const Task& task : op.tasks)
      said += 1 + task.add.size() + task.remove.size() + (task.reset ? task.reset->size() : 0);
    if (!op.error && said > limits::delta_leaves_max) {
      op.tasks.clear();
      op.error = refusal(
          ErrorCode::too_large, i, ops[i].path,
          fmt::format("a delta that speaks of more than {} leaves and elements: split it", limits::delta_leaves_max));
    }
    if (!op.error && op.tasks.size() == 1 && op.tasks.front().type == Task::Type::accept) {
      const auto cell = before.cell(suggestion_key(op.tasks.front().path, op.tasks.front().mark));
      const auto* suggestion = cell ? std::get_if<SuggestionCell>(&*cell) : nullptr;
      op.speaks_of_register = suggestion != nullptr && suggestion->act != SuggestionCell::Act::remove;
    }
    plan.push_back(std::move(op));
  }
  return plan;
}

// --- results ---------------------------------------------------------------------------------------------------------

bool comes_before(const std::optional<Reason>& left, const std::optional<Reason>& right) {
  return left && (!right || *left < *right);
}

// The outcome of an op is the first that holds for any of its leaves; leaves with another one are listed.
OpResult combine(const std::vector<LeafOutcome>& leaves) {
  constexpr std::array<Outcome, 5> precedence{Outcome::kept_both, Outcome::applied, Outcome::held, Outcome::unchanged,
                                              Outcome::ignored_blank};
  OpResult result;
  result.outcome = *std::find_if(precedence.begin(), precedence.end() - 1, [&](Outcome outcome) {
    return std::any_of(leaves.begin(), leaves.end(), [&](const LeafOutcome& leaf) { return leaf.outcome == outcome; });
  });
  for (const LeafOutcome& leaf : leaves) {
    result.held.insert(result.held.end(), leaf.held.begin(), leaf.held.end());
    if (leaf.outcome != result.outcome) {
      result.leaves.push_back({leaf.path.text(), leaf.outcome, leaf.reason});
    } else if (comes_before(leaf.reason, result.reason)) {
      result.reason = leaf.reason;
    }
  }
  std::sort(result.held.begin(), result.held.end());
  result.held.erase(std::unique(result.held.begin(), result.held.end()), result.held.end());
  return result;
}

bool contains(const std::vector<Value>& elements, const Value& wanted) {
  return std::find(elements.begin(), elements.end(), wanted) != elements.end();
}

bool shows_value(const Draft& draft, const Path& path, const Value& written) {
  const auto* list = written.get_if<List>();
  if (list != nullptr && draft.kind(path) == Kind::set) {
    const auto elements = draft.parts(path, Part::element);
    return std::all_of(list->begin(), list->end(),
                       [&](const Value& e) { return draft.cell(element_key(path, e)) != nullptr; }) &&
           std::all_of(elements.begin(), elements.end(),
                       [&](const auto& part) { return contains(*list, std::get<ElementCell>(part.second).value); });
  }
  // As shown_leaf would tell it, without a copy: this is asked of every register that is written.
  const CellPointer cell = draft.cell(leaf_key(path));
  if (const auto* reg = cell != nullptr ? std::get_if<RegisterCell>(cell.get()) : nullptr)
    return shown_sibling(*reg).value == written;
  const auto shown = shown_leaf(draft, path, false);
  return shown && shown->value == written;
}

// The board shows something else than what the task wrote. Looks only at what the task named: sets and logs can be
// large.
bool differs(const Task& task, const Draft& draft) {
  const auto is_there = [&](const Value& element) { return draft.cell(element_key(task.path, element)) != nullptr; };
  const auto missing = [&](const Value& element) { return !is_there(element); };
  const auto unwanted = [&](const Value& element) { return is_there(element) && !contains(task.add, element); };
  switch (task.type) {
    case Task::Type::set:
    case Task::Type::max:
    case Task::Type::min: return !shows_value(draft, task.path, task.value);
    case Task::Type::patch:
      return std::any_of(task.add.begin(), task.add.end(), missing) ||
             std::any_of(task.remove.begin(), task.remove.end(), unwanted);
    case Task::Type::add_item: return draft.kind(task.path) == Kind::set && missing(task.value);
    case Task::Type::unset:
    case Task::Type::revert:
    case Task::Type::incr:
    case Task::Type::append:
    case Task::Type::unset_entry:
    case Task::Type::accept:
    case Task::Type::dismiss:
    case Task::Type::schema:
    case Task::Type::blank: return false;
  }
  return false;
}

// `current` of one op: of its one leaf, or a map of the leaves that show something else.
std::optional<Current> current_of(const PlannedOp& op, const OpOutcome& outcome, const Draft& draft,
                                  const Rights& rights) {
  std::vector<std::pair<Path, std::optional<Current>>> others;
  for (const LeafOutcome& leaf : outcome.leaves) {
    if (leaf.outcome == Outcome::ignored_blank || leaf.reason == Reason::overridden || !rights.may_read(leaf.path))
      continue;
    const auto task = std::find_if(op.tasks.begin(), op.tasks.end(), [&](const Task& t) {
      const bool has_leaves = t.type == Task::Type::unset || t.type == Task::Type::revert;
      return t.path == leaf.path || (has_leaves && leaf.path.is_below(t.path));
    });
    if (task == op.tasks.end()) continue;
    const bool gated = leaf.outcome == Outcome::held || leaf.outcome == Outcome::kept_both || !leaf.held.empty() ||
                       leaf.reason == Reason::repeated;
    const bool stays = task->type == Task::Type::unset && draft.kind(leaf.path).has_value();
    if (gated || stays || differs(*task, draft)) others.emplace_back(leaf.path, shown_leaf(draft, leaf.path, false));
  }
  if (others.empty()) return std::nullopt;
  if (others.size() == 1 && outcome.leaves.size() == 1)
    return others.front().second ? others.front().second : Current{};
  Current current;
  Value map{Map{}};
  for (auto& [path, shown] : others) {
    if (shown) current.version = std::max(current.version, shown->version);
    map.set(path.text(), shown ? std::move(shown->value) : Value());
  }
  current.value = std::move(map);
  return current;
}

// A receipt repeats so much of the board and no more: it is remembered in the log.
void keep_within(std::size_t& room, Value& value) {
  const std::size_t bytes = canonical(value).size();
  if (bytes > room) value = Value();
  room -= std::min(room, bytes);
}

OpResult result_of(const PlannedOp& op, const OpOutcome& outcome, const Draft& draft, const Rights& rights) {
  if (outcome.error) {
    OpResult result;
    result.outcome = Outcome::rejected;
    result.error = outcome.error;
    return result;
  }
  OpResult result = combine(outcome.leaves);
  result.current = current_of(op, outcome, draft, rights);
  return result;
}

}  // namespace

tl::expected<Judgement, ErrorInfo> judge(const BoardView& board, const Schema& schema, const Rights& rights,
                                         const Delta& delta, const Stamp& stamp, const SchemaScope* scope) {
  if (auto error = check_base(board, delta, stamp)) return tl::unexpected(std::move(*error));
  Judgement judgement;
  judgement.base = delta.base.value_or(board.version());
  const Draft before(board, judgement.base, stamp.now);
  if (auto error = check_expect(before, delta.expect, rights)) return tl::unexpected(std::move(*error));

  std::vector<Op> unfolded;
  if (needs_unfolding(delta)) {
    unfolded = unfold(delta, rights, [&](const std::vector<Op>& earlier) {
      OpsJudge partial(board, schema, rights, delta, stamp, scope, plan_all(earlier, schema, before), judgement.base);
      (void)partial.run();  // an op that is refused is refused again in the real run
      return partial.draft();
    });
  }
  const std::vector<Op>& ops = unfolded.empty() ? delta.ops : unfolded;
  OpsJudge ops_judge(board, schema, rights, delta, stamp, scope, plan_all(ops, schema, before), judgement.base);
  if (delta.atomic) {  // the form of every op comes before the judgement of any
    for (const PlannedOp& op : ops_judge.plan()) {
      if (op.error && !(op.op->malformed && op.op->malformed->at_its_turn)) return tl::unexpected(*op.error);
    }
  }
  const auto outcomes = ops_judge.run();
  if (!outcomes) return tl::unexpected(outcomes.error());
  std::size_t room = limits::current_bytes_max;
  for (std::size_t i = 0; i < outcomes->size(); ++i) {
    OpResult result = result_of(ops_judge.plan()[i], (*outcomes)[i], ops_judge.draft(), rights);
    if (result.current) keep_within(room, result.current->value);
    judgement.results.push_back(std::move(result));
  }
  judgement.changes = ops_judge.draft().changes();
  return judgement;
}

}  // namespace tafel::conflict
