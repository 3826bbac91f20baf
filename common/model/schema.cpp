#include "common/model/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/nfc.hpp"
#include "common/base/text.hpp"
#include "common/model/enum_names.hpp"

namespace tafel {
namespace {

constexpr std::array<std::string_view, 4> policy_names{"keep_both", "latest", "first", "reject"};
constexpr std::array<std::string_view, 8> type_names{"string",  "text", "integer", "number",
                                                     "boolean", "enum", "object",  "any"};
constexpr std::array<std::string_view, 3> sensitivity_names{"none", "personal", "secret"};

bool is_wild(const std::string& part) { return part == "*" || part == "**"; }

// A segment as it stands in a path or pattern.
std::string spelled(const std::string& part) {
  std::string text;
  for (const char c : part) {
    if (c == '.' || c == '\\') text.push_back('\\');
    text.push_back(c);
  }
  return text;
}

std::string spelled(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + spelled(part);
  return text;
}

// What makes one pattern win over another, the smaller first.
auto rank_of(const DeclaredRule& declared) {
  const auto& parts = declared.pattern->parts();
  const auto literal =
      std::count_if(parts.begin(), parts.end(), [](const std::string& part) { return !is_wild(part); });
  return std::tuple(-literal, -static_cast<std::ptrdiff_t>(parts.size()), std::string_view(declared.name));
}

}  // namespace

std::string_view name_of(OnConflict policy) { return policy_names[static_cast<std::size_t>(policy)]; }
std::optional<OnConflict> on_conflict_from(std::string_view name) { return look_up<OnConflict>(policy_names, name); }

std::string_view name_of(FieldType type) { return type_names[static_cast<std::size_t>(type)]; }
std::optional<FieldType> field_type_from(std::string_view name) { return look_up<FieldType>(type_names, name); }

std::string_view name_of(Sensitivity sensitivity) { return sensitivity_names[static_cast<std::size_t>(sensitivity)]; }
std::optional<Sensitivity> sensitivity_from(std::string_view name) {
  const auto found = look_up<Sensitivity>(sensitivity_names, name);
  return found == Sensitivity::none ? std::nullopt : found;
}

Value FieldRule::with_text_rules(Value value) const {
  auto* text = value.get_if<std::string>();
  if (text == nullptr || !(trim || nfc) || !is_utf8(*text)) return value;
  if (trim) *text = std::string(trimmed(*text));
  if (nfc) *text = to_nfc(*text);
  return value;
}

bool FieldRule::is_state(const Value& value) const {
  const auto* text = value.get_if<std::string>();
  if (text == nullptr) return false;
  return std::any_of(transitions.begin(), transitions.end(), [&](const auto& step) {
    return step.first == *text || std::find(step.second.begin(), step.second.end(), *text) != step.second.end();
  });
}

Result<DeclaredRule> rule_named(std::string_view path_or_pattern) {
  if (path_or_pattern.size() > limits::path_bytes_max) {
    return fail(Fault::bad_config, fmt::format("a path of {} bytes; at most {} are allowed", path_or_pattern.size(),
                                               limits::path_bytes_max));
  }
  auto pattern = Pattern::for_paths(path_or_pattern);
  if (!pattern) return tl::unexpected(pattern.error());
  DeclaredRule declared;
  declared.name = spelled(pattern->parts());
  const auto& parts = pattern->parts();
  if (parts.size() > limits::path_segments_max) {
    return fail(Fault::bad_config,
                fmt::format("{} segments; at most {} are allowed", parts.size(), limits::path_segments_max));
  }
  if (std::any_of(parts.begin(), parts.end(), is_wild)) {
    if (parts.front().starts_with('$'))
      return fail(Fault::bad_config, "paths that begin with $ have rules of their own");
    declared.pattern = std::move(*pattern);
    return declared;
  }
  auto path = Path::from_segments(parts);
  if (!path) return tl::unexpected(path.error());
  if (path->is_reserved()) return fail(Fault::bad_config, "paths that begin with $ have rules of their own");
  declared.path = std::move(*path);
  return declared;
}

void Schema::declare(const Path& path, FieldRule rule) { take({path.text(), path, std::nullopt, std::move(rule)}); }

void Schema::add(const SchemaDocument& document) {
  if (!strict_) strict_ = document.strict;
  for (const DeclaredRule& declared : document.rules) take(declared);
}

void Schema::take(DeclaredRule declared) {
  const std::size_t place = rules_.size();
  if (!names_.emplace(declared.name, place).second) return;
  has_sensitive_ = has_sensitive_ || declared.rule.sensitivity != Sensitivity::none;
  if (declared.path) paths_.emplace(*declared.path, place);
  rules_.push_back(std::move(declared));
  if (rules_.back().path) return;
  patterns_.push_back(place);
  std::sort(patterns_.begin(), patterns_.end(),
            [&](std::size_t a, std::size_t b) { return rank_of(rules_[a]) < rank_of(rules_[b]); });
}

const DeclaredRule* Schema::find(const Path& path) const {
  if (rules_.empty()) return nullptr;
  if (const auto at = paths_.find(path); at != paths_.end()) return &rules_[at->second];
  if (patterns_.empty() || path.is_reserved()) return nullptr;
  const auto segments = path.segments();
  const auto at = std::find_if(patterns_.begin(), patterns_.end(),
                               [&](std::size_t place) { return rules_[place].pattern->matches(segments); });
  return at == patterns_.end() ? nullptr : &rules_[*at];
}

const FieldRule& Schema::rule(const Path& path) const {
  static const FieldRule nothing_declared;
  const DeclaredRule* found = find(path);
  return found == nullptr ? nothing_declared : found->rule;
}

}  // namespace tafel
