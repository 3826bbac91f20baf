#include "cli/schema_templates.hpp"

namespace tafel::cli {
namespace {

constexpr std::string_view dialogue = R"json({
  "title": "Dialogue meta-state",
  "description": "What a dialogue has settled and what it still owes: for agents that talk to one user in turns.",
  "fields": [
    {
      "path": "meta.constraints",
      "kind": "set",
      "type": "string",
      "max_length": 300,
      "label": "约束条件",
      "description": "Limits that every answer must keep to, in the user's words: \"不考虑英国\", \"at most 20 minutes on foot\"",
      "pinned": true
    },
    {
      "path": "meta.confirmed",
      "kind": "set",
      "type": "string",
      "max_length": 300,
      "label": "已确认事实",
      "description": "Facts that the user has confirmed, one sentence each",
      "pinned": true
    },
    {
      "path": "meta.pending",
      "kind": "set",
      "type": "string",
      "max_length": 300,
      "label": "待讨论话题",
      "description": "Topics that were raised and not yet settled",
      "pinned": true
    },
    {
      "path": "meta.resolved",
      "kind": "set",
      "type": "string",
      "max_length": 300,
      "label": "已解决话题",
      "description": "Topics that are settled and need not come up again"
    }
  ]
})json";

constexpr std::string_view applicant = R"json({
  "title": "Applicant profile",
  "description": "What an adviser must know of somebody who wants to study abroad.",
  "fields": [
    {
      "path": "profile.major",
      "type": "string",
      "max_length": 100,
      "required": true,
      "weight": 0.3,
      "label": "目标专业",
      "description": "The subject that the applicant wants to study, as \"计算机科学\"",
      "pinned": true
    },
    {
      "path": "profile.countries",
      "kind": "set",
      "type": "string",
      "max_length": 60,
      "required": true,
      "weight": 0.3,
      "label": "意向国家",
      "description": "Countries that the applicant considers, one element each, as \"美国\"",
      "pinned": true
    },
    {
      "path": "profile.gpa",
      "type": "number",
      "range": [0, 5],
      "required": true,
      "weight": 0.2,
      "label": "GPA 绩点",
      "description": "Grade point average, on the scale that the applicant uses (mostly to 4 or 5)"
    },
    {
      "path": "profile.budget",
      "type": "string",
      "max_length": 100,
      "required": true,
      "weight": 0.2,
      "label": "预算范围",
      "description": "What may be spent per year, with the currency, as \"30-40 万元\""
    }
  ]
})json";

}  // namespace

const std::vector<SchemaTemplate>& schema_templates() {
  static const std::vector<SchemaTemplate> all{
      {"dialogue", "meta-state of a dialogue: constraints, confirmed facts, pending and resolved topics", dialogue},
      {"applicant", "profile of an applicant: major, countries, GPA, budget, each with its weight", applicant}};
  return all;
}

}  // namespace tafel::cli
