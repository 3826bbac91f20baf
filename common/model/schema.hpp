// The declared rules of fields, as data that the judge is given. A document declares some; the schema of a board is
// what several documents say together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/regex.hpp"
#include "common/model/delta.hpp"
#include "common/model/names.hpp"

namespace tafel {

// Where schemas stand: of the board itself, and of the boards whose ids begin with its id and "/".
inline constexpr std::string_view schema_of_board = "$schema.board";
inline constexpr std::string_view schema_of_below = "$schema.below";

// What happens to a concurrent value of equal confidence.
enum class OnConflict : std::uint8_t { keep_both, latest, first, reject };
std::string_view name_of(OnConflict policy);
std::optional<OnConflict> on_conflict_from(std::string_view name);

// What a value must be: of a register the value, of a set each element, of a log each entry.
enum class FieldType : std::uint8_t { string, text, integer, number, boolean, enum_, object, any };
std::string_view name_of(FieldType type);
std::optional<FieldType> field_type_from(std::string_view name);

// Who may see a field besides those who may read it anyway: personal and secret ones need a right of their own.
enum class Sensitivity : std::uint8_t { none, personal, secret };
std::string_view name_of(Sensitivity sensitivity);  // "none" stands in no document
std::optional<Sensitivity> sensitivity_from(std::string_view name);

// State → the states that may follow it.
using Transitions = std::map<std::string, std::vector<std::string>, std::less<>>;

struct FieldRule {
  std::optional<Kind> kind;
  std::optional<FieldType> type;
  bool whole = false;           // type object or any: a map is one value, not spread
  std::vector<Value> allowed;   // "enum"; empty: everything
  std::optional<Value> lowest;  // "range"
  std::optional<Value> highest;
  std::optional<std::uint64_t> max_length;  // code points
  std::optional<Regex> pattern;
  bool trim = false;  // text rules, applied before anything else is looked at
  bool nfc = false;
  bool allow_blank = false;
  OnConflict on_conflict = OnConflict::keep_both;
  Transitions transitions;            // empty: every step
  std::optional<std::int64_t> floor;  // counters
  std::optional<std::int64_t> ceil;
  std::int64_t initial = 0;
  std::optional<std::uint64_t> keep;   // logs: entries that stay
  std::optional<std::int64_t> ttl_ms;  // of writes that give none
  bool required = false;
  double weight = 1;
  std::string label;  // for people; empty: the path
  std::string description;
  bool pinned = false;  // always in the context
  Sensitivity sensitivity = Sensitivity::none;

  // The text rules, on a text; anything else as it is.
  Value with_text_rules(Value value) const;
  // With transitions: the value is one of the states.
  bool is_state(const Value& value) const;
};

// A rule with what it speaks of: one path, or all paths that a pattern matches.
struct DeclaredRule {
  std::string name;          // the path or pattern, in its one spelling
  std::optional<Path> path;  // else `pattern`
  std::optional<Pattern> pattern;
  FieldRule rule;
};

// Reads the name of a rule; the message of a failure says what is wrong with it.
Result<DeclaredRule> rule_named(std::string_view path_or_pattern);

struct SchemaDocument {
  std::optional<bool> strict;
  std::string title;
  std::string description;
  std::vector<DeclaredRule> rules;  // as they are listed, else by path; each name once
};

class Schema {
 public:
  void declare(const Path& path, FieldRule rule);
  // Takes what no nearer document has declared: call it with the nearest document first.
  void add(const SchemaDocument& document);

  // The rule of a path; a rule that declares nothing where there is none. A path beats patterns; of patterns that with
  // more literal segments, then the longer, then the first by its text.
  const FieldRule& rule(const Path& path) const;
  const DeclaredRule* find(const Path& path) const;  // null where no rule speaks of it
  Sensitivity sensitivity(const Path& path) const { return rule(path).sensitivity; }

  bool empty() const { return rules_.empty() && !strict_; }
  bool is_strict() const { return strict_.value_or(false); }  // paths of which no rule speaks are refused
  bool has_sensitive() const { return has_sensitive_; }
  const std::vector<DeclaredRule>& rules() const { return rules_; }  // of the nearest document first

 private:
  void take(DeclaredRule declared);

  std::optional<bool> strict_;
  bool has_sensitive_ = false;
  std::vector<DeclaredRule> rules_;
  std::map<std::string, std::size_t, std::less<>> names_;  // → place in rules_
  std::map<Path, std::size_t> paths_;
  std::vector<std::size_t> patterns_;  // the one that wins first
};

}  // namespace tafel
