// The merge rules, one function per kind. Each judges one task of one op on the draft, changes it, and says what became
// of it.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "conflict/draft.hpp"
#include "conflict/judge.hpp"
#include "conflict/last_word.hpp"
#include "conflict/plan.hpp"

namespace tafel::conflict {

// What became of one leaf.
struct LeafOutcome {
  Path path;
  Outcome outcome = Outcome::unchanged;
  std::optional<Reason> reason;
  std::vector<std::string> held;
  bool gated = false;  // the confidence gate kept it, now or (repeated) before
};
using LeafVerdict = tl::expected<LeafOutcome, ErrorInfo>;

// One task with everything that a rule may ask.
struct Writing {
  Draft& draft;
  const Schema& schema;
  const Rights& rights;
  const Delta& delta;
  const Stamp& stamp;
  const LastWord& last_word;
  const PlannedOp& op;
  const SchemaScope* schema_scope = nullptr;

  // The confidence that was written down, on the op or the delta.
  std::optional<Confidence> explicit_confidence() const;
  bool is_asserted() const { return op.op->assert_ || op.ttl_ms.has_value(); }
  // The confidence at which the actor may do this here: what it wrote down (if that is within its cap), else the lower
  // of `unwritten` and the cap.
  tl::expected<Confidence, ErrorInfo> permitted(const Path& path, Right right,
                                                Confidence unwritten = Confidence::stated) const;
  Dot dot(const Path& path, Confidence confidence) const;  // of this op
  ErrorInfo refused(ErrorCode code, const Path& path, std::string message) const;
};

LeafOutcome outcome_of(const Path& path, Outcome outcome, std::optional<Reason> reason = std::nullopt);

// The leaf may take an op of `kind`: it is absent (and neither below nor above another leaf) or holds that kind
// already.
std::optional<ErrorInfo> check_place(const Writing& writing, const Path& path, Kind kind);
// The path holds a leaf that is no set.
bool holds_another_kind(const Writing& writing, const Path& path);

// What the schema says of a value that gets in, as the value of a register, an element or an entry (schema_rule.cpp).
std::optional<ErrorInfo> check_schema(const Writing& writing, const Path& path, const Value& value);
std::optional<ErrorInfo> check_declared(const Writing& writing, const Path& path);  // a strict schema knows the path
// The step of a state machine from the value that the register shows.
std::optional<ErrorInfo> check_step(const Writing& writing, const Path& path, const Value& value);

LeafVerdict write_set(const Writing& writing, const Task& task, Right right);  // register, or reset of a set field
LeafVerdict write_patch(const Writing& writing, const Task& task);
LeafVerdict write_counter(const Writing& writing, const Task& task);
LeafVerdict write_extremum(const Writing& writing, const Task& task);
LeafVerdict write_entry(const Writing& writing, const Task& task);  // append
LeafVerdict unset_entry(const Writing& writing, const Task& task, Right right);
// One result per leaf at or below the path; empty when there is none.
tl::expected<std::vector<LeafOutcome>, ErrorInfo> unset_all(const Writing& writing, const Task& task,
                                                            std::size_t leaves_max);
// Back to an older version (revert_rule.cpp); one result per leaf that differs, and one for the path where none does.
tl::expected<std::vector<LeafOutcome>, ErrorInfo> revert_all(const Writing& writing, const Task& task,
                                                             std::size_t leaves_max);
LeafVerdict accept_suggestion(const Writing& writing, const Task& task);
LeafVerdict dismiss_suggestion(const Writing& writing, const Task& task);
LeafVerdict write_schema(const Writing& writing, const Task& task);  // the op "schema" (schema_change.cpp)

// Inside the rules:

// What an unset found in one leaf.
struct Removal {
  bool removed = false;
  bool held_back = false;   // something more confident stays
  bool spared = false;      // something newer than the base stays
  bool overridden = false;  // a later op of the delta speaks of an element
};
// Takes away what may be taken of one present leaf, suggestions aside (unset_rule.cpp).
tl::expected<Removal, ErrorInfo> remove_leaf(const Writing& writing, const Path& path, Kind kind,
                                             Confidence confidence);
// The unset of one present leaf at a permitted confidence (unset_rule.cpp).
LeafVerdict unset_leaf(const Writing& writing, const Path& path, Kind kind, Confidence confidence);
// `held` with the new suggestion's id, or `unchanged` (repeated) when it is there already.
LeafOutcome gate(const Writing& writing, const Path& path, SuggestionCell::Act act, const Value& value,
                 Confidence confidence);

// A value of a max or min that a revert had suggested, which may lead back (number_rule.cpp).
LeafVerdict set_extremum(const Writing& writing, const Path& path, const Value& value, Confidence confidence);
// A declared `keep` drops the oldest entries (log_rule.cpp).
void keep_newest(const Writing& writing, const Path& path);
// The refusals of a register: a concurrent value where `on_conflict` is reject, and one value too many.
ErrorInfo concurrent_change(const Writing& writing, const Path& path, const Sibling& other);
ErrorInfo too_many_siblings(const Writing& writing, const Path& path);
// `before` + `by` as the total of a counter, or the refusal where that leaves its range (number_rule.cpp).
tl::expected<std::int64_t, ErrorInfo> sum_in_range(const Writing& writing, const Path& path, std::int64_t before,
                                                   std::int64_t by);

// A SetPatch as the writer meant it; `wanted` and `unwanted` have no element in common.
struct SetIntent {
  struct Wanted {
    Value element;
    bool is_named = false;  // stood in `add`: it may confirm
  };
  std::vector<Wanted> wanted;   // A of SEMANTICS 7, in order of first mention
  std::vector<Value> unwanted;  // R
  bool some_void = false;       // a later op has the last word on part of it
};
LeafVerdict merge_set(const Writing& writing, const Path& path, const SetIntent& intent, Right right, bool is_direct);
// A and R from the lists of an op, given the elements that the writer had seen.
SetIntent set_intent(const Writing& writing, const Path& path, const std::vector<Value>& add,
                     const std::vector<Value>& remove, const std::optional<std::vector<Value>>& reset);

// Suggestions (suggestions.cpp).
// Holds `act` back; its id, or nullopt when the same (act, value, confidence) is suggested there already.
std::optional<std::string> hold(Draft& draft, const Path& path, SuggestionCell::Act act, const Value& value,
                                const Dot& dot);
// An op took effect on the field: suggestions at or below its confidence that its writer had seen are settled.
void settle(Draft& draft, const Path& path, Confidence confidence);

}  // namespace tafel::conflict
