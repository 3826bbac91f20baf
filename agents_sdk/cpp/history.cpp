#include "agents_sdk/cpp/history.hpp"

#include <algorithm>
#include <set>

#include "agents_sdk/cpp/bodies.hpp"
#include "common/base/limits.hpp"
#include "common/codec/cell_codec.hpp"

namespace tafel::sdk {
namespace {

const List& list_of(const Value& body, std::string_view member) {
  static const List none;
  const Value* found = body.find(member);
  const auto* list = found == nullptr ? nullptr : found->get_if<List>();
  return list == nullptr ? none : *list;
}

const Map& map_of(const Value& body, std::string_view member) {
  static const Map none;
  const Value* found = body.find(member);
  const auto* map = found == nullptr ? nullptr : found->get_if<Map>();
  return map == nullptr ? none : *map;
}

Said said_from(const Value& words) {
  Said said;
  if (const Value* value = words.find("value")) said.value = *value;
  said.confidence = confidence_from(text_of(words, "confidence")).value_or(Confidence::guess);
  said.version = number_of(words, "version").value_or(0);
  said.time = static_cast<TimeMs>(number_of(words, "time").value_or(0));
  said.actor = text_of(words, "actor");
  if (const Value* source = words.find("source"); source != nullptr && !source->is_nil()) {
    if (auto read = codec::source_from_map(*source)) said.source = std::move(*read);
  }
  said.id = text_of(words, "id");
  said.op = text_of(words, "op");
  return said;
}

std::vector<Said> all_said(const Value& body, std::string_view member) {
  std::vector<Said> all;
  for (const Value& words : list_of(body, member)) all.push_back(said_from(words));
  return all;
}

Parts parts_from(const Value& field, std::string_view member) {
  const Value* found = field.find(member);
  if (found == nullptr) return {};
  return {all_said(*found, "added"), all_said(*found, "removed"), all_said(*found, "changed")};
}

std::optional<Said> leaf_from(const Value& field, std::string_view member) {
  const Value* found = field.find(member);
  return found == nullptr || found->is_nil() ? std::nullopt : std::optional(said_from(*found));
}

void set_point(Value& question, const At& at, std::string_view version, std::string_view time) {
  if (at.version) question.set(version, *at.version);
  if (at.time) question.set(time, *at.time);
}

std::string cut_to(const std::string& path, std::size_t depth) {
  auto segments = Path::parse(path)->segments();
  segments.resize(std::min(segments.size(), depth));
  return Path::from_segments(segments)->text();
}

// Those that lie below no other one of them: that one speaks for all below it.
std::vector<std::string> topmost(const std::set<std::string>& paths) {
  std::vector<std::string> top;
  for (const std::string& path : paths) {
    bool is_covered = false;
    for (auto above = Path::parse(path)->parent(); above && !is_covered; above = above->parent()) {
      is_covered = paths.contains(above->text());
    }
    if (!is_covered) top.push_back(path);
  }
  return top;
}

tl::unexpected<Failure> no_answer(std::string_view what) {
  return fail(Fault::bad_bytes, "the answer to `" + std::string(what) + "` is not understood");
}

}  // namespace

Value History::question(std::string_view what, std::string_view path) const {
  Value question(Map{{"what", what}, {"board", board_}});
  if (!path.empty()) question.set("path", path);
  return question;
}

Result<std::optional<Value>> History::get(std::string_view path, const At& at) const {
  Value question = this->question("get", path);
  set_point(question, at, "at", "at_time");
  const auto answer = agent_.query(question);
  if (!answer) return tl::unexpected(answer.error());
  const Value* found = answer->find("found");
  const Value* value = answer->find("value");
  if (found == nullptr || value == nullptr) return no_answer("get");
  return *found == Value(true) ? std::optional(*value) : std::nullopt;
}

Result<std::vector<FieldBlame>> History::blame(std::string_view path, const At& at) const {
  Value question = this->question("blame", path);
  set_point(question, at, "at", "at_time");
  const auto answer = agent_.query(question);
  if (!answer) return tl::unexpected(answer.error());
  std::vector<FieldBlame> fields;
  for (const auto& [name, words] : map_of(*answer, "fields")) {
    const auto kind = kind_from(text_of(words, "kind"));
    if (!kind) return no_answer("blame");
    FieldBlame field{name, *kind, said_from(words), all_said(words, "conflicts"), all_said(words, "elements")};
    if (*kind == Kind::log) field.parts = all_said(words, "entries");
    fields.push_back(std::move(field));
  }
  return fields;
}

Result<Difference> History::diff(const At& from, const At& to, std::string_view path) const {
  Value question = this->question("diff", path);
  set_point(question, from, "from", "from_time");
  set_point(question, to, "to", "to_time");
  Difference difference;
  for (bool goes_on = true; goes_on;) {
    const auto answer = agent_.query(question);
    if (!answer) return tl::unexpected(answer.error());
    const auto first = number_of(*answer, "from");
    const auto last = number_of(*answer, "to");
    if (!first || !last) return no_answer("diff");
    difference.from = *first;
    difference.to = *last;
    for (const Value& field : list_of(*answer, "fields")) {
      difference.fields.push_back({text_of(field, "path"), leaf_from(field, "before"), leaf_from(field, "after"),
                                   parts_from(field, "elements"), parts_from(field, "entries"),
                                   parts_from(field, "suggestions")});
    }
    const std::string next = text_of(*answer, "next");
    goes_on = !next.empty();
    question = this->question("diff", path);
    question.set("from", *first).set("to", *last).set("cursor", next);
  }
  return difference;
}

Result<std::vector<std::string>> History::touched(std::string_view actor, Version since, std::string_view path) const {
  Value question = this->question("touched", path);
  question.set("actor", actor);
  std::set<std::string> paths;
  for (std::optional<Version> from = since; from;) {
    question.set("from", *from);
    const auto answer = agent_.query(question);
    if (!answer) return tl::unexpected(answer.error());
    for (const Value& text : list_of(*answer, "paths")) {
      if (const auto* name = text.get_if<std::string>()) paths.insert(*name);
    }
    from = number_of(*answer, "next");
  }
  return std::vector<std::string>(paths.begin(), paths.end());
}

Result<Version> History::head() const {
  Value question = this->question("log", {});
  question.set("to", 0);
  const auto answer = agent_.query(question);
  if (!answer) return tl::unexpected(answer.error());
  const auto version = number_of(*answer, "version");
  if (!version) return no_answer("log");
  return *version;
}

Result<DeltaBuilder> History::revert_to(Version to, std::string_view path) const {
  if (!path.empty()) {
    const auto head = this->head();
    if (!head) return tl::unexpected(head.error());
    return DeltaBuilder(*head).revert(path, to);
  }
  const auto difference = diff({.version = to});
  if (!difference) return tl::unexpected(difference.error());
  std::vector<std::string> paths;
  for (const FieldDifference& field : difference->fields) paths.push_back(field.path);
  DeltaBuilder delta(difference->to);
  for (const std::string& each : covering(paths)) delta.revert(each, to);
  return delta;
}

Result<DeltaBuilder> History::revert_actor(std::string_view actor, Version since, std::string_view path) const {
  const auto head = this->head();
  if (!head) return tl::unexpected(head.error());
  DeltaBuilder delta(*head);
  if (!path.empty()) return delta.revert_actor(path, actor, since);
  const auto paths = touched(actor, since);
  if (!paths) return tl::unexpected(paths.error());
  for (const std::string& each : covering(*paths)) delta.revert_actor(each, actor, since);
  return delta;
}

Result<std::vector<Held>> History::suggestions(std::string_view path) const {
  const auto answer = agent_.query(question("suggestions", path));
  if (!answer) return tl::unexpected(answer.error());
  std::vector<Held> all;
  for (const auto& [name, list] : map_of(*answer, "suggestions")) {
    const auto* held = list.get_if<List>();
    if (held == nullptr) return no_answer("suggestions");
    for (const Value& words : *held) all.push_back({name, said_from(words)});
  }
  return all;
}

Result<Receipt> History::accept(std::string_view path, std::string_view id,
                                std::optional<Confidence> confidence) const {
  DeltaBuilder delta;
  delta.accept(path, id);
  if (confidence) delta.confidence(*confidence);
  return agent_.apply(board_, delta);
}

Result<Receipt> History::dismiss(std::string_view path, std::string_view id) const {
  return agent_.apply(board_, DeltaBuilder().dismiss(path, id));
}

std::vector<std::string> covering(const std::vector<std::string>& paths) {
  constexpr std::size_t bytes_max = limits::request_bytes_max / 2;
  constexpr std::size_t bytes_per_op = 48;  // besides the path
  for (std::size_t depth = limits::path_segments_max;; --depth) {
    std::set<std::string> cut;
    std::size_t bytes = 0;
    for (const std::string& path : paths) {
      const auto [at, is_new] = cut.insert(cut_to(path, depth));
      if (is_new) bytes += at->size() + bytes_per_op;
    }
    if (depth == 1 || (cut.size() <= limits::delta_ops_max && bytes <= bytes_max)) return topmost(cut);
  }
}

}  // namespace tafel::sdk
