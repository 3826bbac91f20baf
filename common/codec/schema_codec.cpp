#include "common/codec/schema_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "common/base/limits.hpp"
#include "common/base/spelling.hpp"
#include "common/base/text.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/op_codec.hpp"
#include "common/codec/rule_check.hpp"

namespace tafel::codec {
namespace {

constexpr std::int64_t ttl_ms_max = std::int64_t{1} << 53;
constexpr double weight_max = 1e6;

// Gathers defects; `in` says where the reader stands.
class Defects {
 public:
  void add(std::string_view in, std::string what) {
    if (all.size() < limits::schema_defects_max)
      all.push_back(in.empty() ? std::move(what) : fmt::format("{}: {}", in, what));
  }
  SchemaDefects all;
};

template <class Enum>
std::string names_of(std::size_t first, std::size_t end) {
  std::vector<std::string_view> names;
  for (std::size_t i = first; i < end; ++i) names.push_back(name_of(static_cast<Enum>(i)));
  return spoken_list(names);
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const auto close = close_names(name, known, 1);
  return close.empty() ? "" : fmt::format("; did you mean \"{}\"?", close.front());
}

// Reads the members of one rule. Each method reads one member and says what is wrong with it.
class RuleReader {
 public:
  RuleReader(FieldRule& rule, std::string name, Defects& defects)
      : rule_(rule), name_(std::move(name)), defects_(defects) {}

  void read(const Map& members, bool is_listed);

 private:
  using Read = void (RuleReader::*)(const Value&);
  struct Member {
    std::string_view name;
    Read read;
  };
  static const std::vector<Member>& members();

  void refuse(std::string rule, const Value& found) {
    defects_.add(fmt::format("{}.{}", name_, member_), fmt::format("must be {}, not {}", rule, brief(found)));
  }
  template <class Enum>
  std::optional<Enum> named(const Value& value, std::optional<Enum> (*from)(std::string_view),
                            const std::string& known) {
    const auto* text = value.get_if<std::string>();
    const auto found = text == nullptr ? std::nullopt : from(*text);
    if (!found) refuse("one of " + known, value);
    return found;
  }
  void flag(const Value& value, bool& target) {
    if (const auto* given = value.get_if<bool>()) {
      target = *given;
    } else {
      refuse("true or false", value);
    }
  }
  void text(const Value& value, std::string& target) {
    const auto* given = value.get_if<std::string>();
    if (given == nullptr || is_white_space(*given)) return refuse("a text that says something", value);
    target = *given;
  }
  std::optional<std::int64_t> integer(const Value& value, std::int64_t lowest, std::int64_t highest) {
    const auto given = value.as_int64();
    if (given && *given >= lowest && *given <= highest) return given;
    refuse(lowest == INT64_MIN ? "an integer (of 64 bits)" : fmt::format("an integer from {} to {}", lowest, highest),
           value);
    return std::nullopt;
  }

  void kind(const Value& value) { rule_.kind = named(value, kind_from, names_of<Kind>(0, 6)); }
  void type(const Value& value) { rule_.type = named(value, field_type_from, names_of<FieldType>(0, 8)); }
  void on_conflict(const Value& value) {
    if (const auto policy = named(value, on_conflict_from, names_of<OnConflict>(0, 4))) rule_.on_conflict = *policy;
  }
  void sensitivity(const Value& value) {
    const auto found = named(value, sensitivity_from, "personal and secret (leave it out for neither)");
    if (found) rule_.sensitivity = *found;
  }
  void allowed(const Value& value);
  void range(const Value& value);
  void transitions(const Value& value);
  void pattern(const Value& value);
  void max_length(const Value& value) {
    if (const auto length = integer(value, 1, static_cast<std::int64_t>(limits::value_bytes_max)))
      rule_.max_length = static_cast<std::uint64_t>(*length);
  }
  void keep(const Value& value) {
    if (const auto keep = integer(value, 1, 1'000'000'000)) rule_.keep = static_cast<std::uint64_t>(*keep);
  }
  void ttl(const Value& value) { rule_.ttl_ms = integer(value, 1, ttl_ms_max); }
  void floor(const Value& value) { rule_.floor = integer(value, INT64_MIN, INT64_MAX); }
  void ceil(const Value& value) { rule_.ceil = integer(value, INT64_MIN, INT64_MAX); }
  void initial(const Value& value) { rule_.initial = integer(value, INT64_MIN, INT64_MAX).value_or(0); }
  void weight(const Value& value) {
    const auto* real = value.get_if<double>();
    const auto whole = value.as_int64();
    rule_.weight = real != nullptr ? *real : static_cast<double>(whole.value_or(0));
    if (!(rule_.weight > 0 && rule_.weight <= weight_max)) refuse("a number above 0, at most 1000000", value);
  }
  void trim(const Value& value) { flag(value, rule_.trim); }
  void nfc(const Value& value) { flag(value, rule_.nfc); }
  void allow_blank(const Value& value) { flag(value, rule_.allow_blank); }
  void required(const Value& value) { flag(value, rule_.required); }
  void pinned(const Value& value) { flag(value, rule_.pinned); }
  void label(const Value& value) { text(value, rule_.label); }
  void description(const Value& value) { text(value, rule_.description); }

  FieldRule& rule_;
  std::string name_;
  std::string_view member_;
  Defects& defects_;
};

// In the order of reading: `type` before what it decides.
const std::vector<RuleReader::Member>& RuleReader::members() {
  static const std::vector<Member> all{{"kind", &RuleReader::kind},
                                       {"type", &RuleReader::type},
                                       {"enum", &RuleReader::allowed},
                                       {"range", &RuleReader::range},
                                       {"max_length", &RuleReader::max_length},
                                       {"pattern", &RuleReader::pattern},
                                       {"trim", &RuleReader::trim},
                                       {"nfc", &RuleReader::nfc},
                                       {"allow_blank", &RuleReader::allow_blank},
                                       {"on_conflict", &RuleReader::on_conflict},
                                       {"transitions", &RuleReader::transitions},
                                       {"floor", &RuleReader::floor},
                                       {"ceil", &RuleReader::ceil},
                                       {"initial", &RuleReader::initial},
                                       {"keep", &RuleReader::keep},
                                       {"ttl_ms", &RuleReader::ttl},
                                       {"ttl", &RuleReader::ttl},
                                       {"required", &RuleReader::required},
                                       {"weight", &RuleReader::weight},
                                       {"label", &RuleReader::label},
                                       {"description", &RuleReader::description},
                                       {"pinned", &RuleReader::pinned},
                                       {"sensitivity", &RuleReader::sensitivity}};
  return all;
}

void RuleReader::read(const Map& given, bool is_listed) {
  std::set<std::string, std::less<>> said;
  std::vector<std::string> known;
  for (const Member& member : members()) known.emplace_back(member.name);
  for (const auto& [key, value] : given) {
    if (is_listed && key == "path") continue;
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      std::string hint = did_you_mean(key, known);
      if (hint.empty()) hint = "; a rule may have " + spoken_list({known.begin(), known.end()});
      defects_.add(name_, fmt::format("unknown member {}{}", brief(Value(key)), hint));
    } else if (!value.is_nil()) {
      said.insert(key);
    }
  }
  const std::size_t before = defects_.all.size();
  for (const Member& member : members()) {
    if (!said.contains(member.name)) continue;
    member_ = member.name;
    (this->*member.read)(*Value(given).find(member.name));
  }
  if (defects_.all.size() > before) return;  // what does not read can not be held against the rest
  for (const RuleDefect& defect : find_rule_defects(rule_, said)) {
    defects_.add(fmt::format("{}.{}", name_, defect.member), defect.message);
  }
  complete(rule_, said);
}

void RuleReader::allowed(const Value& value) {
  const auto* list = value.get_if<List>();
  if (list == nullptr || list->empty() || list->size() > limits::schema_enum_max)
    return refuse(fmt::format("a list of 1 to {} values", limits::schema_enum_max), value);
  for (const Value& item : *list) {
    const bool is_plain = item.get_if<std::string>() != nullptr || item.get_if<bool>() != nullptr || item.is_number();
    if (!is_plain || is_blank(item)) return refuse("a list of texts, numbers and booleans that are not blank", item);
    if (std::find(rule_.allowed.begin(), rule_.allowed.end(), item) != rule_.allowed.end())
      return refuse("a list that names each value once", item);
    rule_.allowed.push_back(item);
  }
}

void RuleReader::range(const Value& value) {
  constexpr std::string_view right = "[lowest, highest], as [0, 4]; null for no bound";
  const auto* list = value.get_if<List>();
  if (list == nullptr || list->size() != 2) return refuse(std::string(right), value);
  for (const Value& bound : *list) {
    if (!bound.is_nil() && !bound.is_number()) return refuse(std::string(right), value);
  }
  if ((*list)[0].is_nil() && (*list)[1].is_nil()) return refuse(std::string(right), value);
  if (!(*list)[0].is_nil()) rule_.lowest = (*list)[0];
  if (!(*list)[1].is_nil()) rule_.highest = (*list)[1];
  if (rule_.lowest && rule_.highest && compare_numbers(*rule_.lowest, *rule_.highest) > 0)
    refuse("[lowest, highest] with the lower bound first", value);
}

void RuleReader::transitions(const Value& value) {
  constexpr std::string_view right =
      "a map of each state to the list of those that may follow it, as {\"planning\": [\"executing\"], \"executing\": "
      "[]}";
  const auto* steps = value.get_if<Map>();
  if (steps == nullptr || steps->empty()) return refuse(std::string(right), value);
  std::set<std::string_view> states;
  for (const auto& [state, next] : *steps) {
    const auto* list = next.get_if<List>();
    if (list == nullptr) return refuse(std::string(right), next);
    states.insert(state);
    std::vector<std::string> texts;
    for (const Value& target : *list) {
      const auto* text = target.get_if<std::string>();
      if (text == nullptr || is_white_space(*text)) return refuse(std::string(right), target);
      states.insert(*text);
      texts.push_back(*text);
    }
    if (is_white_space(state)) return refuse("a map whose states are no blank texts", Value(state));
    rule_.transitions.emplace(state, std::move(texts));
  }
  if (states.size() > limits::schema_enum_max)
    refuse(fmt::format("a state machine of at most {} states", limits::schema_enum_max), Value(states.size()));
}

void RuleReader::pattern(const Value& value) {
  const auto* text = value.get_if<std::string>();
  if (text == nullptr || text->empty() || text->size() > limits::schema_pattern_bytes_max)
    return refuse(fmt::format("a regular expression of 1 to {} bytes", limits::schema_pattern_bytes_max), value);
  auto regex = Regex::compile(*text);
  if (!regex)
    return refuse(fmt::format("a regular expression in RE2's syntax ({})", brief(Value(regex.error().message))), value);
  rule_.pattern = std::move(*regex);
}

// --- the document ---

class DocumentReader {
 public:
  tl::expected<SchemaDocument, SchemaDefects> read(const Value& value) {
    const auto* members = value.get_if<Map>();
    if (members == nullptr) {
      defects_.add("",
                   fmt::format("a schema is a map, as {{\"fields\": {{\"budget.max\": {{\"type\": \"number\"}}}}}}, "
                               "not {}",
                               brief(value)));
      return tl::unexpected(std::move(defects_.all));
    }
    if (const std::size_t bytes = canonical(value).size(); bytes > limits::schema_bytes_max) {
      defects_.add("", fmt::format("a schema of {} bytes; at most {} are allowed", bytes, limits::schema_bytes_max));
      return tl::unexpected(std::move(defects_.all));
    }
    for (const auto& [key, member] : *members) read_member(key, member);
    if (value.find("fields") == nullptr && document_.strict.has_value() == false)
      defects_.add("fields", R"(is missing: a map of paths to rules, as {"budget.max": {"type": "number"}})");
    if (!defects_.all.empty()) return tl::unexpected(std::move(defects_.all));
    return std::move(document_);
  }

 private:
  void read_member(const std::string& key, const Value& value) {
    if (key == "fields") return read_fields(value);
    if (key == "strict") {
      const auto* flag = value.get_if<bool>();
      if (flag == nullptr) return defects_.add(key, fmt::format("must be true or false, not {}", brief(value)));
      document_.strict = *flag;
    } else if (key == "title" || key == "description") {
      const auto* text = value.get_if<std::string>();
      if (text == nullptr) return defects_.add(key, fmt::format("must be text, not {}", brief(value)));
      (key == "title" ? document_.title : document_.description) = *text;
    } else {
      const std::vector<std::string> known{"strict", "fields", "title", "description"};
      std::string hint = did_you_mean(key, known);
      if (hint.empty()) hint = "; a schema has strict, fields, title and description";
      defects_.add("", fmt::format("unknown member {}{}", brief(Value(key)), hint));
    }
  }

  void read_fields(const Value& value) {
    const auto* map = value.get_if<Map>();
    const auto* list = value.get_if<List>();
    if (map == nullptr && list == nullptr) {
      return defects_.add("fields", fmt::format("must be a map of paths to rules, or a list of rules with a \"path\" "
                                                "each, not {}",
                                                brief(value)));
    }
    const std::size_t count = map != nullptr ? map->size() : list->size();
    if (count > limits::schema_rules_max) {
      return defects_.add(
          "fields", fmt::format("has {} rules; at most {} are allowed: a pattern like \"notes.*\" speaks of many paths",
                                count, limits::schema_rules_max));
    }
    if (map != nullptr) {
      for (const auto& [name, rule] : *map) read_rule(name, rule, false);
      std::sort(document_.rules.begin(), document_.rules.end(),
                [](const DeclaredRule& a, const DeclaredRule& b) { return a.name < b.name; });
    } else {
      for (std::size_t i = 0; i < list->size(); ++i) read_listed(i, (*list)[i]);
    }
  }

  void read_listed(std::size_t index, const Value& rule) {
    const Value* path = rule.find("path");
    const auto* name = path == nullptr ? nullptr : path->get_if<std::string>();
    if (name != nullptr) return read_rule(*name, rule, true);
    defects_.add(
        fmt::format("fields[{}]", index),
        fmt::format("must be a map with a \"path\", as {{\"path\": \"budget.max\", \"type\": \"number\"}}, not {}",
                    brief(rule)));
  }

  void read_rule(const std::string& name, const Value& value, bool is_listed) {
    auto declared = rule_named(name);
    const std::string place = brief(Value(name));
    if (!declared) return defects_.add("fields." + place, declared.error().message);
    const auto* members = value.get_if<Map>();
    if (members == nullptr) {
      return defects_.add(place,
                          fmt::format("must be a map of rules, as {{\"type\": \"number\"}}, not {}", brief(value)));
    }
    if (!names_.insert(declared->name).second) return defects_.add(place, "has two rules; it may have one");
    if (declared->pattern && ++patterns_ == limits::schema_patterns_max + 1)
      defects_.add("fields",
                   fmt::format("has more than {} patterns (paths with * or **)", limits::schema_patterns_max));
    RuleReader(declared->rule, place, defects_).read(*members, is_listed);
    if (declared->rule.required && declared->pattern)
      defects_.add(place + ".required", "only a path can be required, not a pattern: name the paths one by one");
    document_.rules.push_back(std::move(*declared));
  }

  Defects defects_;
  SchemaDocument document_;
  std::set<std::string> names_;
  std::size_t patterns_ = 0;
};

// --- writing ---

void put(Map& map, std::string_view key, Value value) { map.emplace_back(key, std::move(value)); }

Value steps_to_value(const Transitions& transitions) {
  Map map;
  for (const auto& [state, next] : transitions) put(map, state, List(next.begin(), next.end()));
  return map;
}

// A weight that is a whole number is written as one.
Value weight_to_value(double weight) {
  const auto whole = static_cast<std::int64_t>(weight);
  return static_cast<double>(whole) == weight ? Value(whole) : Value(weight);
}

bool trims_anyway(const FieldRule& rule) { return rule.type == FieldType::string; }

}  // namespace

tl::expected<SchemaDocument, SchemaDefects> schema_from_value(const Value& value) {
  return DocumentReader().read(value);
}

Value rule_to_value(const FieldRule& rule) {
  const FieldRule plain;
  Map map;
  if (rule.kind) put(map, "kind", name_of(*rule.kind));
  if (rule.type) put(map, "type", name_of(*rule.type));
  if (!rule.allowed.empty()) put(map, "enum", rule.allowed);
  if (rule.lowest || rule.highest)
    put(map, "range", List{rule.lowest.value_or(Value()), rule.highest.value_or(Value())});
  if (rule.max_length) put(map, "max_length", *rule.max_length);
  if (rule.pattern) put(map, "pattern", rule.pattern->text());
  if (rule.trim != trims_anyway(rule)) put(map, "trim", rule.trim);
  if (rule.nfc) put(map, "nfc", true);
  if (rule.allow_blank) put(map, "allow_blank", true);
  const OnConflict usual = rule.transitions.empty() ? OnConflict::keep_both : OnConflict::reject;
  if (rule.on_conflict != usual) put(map, "on_conflict", name_of(rule.on_conflict));
  if (!rule.transitions.empty()) put(map, "transitions", steps_to_value(rule.transitions));
  if (rule.floor) put(map, "floor", *rule.floor);
  if (rule.ceil) put(map, "ceil", *rule.ceil);
  if (rule.initial != 0) put(map, "initial", rule.initial);
  if (rule.keep) put(map, "keep", *rule.keep);
  if (rule.ttl_ms) put(map, "ttl_ms", *rule.ttl_ms);
  if (rule.required) put(map, "required", true);
  if (rule.weight != plain.weight) put(map, "weight", weight_to_value(rule.weight));
  if (!rule.label.empty()) put(map, "label", rule.label);
  if (!rule.description.empty()) put(map, "description", rule.description);
  if (rule.pinned) put(map, "pinned", true);
  if (rule.sensitivity != Sensitivity::none) put(map, "sensitivity", name_of(rule.sensitivity));
  return map;
}

Value schema_to_value(const Schema& schema) {
  List fields;
  for (const DeclaredRule& declared : schema.rules()) {
    Value rule = rule_to_value(declared.rule);
    rule.set("path", declared.name);
    fields.push_back(std::move(rule));
  }
  Value document{Map{}};
  document.set("fields", std::move(fields));
  document.set("strict", schema.is_strict());
  return document;
}

std::string in_one_message(const SchemaDefects& defects) {
  constexpr std::size_t longest = 480;  // what a refused op may tell (op_codec.cpp)
  std::string message = "the schema is not right: ";
  for (std::size_t i = 0; i < defects.size(); ++i) {
    const std::string next = (i == 0 ? "" : "; ") + defects[i];
    if (message.size() + next.size() > longest - 40) {
      return message + fmt::format("{}{} more", i == 0 ? "" : "; ", defects.size() - i);
    }
    message += next;
  }
  return message;
}

}  // namespace tafel::codec
