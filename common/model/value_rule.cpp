#include "common/model/value_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/base/text.hpp"

namespace tafel {
namespace {

constexpr std::size_t listed_max = 20;  // values of an enum that a message names

bool is_integer(const Value& value) {
  if (value.as_int64() || value.get_if<std::uint64_t>() != nullptr) return true;
  const auto* real = value.get_if<double>();
  return real != nullptr && std::trunc(*real) == *real;
}

bool has_type(FieldType type, const Value& value) {
  switch (type) {
    case FieldType::string:
    case FieldType::text: return value.get_if<std::string>() != nullptr;
    case FieldType::integer: return is_integer(value);
    case FieldType::number: return value.is_number();
    case FieldType::boolean: return value.get_if<bool>() != nullptr;
    case FieldType::object: return value.get_if<Map>() != nullptr;
    case FieldType::enum_:  // its values say what it is
    case FieldType::any: return true;
  }
  return true;
}

std::string in_words(FieldType type) {
  switch (type) {
    case FieldType::string:
    case FieldType::text: return "text";
    case FieldType::integer: return "an integer";
    case FieldType::number: return "a number";
    case FieldType::boolean: return "true or false";
    case FieldType::object: return "an object (a map)";
    case FieldType::enum_:
    case FieldType::any: break;
  }
  return "a value";
}

std::string listed(const List& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < listed_max; ++i) text += (i == 0 ? "" : ", ") + brief(values[i]);
  if (values.size() > listed_max) text += fmt::format(" and {} more", values.size() - listed_max);
  return text;
}

Value one_member(std::string_view name, Value value) {
  Map map;
  map.emplace_back(name, std::move(value));
  return map;
}

Violation violation(std::string_view rule, std::string right, Value expected) {
  return {std::string(rule), std::move(right), one_member(rule, std::move(expected))};
}

List states_of(const FieldRule& rule) {
  std::set<std::string> states;
  for (const auto& [state, next] : rule.transitions) {
    states.insert(state);
    states.insert(next.begin(), next.end());
  }
  return {states.begin(), states.end()};
}

std::optional<Violation> range_violation(const FieldRule& rule, const Value& value) {
  if (!rule.lowest && !rule.highest) return std::nullopt;
  const bool fits = value.is_number() && (!rule.lowest || compare_numbers(value, *rule.lowest) >= 0) &&
                    (!rule.highest || compare_numbers(value, *rule.highest) <= 0);
  if (fits) return std::nullopt;
  std::string right = "be a number";
  if (rule.lowest && rule.highest) {
    right += fmt::format(" from {} to {}", brief(*rule.lowest), brief(*rule.highest));
  } else {
    right += rule.lowest ? fmt::format(" of {} or more", brief(*rule.lowest))
                         : fmt::format(" of {} or less", brief(*rule.highest));
  }
  return violation("range", std::move(right), List{rule.lowest.value_or(Value()), rule.highest.value_or(Value())});
}

}  // namespace

std::optional<Violation> find_violation(const FieldRule& rule, const Value& value) {
  if (rule.allow_blank && is_blank(value)) return std::nullopt;
  if (rule.type && !has_type(*rule.type, value))
    return violation("type", "be " + in_words(*rule.type), name_of(*rule.type));
  if (!rule.allowed.empty() && std::find(rule.allowed.begin(), rule.allowed.end(), value) == rule.allowed.end())
    return violation("enum", "be one of " + listed(rule.allowed), rule.allowed);
  if (!rule.transitions.empty() && !rule.is_state(value)) {
    const List states = states_of(rule);
    return violation("transitions", "be one of the states " + listed(states), states);
  }
  if (auto found = range_violation(rule, value)) return found;
  const auto* text = value.get_if<std::string>();
  if (rule.max_length && (text == nullptr || count_code_points(*text) > *rule.max_length))
    return violation("max_length", fmt::format("have at most {} characters", *rule.max_length), *rule.max_length);
  if (rule.pattern && (text == nullptr || !rule.pattern->is_found_in(*text)))
    return violation("pattern", "match the pattern " + rule.pattern->text(), rule.pattern->text());
  return std::nullopt;
}

}  // namespace tafel
