// What the schema says of a value that gets in, whatever op brings it (SEMANTICS 5.6).
#include <fmt/format.h>

#include <algorithm>

#include "common/base/spelling.hpp"
#include "common/model/value_rule.hpp"
#include "conflict/rules.hpp"

namespace tafel::conflict {
namespace {

constexpr std::size_t quoted_bytes_max = 256;   // of a value in `found`; of a larger one its beginning as text
constexpr std::size_t hints_max = 3;            // declared paths named for one that is not
constexpr std::size_t ops_with_hints_max = 64;  // looking for them takes a while

// What is personal or secret is repeated only to who may read it.
bool may_quote(const Writing& writing, const Path& path, const FieldRule& rule) {
  return rule.sensitivity == Sensitivity::none || writing.rights.may_read(path);
}

Value quoted(const Value& value) { return canonical(value).size() <= quoted_bytes_max ? value : Value(brief(value)); }

std::vector<std::string> close_paths(const Writing& writing, const Path& path) {
  if (writing.delta.ops.size() > ops_with_hints_max) return {};
  std::vector<std::string> known;
  for (const DeclaredRule& declared : writing.schema.rules()) {
    if (!declared.path || writing.rights.may_read(*declared.path)) known.push_back(declared.name);
  }
  return close_names(path.text(), known, hints_max);
}

std::string in_words(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The states that may follow `state`.
const std::vector<std::string>& next_states(const Transitions& transitions, const std::string& state) {
  static const std::vector<std::string> none;
  const auto at = transitions.find(state);
  return at == transitions.end() ? none : at->second;
}

}  // namespace

std::optional<ErrorInfo> check_declared(const Writing& writing, const Path& path) {
  if (!writing.schema.is_strict() || writing.schema.find(path) != nullptr) return std::nullopt;
  const auto close = close_paths(writing, path);
  ErrorInfo error =
      writing.refused(ErrorCode::schema_violation, path,
                      fmt::format("the schema of this board is strict and does not declare {}{}", path.text(),
                                  close.empty() ? "; read the schema for the paths that it has"
                                                : "; did you mean " + in_words(close) + "?"));
  if (!close.empty()) error.expected = List(close.begin(), close.end());
  error.found = Value(path.text());
  return error;
}

std::optional<ErrorInfo> check_schema(const Writing& writing, const Path& path, const Value& value) {
  if (writing.schema.empty()) return std::nullopt;
  if (auto error = check_declared(writing, path)) return error;
  const FieldRule& rule = writing.schema.rule(path);
  auto violation = find_violation(rule, value);
  if (!violation) return std::nullopt;
  const bool quotes = may_quote(writing, path, rule);
  ErrorInfo error = writing.refused(ErrorCode::schema_violation, path,
                                    fmt::format("{} must {} ({}){}", path.text(), violation->right, violation->rule,
                                                quotes ? ", found " + brief(value) : ""));
  error.expected = std::move(violation->expected);
  if (quotes) error.found = quoted(value);
  return error;
}

std::optional<ErrorInfo> check_step(const Writing& writing, const Path& path, const Value& value) {
  const FieldRule& rule = writing.schema.rule(path);
  if (rule.transitions.empty()) return std::nullopt;
  const auto cell = writing.draft.cell(leaf_key(path));
  const auto* reg = cell ? std::get_if<RegisterCell>(&*cell) : nullptr;
  if (reg == nullptr) return std::nullopt;  // the first state is free
  const Value& visible = shown_sibling(*reg).value;
  const auto* from = visible.get_if<std::string>();
  const auto* to = value.get_if<std::string>();
  if (visible == value || from == nullptr || to == nullptr || !rule.is_state(visible)) return std::nullopt;
  const auto& next = next_states(rule.transitions, *from);
  if (std::find(next.begin(), next.end(), *to) != next.end()) return std::nullopt;
  if (!writing.rights.may_read(path)) {
    return writing.refused(ErrorCode::bad_transition, path,
                           fmt::format("{} may not take this value after the one that it has", path.text()));
  }
  const std::string right = next.empty() ? "no state may follow" : "may follow: " + in_words(next);
  ErrorInfo error = writing.refused(ErrorCode::bad_transition, path,
                                    fmt::format("{} is {} and may not become {} (transitions); {}", path.text(),
                                                brief(visible), brief(value), right));
  error.expected = List(next.begin(), next.end());
  error.found = Value(Map{{"from", visible}, {"to", value}});
  return error;
}

}  // namespace tafel::conflict
