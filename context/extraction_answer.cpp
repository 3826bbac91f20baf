// What a model's answer says, as ops; and what is wrong with it, in words that it can act on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "common/base/limits.hpp"
#include "common/base/spelling.hpp"
#include "common/base/text.hpp"
#include "common/codec/json.hpp"
#include "common/model/value_rule.hpp"
#include "context/extraction.hpp"

namespace tafel::context {
namespace {

constexpr std::array<std::string_view, 3> answer_members{"fields", "others", "unset"};
constexpr std::array<std::string_view, 5> wrappers{"arguments", "input", "parameters", "function", "tool_calls"};
constexpr std::size_t unwrapped_max = 5;
constexpr std::size_t spare_source_bytes = 200;  // for what encloses the texts of a source

bool is_member(std::string_view name) {
  return std::find(answer_members.begin(), answer_members.end(), name) != answer_members.end();
}

// The end of the object that begins at `begin`: behind its closing brace, where there is one.
std::optional<std::size_t> end_of_object(std::string_view text, std::size_t begin) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (in_text) {
      if (c == '\\') ++at;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return at + 1;
    }
  }
  return std::nullopt;
}

bool is_answer(const Value& object) {
  const auto has = [&](std::string_view name) { return object.find(name) != nullptr; };
  return std::any_of(answer_members.begin(), answer_members.end(), has) ||
         std::any_of(wrappers.begin(), wrappers.end(), has);
}

// The first object in the text that is JSON, rather one that looks like an answer; else why the first is not JSON.
tl::expected<Value, std::string> find_json(std::string_view text) {
  std::string defect = "there is no JSON object in it";
  std::optional<Value> other;
  bool is_first = true;
  for (std::size_t begin = text.find('{'); begin != std::string_view::npos;) {
    const auto end = end_of_object(text, begin);
    const auto object = text.substr(begin, end.value_or(text.size()) - begin);
    auto parsed = codec::parse_json(object);
    if (parsed && is_answer(*parsed)) return std::move(*parsed);
    if (parsed && !other) other = std::move(*parsed);
    if (std::exchange(is_first, false) && !parsed)
      defect =
          end ? parsed.error().message : "its JSON object does not end: the answer was cut off, or a brace is missing";
    if (!end) break;  // what is nested in an unfinished object is no answer
    begin = text.find('{', *end);
  }
  if (other) return std::move(*other);
  return tl::unexpected(std::move(defect));
}

// The arguments inside what a provider puts around them.
tl::expected<Value, std::string> unwrap(Value value) {
  for (std::size_t i = 0; i < unwrapped_max; ++i) {
    if (const auto* list = value.get_if<List>(); list != nullptr && list->size() == 1) value = Value(list->front());
    if (std::any_of(answer_members.begin(), answer_members.end(),
                    [&](std::string_view name) { return value.find(name) != nullptr; }))
      return value;
    const auto wrapper = std::find_if(wrappers.begin(), wrappers.end(),
                                      [&](std::string_view name) { return value.find(name) != nullptr; });
    if (wrapper == wrappers.end()) return value;
    Value inner = *value.find(*wrapper);
    if (const auto* text = inner.get_if<std::string>()) {
      auto parsed = find_json(*text);
      if (!parsed) return tl::unexpected(fmt::format("\"{}\": {}", *wrapper, parsed.error()));
      inner = std::move(*parsed);
    }
    value = std::move(inner);
  }
  return value;
}

class AnswerReader {
 public:
  explicit AnswerReader(const Schema& schema) : schema_(schema) {}

  tl::expected<Extraction, ExtractionDefects> read(const Value& answer) {
    const auto* map = answer.get_if<Map>();
    if (map == nullptr) {
      refuse("", fmt::format("the answer must be an object with \"fields\" and \"unset\", not {}", brief(answer)));
    } else {
      for (const auto& [key, value] : *map) {
        if (!is_member(key))
          refuse("", fmt::format("unknown member {}; the answer has fields, others and unset", brief(Value(key))));
      }
      if (const Value* unset = given(answer, "unset")) read_unset(*unset);
      if (const Value* fields = given(answer, "fields")) read_fields(*fields);
      if (const Value* others = given(answer, "others")) read_others(*others);
    }
    if (!defects_.empty()) return tl::unexpected(std::move(defects_));
    return std::move(extraction_);
  }

 private:
  static const Value* given(const Value& map, std::string_view name) {
    const Value* found = map.find(name);
    return found == nullptr || found->is_nil() ? nullptr : found;
  }
  void refuse(std::string_view place, std::string what) {
    if (defects_.size() < limits::schema_defects_max)
      defects_.push_back(place.empty() ? std::move(what) : fmt::format("{}: {}", place, what));
  }

  void read_fields(const Value& fields) {
    const auto* map = fields.get_if<Map>();
    if (map == nullptr)
      return refuse("fields", fmt::format("must be an object whose keys are dot paths, not {}", brief(fields)));
    for (const auto& [path, field] : *map) {
      if (!field.is_nil()) read_field(path, field, false);
    }
  }

  void read_others(const Value& others) {
    const auto* list = others.get_if<List>();
    if (list == nullptr) return refuse("others", fmt::format("must be a list of fields, not {}", brief(others)));
    for (const Value& field : *list) {
      const Value* path = given(field, "path");
      const auto* text = path == nullptr ? nullptr : path->get_if<std::string>();
      if (text == nullptr) {
        refuse("others", fmt::format("each needs \"path\", a dot path, unlike {}", brief(field)));
      } else {
        read_field(*text, field, true);
      }
    }
  }

  void read_unset(const Value& unset) {
    const auto* list = unset.get_if<List>();
    if (list == nullptr) return refuse("unset", fmt::format("must be a list of dot paths, not {}", brief(unset)));
    for (const Value& item : *list) {
      const auto* text = item.get_if<std::string>();
      if (text == nullptr) {
        refuse("unset", fmt::format("must be a list of dot paths, not of {}", brief(item)));
      } else if (rule_of("unset", *text) != nullptr) {
        add_op(Verb::unset, *text);
      }
    }
  }

  // The rule of a path that the schema declares; null, with a defect, where it does not.
  const FieldRule* rule_of(std::string_view place, const std::string& text) {
    const auto path = Path::parse(text);
    if (!path) {
      refuse(place, fmt::format("{} is no dot path: {}", brief(Value(text)), path.error().message));
      return nullptr;
    }
    const DeclaredRule* declared = schema_.find(*path);
    if (declared != nullptr && declared->rule.kind != Kind::counter) return &declared->rule;
    std::vector<std::string> known;
    for (const DeclaredRule& rule : schema_.rules()) {
      if (rule.rule.kind != Kind::counter) known.push_back(rule.name);
    }
    const auto close = close_names(text, known, 1);
    refuse(place, fmt::format("there is no field {}{}", brief(Value(text)),
                              close.empty() ? "" : fmt::format("; did you mean \"{}\"?", close.front())));
    return nullptr;
  }

  void read_field(const std::string& path, const Value& field, bool has_path) {
    const FieldRule* rule = rule_of("fields", path);
    if (rule == nullptr) return;
    const auto* map = field.get_if<Map>();
    if (map == nullptr) {
      return refuse(path,
                    fmt::format("must be an object with intent, value and confidence, as {{\"intent\": \"OVERWRITE\", "
                                "\"value\": …, \"confidence\": \"stated\"}}, or null, not {}",
                                brief(field)));
    }
    for (const auto& [key, value] : *map) {
      if (key != "intent" && key != "value" && key != "confidence" && !(has_path && key == "path"))
        refuse(path, fmt::format("unknown member {}; a field has intent, value and confidence", brief(Value(key))));
    }
    const Value* intent = given(field, "intent");
    const auto confidence = read_confidence(path, given(field, "confidence"));
    const Value value = given(field, "value") == nullptr ? Value() : *field.find("value");
    const std::size_t ops = extraction_.ops.size();
    if (intent != nullptr && *intent == Value("IGNORE")) {
      note(path, *rule, value);
    } else if (intent != nullptr && *intent == Value("OVERWRITE")) {
      overwrite(path, *rule, value);
    } else if (intent != nullptr && *intent == Value("APPEND")) {
      append(path, *rule, value);
    } else {
      refuse(path, fmt::format("\"intent\" must be OVERWRITE, APPEND or IGNORE, not {}",
                               intent == nullptr ? "missing" : brief(*intent)));
    }
    if (extraction_.ops.size() > ops) extraction_.ops.back().confidence = confidence;
  }

  std::optional<Confidence> read_confidence(const std::string& path, const Value* given_one) {
    if (given_one == nullptr) return std::nullopt;
    const auto* name = given_one->get_if<std::string>();
    const auto confidence = name == nullptr ? std::nullopt : confidence_from(*name);
    if (!confidence || *confidence > Confidence::confirmed)
      refuse(path, fmt::format("\"confidence\" must be guess, inferred, stated, confirmed or null, not {}",
                               brief(*given_one)));
    return confidence;
  }

  // A value as the rule wants it. Of an object, which strict modes can not describe, the JSON text.
  Value decoded(const FieldRule& rule, const Value& value) const {
    const auto* text = value.get_if<std::string>();
    if (text == nullptr || rule.type != FieldType::object) return rule.with_text_rules(value);
    auto parsed = find_json(*text);
    return parsed ? std::move(*parsed) : value;
  }

  // Refuses what the board would refuse, while the model can still correct it.
  bool fits(const std::string& path, const FieldRule& rule, const Value& value) {
    if (is_blank(value)) return true;  // the board ignores it
    const auto violation = find_violation(rule, value);
    if (violation)
      refuse(path, fmt::format("\"value\" must {} ({}), found {}", violation->right, violation->rule, brief(value)));
    return !violation;
  }

  std::optional<List> elements(const std::string& path, const FieldRule& rule, const Value& value) {
    List items;
    const auto* list = value.get_if<List>();
    if (list == nullptr && !value.is_nil()) items.push_back(decoded(rule, value));  // one element without its list
    if (list != nullptr) {
      for (const Value& item : *list) items.push_back(decoded(rule, item));
    }
    bool all_fit = true;
    for (const Value& item : items) all_fit = fits(path, rule, item) && all_fit;
    if (!all_fit) return std::nullopt;
    return items;
  }

  void overwrite(const std::string& path, const FieldRule& rule, const Value& value) {
    if (rule.kind == Kind::log) return refuse(path, "is a log, which grows only: \"intent\" must be APPEND or IGNORE");
    if (rule.kind == Kind::set) {
      if (auto items = elements(path, rule, value)) add_op(Verb::patch, path).reset = std::move(*items);
      return;
    }
    Value right = decoded(rule, value);
    if (!fits(path, rule, right)) return;
    const Verb verb = rule.kind == Kind::max ? Verb::max : rule.kind == Kind::min ? Verb::min : Verb::set;
    add_valued(verb, path, std::move(right));
  }

  void append(const std::string& path, const FieldRule& rule, const Value& value) {
    if (rule.kind == Kind::set) {
      if (auto items = elements(path, rule, value)) add_op(Verb::patch, path).add = std::move(*items);
    } else if (rule.kind == Kind::log) {
      Value right = decoded(rule, value);
      if (fits(path, rule, right)) add_valued(Verb::append, path, std::move(right));
    } else {
      refuse(path, "holds one value, to which nothing is appended: \"intent\" must be OVERWRITE or IGNORE");
    }
  }

  // What is personal or secret is not repeated where every reader of the board sees it.
  void note(const std::string& path, const FieldRule& rule, const Value& value) {
    const bool is_plain = rule.sensitivity == Sensitivity::none && !value.is_nil();
    extraction_.ignored.push_back(fmt::format("IGNORE {}{}", path, is_plain ? ": " + brief(value) : ""));
  }

  Op& add_op(Verb verb, const std::string& path) {
    Op& op = extraction_.ops.emplace_back();
    op.verb = verb;
    op.path = path;
    return op;
  }
  void add_valued(Verb verb, const std::string& path, Value value) {
    Op& op = add_op(verb, path);
    op.value = std::move(value);
    op.has_value = true;
  }

  const Schema& schema_;
  Extraction extraction_;
  ExtractionDefects defects_;
};

}  // namespace

tl::expected<Extraction, ExtractionDefects> read_extraction(std::string_view answer, const Schema& schema) {
  if (!is_utf8(answer)) return tl::unexpected(ExtractionDefects{"the answer is not UTF-8"});
  auto json = find_json(answer);
  if (json) json = unwrap(std::move(*json));
  if (!json) return tl::unexpected(ExtractionDefects{"the answer can not be read: " + json.error()});
  return AnswerReader(schema).read(*json);
}

Delta delta_of(const Extraction& extraction, Source source) {
  std::size_t room = limits::source_bytes_max - spare_source_bytes;
  for (const std::string& text : {source.kind, source.ref, source.trace}) room -= std::min(room, text.size());
  for (const std::string& text : source.evidence) room -= std::min(room, text.size());
  for (const std::string& note : extraction.ignored) {
    if (note.size() + 8 > room) break;
    room -= note.size() + 8;
    source.evidence.push_back(note);
  }
  Delta delta;
  delta.ops = extraction.ops;
  delta.source = std::move(source);
  return delta;
}

std::string correction(const ExtractionDefects& defects) {
  std::string text = "Your answer can not be used. Correct it and answer with the whole JSON again:\n";
  for (const std::string& defect : defects) text += "- " + defect + "\n";
  return text;
}

}  // namespace tafel::context
