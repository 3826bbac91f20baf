#include "common/codec/rule_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/model/value_rule.hpp"

namespace tafel::codec {
namespace {

bool is_text(const FieldRule& rule) { return rule.type == FieldType::string || rule.type == FieldType::text; }
bool is_numeric(const FieldRule& rule) { return rule.type == FieldType::integer || rule.type == FieldType::number; }
bool is_extremum(const FieldRule& rule) { return rule.kind == Kind::max || rule.kind == Kind::min; }

// Checks one rule, member after member.
class RuleCheck {
 public:
  RuleCheck(const FieldRule& rule, const Said& said) : rule_(rule), said_(said) {}

  std::vector<RuleDefect> run() {
    check_type();
    check_texts();
    check_numbers();
    check_counter();
    check_states();
    check_rest();
    return std::move(defects_);
  }

 private:
  bool says(std::string_view member) const { return said_.contains(member); }
  void add(std::string_view member, std::string message) { defects_.push_back({member, std::move(message)}); }
  void needs(std::string_view member, bool is_met, std::string_view what) {
    if (says(member) && !is_met) add(member, fmt::format("needs {}", what));
  }

  void check_type() {
    if (rule_.type == FieldType::enum_ && rule_.allowed.empty() && rule_.transitions.empty())
      add("type", "\"enum\" needs a member \"enum\", the list of values");
    const bool counts = rule_.kind == Kind::counter || is_extremum(rule_);
    if (!counts) return;
    const bool fits = !rule_.type || rule_.type == FieldType::integer || (is_extremum(rule_) && is_numeric(rule_));
    if (!fits) {
      add("type", fmt::format("\"{}\" does not fit the kind \"{}\", which holds {}: leave it out", name_of(*rule_.type),
                              name_of(*rule_.kind), is_extremum(rule_) ? "a number" : "an integer"));
    }
    if (says("enum")) add("enum", fmt::format("does not fit the kind \"{}\", which counts", name_of(*rule_.kind)));
  }

  void check_texts() {
    needs("max_length", is_text(rule_), R"(the type "string" or "text")");
    needs("pattern", is_text(rule_), R"(the type "string" or "text")");
    const bool may_be_text = is_text(rule_) || rule_.type == FieldType::enum_;
    needs("trim", may_be_text, R"(the type "string", "text" or "enum")");
    needs("nfc", may_be_text, R"(the type "string", "text" or "enum")");
  }

  void check_numbers() {
    if (rule_.kind == Kind::counter && says("range")) {
      add("range", "is not for counters: they have floor and ceil");
    } else {
      needs("range", is_numeric(rule_) || is_extremum(rule_),
            R"(the type "integer" or "number", or the kind "max" or "min")");
    }
  }

  void check_counter() {
    for (const std::string_view member : {"floor", "ceil", "initial"})
      needs(member, rule_.kind == Kind::counter, R"(the kind "counter")");
    if (rule_.floor && rule_.ceil && *rule_.floor > *rule_.ceil)
      add("floor", fmt::format("is {}, above the ceil of {}", *rule_.floor, *rule_.ceil));
    if (rule_.floor && rule_.initial < *rule_.floor)
      add("initial", fmt::format("is {}{}, below the floor of {}", rule_.initial,
                                 says("initial") ? "" : " (the default)", *rule_.floor));
    if (rule_.ceil && rule_.initial > *rule_.ceil)
      add("initial", fmt::format("is {}{}, above the ceil of {}", rule_.initial,
                                 says("initial") ? "" : " (the default)", *rule_.ceil));
  }

  void check_states() {
    if (!says("transitions")) return;
    needs("transitions", !rule_.kind || rule_.kind == Kind::register_,
          R"(the kind "register", which it has if you leave it out)");
    needs("transitions", !rule_.type || is_text(rule_) || rule_.type == FieldType::enum_,
          R"(the type "enum", "string" or "text")");
    if (rule_.allowed.empty()) return;
    for (const auto& [state, next] : rule_.transitions) {
      std::vector<std::string> states = next;
      states.push_back(state);
      for (const std::string& one : states) {
        if (std::find(rule_.allowed.begin(), rule_.allowed.end(), Value(one)) != rule_.allowed.end()) continue;
        return add("transitions", fmt::format("names the state {}, which is not in \"enum\"", brief(Value(one))));
      }
    }
  }

  void check_rest() {
    if (says("enum") && defects_.empty()) check_enum();
    needs("keep", rule_.kind == Kind::log, R"(the kind "log")");
    const bool is_register = !rule_.kind || rule_.kind == Kind::register_;
    needs("on_conflict", is_register, R"(the kind "register": the other kinds have no conflicts)");
    if (says("ttl") && says("ttl_ms")) add("ttl", "is another name of ttl_ms: give one of them");
    if (says("weight") && !rule_.required) add("weight", "needs \"required\": true");
  }

  void check_enum() {
    FieldRule rest = rule_;  // the enum is held against everything else
    rest.allowed.clear();
    rest.transitions.clear();
    complete(rest, said_);
    for (const Value& value : rule_.allowed) {
      const auto found = find_violation(rest, value);
      if (found)
        return add("enum", fmt::format("names {}, which must {} ({})", brief(value), found->right, found->rule));
      if (!(rest.with_text_rules(value) == value))
        return add("enum", fmt::format("names {}, which the text rules would change", brief(value)));
    }
  }

  const FieldRule& rule_;
  const Said& said_;
  std::vector<RuleDefect> defects_;
};

}  // namespace

std::vector<RuleDefect> find_rule_defects(const FieldRule& rule, const Said& said) {
  return RuleCheck(rule, said).run();
}

void complete(FieldRule& rule, const Said& said) {
  if (!said.contains("trim")) rule.trim = rule.type == FieldType::string;
  rule.whole = rule.type == FieldType::object || rule.type == FieldType::any;
  if (rule.transitions.empty()) return;
  rule.kind = Kind::register_;
  if (!said.contains("on_conflict")) rule.on_conflict = OnConflict::reject;
}

}  // namespace tafel::codec
