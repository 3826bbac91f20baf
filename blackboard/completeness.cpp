#include "blackboard/completeness.hpp"

#include <algorithm>
#include <cmath>

namespace tafel::blackboard {
namespace {

constexpr double precision = 1e6;  // the score is rounded, so that it is the same number everywhere

}  // namespace

std::vector<RequiredField> required_fields(const Schema& schema) {
  std::vector<RequiredField> required;
  for (const DeclaredRule& declared : schema.rules()) {
    if (!declared.rule.required || !declared.path) continue;
    const std::string& label = declared.rule.label;
    required.push_back({*declared.path, label.empty() ? declared.name : label, declared.rule.weight});
  }
  return required;
}

Completeness completeness(const std::vector<RequiredField>& required, const std::vector<bool>& held) {
  Completeness result;
  double all = 0;
  double there = 0;
  for (std::size_t i = 0; i < required.size(); ++i) {
    all += required[i].weight;
    if (held[i]) {
      there += required[i].weight;
    } else {
      result.missing.push_back({required[i].path, required[i].label});
    }
  }
  if (result.missing.empty()) return result;
  result.score = std::round(there / all * precision) / precision;
  return result;
}

Completeness completeness(const Board& board, const std::vector<RequiredField>& required, const Reader& reader) {
  std::vector<bool> held;
  for (const RequiredField& field : required) {
    const auto views = fields(board, field.path, reader);
    held.push_back(
        std::any_of(views.begin(), views.end(), [](const FieldView& view) { return !is_blank(view.value); }));
  }
  return completeness(required, held);
}

}  // namespace tafel::blackboard
