// What the members of one schema rule must be to each other, each of them being well-formed by itself.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/model/schema.hpp"

namespace tafel::codec {

struct RuleDefect {
  std::string_view member;
  std::string message;
};
using Said = std::set<std::string, std::less<>>;  // names of the members that the rule has

std::vector<RuleDefect> find_rule_defects(const FieldRule& rule, const Said& said);

// Fills in what follows from what was said.
void complete(FieldRule& rule, const Said& said);

}  // namespace tafel::codec
