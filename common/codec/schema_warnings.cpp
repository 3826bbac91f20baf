// What a schema may say, but hardly means.
#include <fmt/format.h>

#include <algorithm>

#include "common/codec/schema_codec.hpp"

namespace tafel::codec {
namespace {

constexpr std::size_t levels_max = 3;  // more are hard on models, which lose their way in deep paths

std::size_t levels_of(const DeclaredRule& declared) {
  return declared.path ? declared.path->depth() : declared.pattern->parts().size();
}

const DeclaredRule* rule_above(const SchemaDocument& document, const DeclaredRule& declared) {
  if (!declared.path) return nullptr;
  const auto at = std::find_if(document.rules.begin(), document.rules.end(), [&](const DeclaredRule& other) {
    return other.path && declared.path->is_below(*other.path);
  });
  return at == document.rules.end() ? nullptr : &*at;
}

// A sensitive pattern that would speak of the path if the path had no rule of its own.
const DeclaredRule* lost_sensitivity(const SchemaDocument& document, const DeclaredRule& declared) {
  if (!declared.path || declared.rule.sensitivity != Sensitivity::none) return nullptr;
  const auto segments = declared.path->segments();
  const auto at = std::find_if(document.rules.begin(), document.rules.end(), [&](const DeclaredRule& other) {
    return other.pattern && other.rule.sensitivity != Sensitivity::none && other.pattern->matches(segments);
  });
  return at == document.rules.end() ? nullptr : &*at;
}

}  // namespace

std::vector<std::string> schema_warnings(const SchemaDocument& document) {
  std::vector<std::string> warnings;
  const auto add = [&](const DeclaredRule& declared, const std::string& what) {
    warnings.push_back(fmt::format("\"{}\" {}", declared.name, what));
  };
  for (const DeclaredRule& declared : document.rules) {
    if (const std::size_t levels = levels_of(declared); levels > levels_max)
      add(declared, fmt::format("is nested {} levels deep: models lose their way below {}", levels, levels_max));
    if (const auto* above = rule_above(document, declared))
      add(declared,
          fmt::format("can hold a value only while \"{}\" holds none: nothing lies below a value", above->name));
    if (declared.rule.required && declared.rule.label.empty())
      add(declared, "is required and has no label: its path is shown where it is missing");
    if (const auto* pattern = lost_sensitivity(document, declared))
      add(declared, fmt::format("has a rule of its own, so it is not {} as \"{}\" would make it",
                                name_of(pattern->rule.sensitivity), pattern->name));
    if (declared.rule.pinned && declared.rule.sensitivity != Sensitivity::none)
      add(declared, fmt::format("is pinned and {}: contexts of actors without that right lack it",
                                name_of(declared.rule.sensitivity)));
    if (rule_to_value(declared.rule) == Value(Map{})) add(declared, "declares nothing but that it exists");
  }
  if (document.strict.value_or(false) && document.rules.empty())
    warnings.emplace_back("strict without a field: nothing can be written but what other documents declare");
  return warnings;
}

}  // namespace tafel::codec
