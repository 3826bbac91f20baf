#include "conflict/expect.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "conflict/shown.hpp"

namespace tafel::conflict {
namespace {

ErrorInfo error_at(ErrorCode code, std::optional<std::string> path, std::string message) {
  ErrorInfo error;
  error.code = code;
  error.path = std::move(path);
  error.message = std::move(message);
  error.retryable = code == ErrorCode::stale;
  return error;
}

// {"version": …, "value": …} of a guarded path that the actor may read.
Value guard_of(const Draft& before, const Path& path) {
  Value guard(Map{{"version", Value(last_change(before, path))}});
  auto value = shown_value(before, path);
  guard.set("value", value ? std::move(*value) : Value());
  return guard;
}

bool same_elements(const List& left, const List& right) {
  const auto in = [](const List& list, const Value& wanted) {
    return std::find(list.begin(), list.end(), wanted) != list.end();
  };
  return std::all_of(left.begin(), left.end(), [&](const Value& v) { return in(right, v); }) &&
         std::all_of(right.begin(), right.end(), [&](const Value& v) { return in(left, v); });
}

bool is_as_expected(const Draft& before, const Path& path, const Value& expected) {
  const auto value = shown_value(before, path);
  if (!value) return expected.is_nil();
  const auto* found = value->get_if<List>();
  const auto* wanted = expected.get_if<List>();
  const bool is_set = before.kind(path) == Kind::set;
  if (is_set && found != nullptr && wanted != nullptr) return same_elements(*found, *wanted);
  return *value == expected;
}

// One guarded path with the path's text.
struct Guard {
  std::string text;
  Path path;
};

struct Checker {
  const Draft& before;
  const Expect& expect;
  const Rights& rights;
  std::vector<Guard> guards;

  std::optional<ErrorInfo> parse(const std::string& text) {
    const auto path = Path::parse(text);
    if (!path) return error_at(ErrorCode::bad_path, text, "expect: " + path.error().message);
    guards.push_back({text, *path});
    return std::nullopt;
  }

  // The form of an expected value, and whether this actor may compare with it: that would be reading.
  std::optional<ErrorInfo> check_value(const Guard& guard, const Value& expected) const {
    if (const auto defect = find_defect(expected))
      return error_at(ErrorCode::bad_value, guard.text, "expect: " + defect->message);
    if (may_read_all(before, rights, guard.path)) return std::nullopt;
    return error_at(ErrorCode::forbidden, guard.text,
                    fmt::format("not all of {} may be read, so no value of it can be expected", guard.text));
  }

  std::optional<ErrorInfo> check_version(const Guard& guard, Version expected) const {
    const Version found = last_change(before, guard.path);
    if (found == expected) return std::nullopt;
    if (!may_read_all(before, rights, guard.path)) {
      return stale(guard, Value(expected), fmt::format("{} was not last changed at version {}", guard.text, expected));
    }
    return stale(guard, Value(expected),
                 fmt::format("{} was last changed at version {}, not {}; read it again and decide anew", guard.text,
                             found, expected));
  }

  ErrorInfo stale(const Guard& guard, Value expected, std::string message) const {
    ErrorInfo error = error_at(ErrorCode::stale, guard.text, std::move(message));
    error.expected = std::move(expected);
    Value all{Map{}};
    for (const Guard& each : guards) {
      if (may_read_all(before, rights, each.path)) all.set(each.text, guard_of(before, each.path));
    }
    if (const Value* found = all.find(guard.text)) error.found = *found;
    error.guards = std::move(all);
    return error;
  }
};

}  // namespace

std::optional<ErrorInfo> check_expect(const Draft& before, const Expect& expect, const Rights& rights) {
  const Version head = before.board().version();
  if (expect.version && *expect.version != head) {
    ErrorInfo error = error_at(ErrorCode::stale, std::nullopt,
                               fmt::format("the board is at version {}, not {}; read it again", head, *expect.version));
    error.expected = Value(*expect.version);
    error.found = Value(head);
    return error;
  }
  Checker checker{before, expect, rights, {}};
  for (const auto& [text, version] : expect.fields) {
    if (auto error = checker.parse(text)) return error;
  }
  for (const auto& [text, value] : expect.values) {
    if (auto error = checker.parse(text)) return error;
    if (is_inside_list(before, checker.guards.back().path)) {
      return error_at(ErrorCode::bad_path, text, fmt::format("{} points into a list; expect the whole list", text));
    }
  }
  for (std::size_t i = 0; i < expect.fields.size(); ++i) {
    if (auto error = checker.check_version(checker.guards[i], expect.fields[i].second)) return error;
  }
  for (std::size_t i = 0; i < expect.values.size(); ++i) {
    const Guard& guard = checker.guards[expect.fields.size() + i];
    const Value& expected = expect.values[i].second;
    if (auto error = checker.check_value(guard, expected)) return error;
    if (is_as_expected(before, guard.path, expected)) continue;
    return checker.stale(guard, expected,
                         fmt::format("{} is not {} now; read it again and decide anew", guard.text, brief(expected)));
  }
  return std::nullopt;
}

}  // namespace tafel::conflict
