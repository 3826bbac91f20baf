// Cells and events as samples for the tests of model and codec.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/model/cell.hpp"
#include "common/model/event.hpp"
#include "common/model/receipt.hpp"

namespace tafel::test {

inline Path path(std::string_view text) { return *Path::parse(text); }

inline Dot dot(Version version, std::uint32_t op, Confidence confidence) {
  Dot made;
  made.mark = {version, op};
  made.base = version - 1;
  made.confidence = confidence;
  made.actor = "planner";
  made.time = 1'700'000'000'000 + static_cast<TimeMs>(version);
  return made;
}

inline Dot sourced_dot(Version version) {
  Dot made = dot(version, 2, Confidence::confirmed);
  made.expires = made.time + 60'000;
  made.source = std::make_shared<const Source>(Source{"turn", "turn-5", {"E-17", "E-18"}, "t"});
  return made;
}

// One cell of each alternative, each under a key that fits it.
inline std::vector<Change> sample_changes() {
  const Value long_element = std::string(100, 'x');
  return {
      {leaf_key(path("budget.max")),
       RegisterCell{{{15000, dot(3, 0, Confidence::stated)}, {Value(1.0), sourced_dot(4)}}}},
      {leaf_key(path("visits")), CounterCell{-7, dot(5, 1, Confidence::guess)}},
      {leaf_key(path("toefl.best")), ExtremumCell{true, 104.5, dot(6, 0, Confidence::verified)}},
      {leaf_key(path("price.low")), ExtremumCell{false, std::uint64_t{UINT64_MAX}, dot(6, 1, Confidence::stated)}},
      {element_key(path("countries"), "US"),
       ElementCell{"US", {2, 0}, 1, {dot(2, 0, Confidence::verified), dot(7, 0, Confidence::stated)}}},
      {element_key(path("countries"), long_element),
       ElementCell{long_element, {8, 1}, 0, {dot(8, 1, Confidence::inferred)}}},
      {entry_key(path("dialogue"), {9, 4}),
       EntryCell{Map{{"role", "user"}, {"content", Bytes{std::string("\0\xFF", 2)}}}, dot(9, 4, Confidence::stated)}},
      {suggestion_key(path("budget.max"), {10, 0}),
       SuggestionCell{SuggestionCell::Act::set, List{Nil{}, true}, dot(10, 0, Confidence::guess)}},
      {suggestion_key(path("countries"), {11, 0}),
       SuggestionCell{SuggestionCell::Act::remove, List{"US"}, dot(11, 0, Confidence::guess)}},
      {suggestion_key(path("visa"), {12, 0}),
       SuggestionCell{SuggestionCell::Act::unset, Nil{}, dot(12, 0, Confidence::guess)}},
      {leaf_key(path(R"(odd\.name.x)")), std::nullopt},
      {element_key(path("countries"), "SG"), std::nullopt},
  };
}

inline Op op(Verb verb, std::string_view at) {
  Op made;
  made.verb = verb;
  made.path = at;
  return made;
}

inline Op value_op(Verb verb, std::string_view at, Value value) {
  Op made = op(verb, at);
  made.value = std::move(value);
  made.has_value = true;
  return made;
}

inline ErrorInfo error(ErrorCode code, std::string message) {
  ErrorInfo made;
  made.code = code;
  made.message = std::move(message);
  return made;
}

inline std::vector<Op> sample_ops() {
  std::vector<Op> ops;
  ops.push_back(value_op(Verb::set, "budget.max", 15000.0));
  ops[0].confidence = Confidence::confirmed;
  ops.push_back(op(Verb::patch, "countries"));
  ops[1].add = {"UK", 1.0};
  ops[1].remove = {"SG"};
  ops[1].reset = std::vector<Value>{"US"};
  ops.push_back(op(Verb::incr, "visits"));
  ops[2].value = 1;
  ops.push_back(op(Verb::unset, "log"));
  ops[3].entry = "9.4";
  ops.push_back(op(Verb::accept, "visa"));
  ops[4].suggestion = "12.0";
  ops.push_back(op(Verb::move, "new.place"));
  ops[5].from = R"(old\.place.~x/y)";
  ops.push_back(value_op(Verb::add_item, "queue", Map{{"a", Nil{}}}));
  ops[6].ttl_ms = 1000;
  ops[6].assert_ = true;
  ops.push_back(value_op(Verb::incr, "visits", Nil{}));
  ops.push_back(op(Verb::patch, "countries"));
  ops[8].malformed = Malformed{.is_path = true, .message = "\"path\" is wrong"};
  return ops;
}

inline std::vector<OpResult> sample_results() {
  std::vector<OpResult> results(9);
  results[0].outcome = Outcome::kept_both;
  results[0].current = Current{15000, 4, Confidence::confirmed, "critic"};
  results[1].outcome = Outcome::held;
  results[1].held = {"13.1"};
  results[1].current = Current{List{"US"}, 8, std::nullopt, std::nullopt};
  results[2].outcome = Outcome::applied;
  results[3].outcome = Outcome::unchanged;
  results[3].reason = Reason::absent;
  results[4].outcome = Outcome::applied;
  results[4].leaves = {{"visa.a", Outcome::unchanged, Reason::echo}, {"visa.b", Outcome::ignored_blank, std::nullopt}};
  results[7].outcome = Outcome::ignored_blank;
  results[8].outcome = Outcome::rejected;
  results[8].error = error(ErrorCode::bad_path, "\"path\" is wrong");
  results[8].error->op = 8;
  results[8].error->path = "countries";
  results[8].error->expected = Nil{};
  results[8].error->found = Value(1.0);
  return results;
}

inline Receipt sample_receipt() {
  Receipt receipt;
  receipt.id = "01JD";
  receipt.board = "acme/trips/42";
  receipt.epoch = "b3f1";
  receipt.version = 13;
  receipt.ops = sample_results();
  return receipt;
}

inline Event sample_event() {
  Event event;
  event.board = "acme/trips/42";
  event.version = 13;
  event.time = 1'700'000'000'013;
  event.actor = "planner";
  event.delta_id = "01JD";
  event.base = 11;
  event.atomic = false;
  event.source = {"turn", "turn-5", {"E-17"}, ""};
  event.ops = sample_ops();
  event.results = sample_results();
  for (Change& change : sample_changes()) event.changes.push_back({std::move(change), 4, 2});
  event.fields = {{*Path::parse("budget.max"), {Kind::register_, 13, 1, 0}, 4, 2},
                  {*Path::parse("visits"), {std::nullopt, 12, 0, 0}, 0, 0}};
  event.completeness = Completeness{0.75, {{*Path::parse("国家"), "意向国家"}}};
  event.payload_hash = sha256("payload");
  event.salt = "0123456789abcdef";
  event.previous_hash = sha256("previous");
  event.digest = sum_of("state");
  return event;
}

}  // namespace tafel::test
