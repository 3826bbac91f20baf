// The outer form of requests and contexts: maps with the member names of the structs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/limits.hpp"
#include "context/context.hpp"

namespace tafel::context {
namespace {

using Defect = std::optional<std::string>;  // what would be right; nullopt: nothing is wrong

Defect read_text(const Value& value, std::string& out) {
  const auto* text = value.get_if<std::string>();
  if (text == nullptr) return "it must be text";
  out = *text;
  return std::nullopt;
}

Defect read_number(const Value& value, std::size_t least, std::size_t most, std::size_t& out) {
  const auto number = value.as_int64();
  if (!number || *number < 0 || static_cast<std::size_t>(*number) < least || static_cast<std::size_t>(*number) > most) {
    return fmt::format("it must be an integer from {} to {}", least, most);
  }
  out = static_cast<std::size_t>(*number);
  return std::nullopt;
}

Defect read_pinned(const Value& value, std::vector<std::string>& out) {
  const auto* list = value.get_if<List>();
  if (list == nullptr) return "it must be a list of dot paths";
  if (list->size() > limits::context_pinned_max) return fmt::format("at most {} paths", limits::context_pinned_max);
  for (const Value& item : *list) {
    const auto* text = item.get_if<std::string>();
    if (text == nullptr) return "it must be a list of dot paths";
    const auto path = Path::parse(*text);
    if (!path) return fmt::format("\"{}\": {}", *text, path.error().message);
    out.push_back(*text);
  }
  return std::nullopt;
}

Defect read_path(const Value& value, std::string& out) {
  if (auto defect = read_text(value, out)) return defect;
  const auto path = Path::parse(out);
  return path ? std::nullopt : Defect(path.error().message);
}

Defect read_confidence(const Value& value, Confidence& out) {
  const auto* text = value.get_if<std::string>();
  const auto confidence = text != nullptr ? confidence_from(*text) : std::nullopt;
  if (!confidence) return "it must be one of guess, inferred, stated, confirmed, verified";
  out = *confidence;
  return std::nullopt;
}

struct Member {
  std::string_view name;
  Defect (*read)(const Value& value, Request& request);
};

constexpr std::array members{
    Member{"system", [](const Value& value, Request& request) { return read_text(value, request.system); }},
    Member{"pinned", [](const Value& value, Request& request) { return read_pinned(value, request.pinned); }},
    Member{"facts_from",
           [](const Value& value, Request& request) { return read_confidence(value, request.facts_from); }},
    Member{"dialogue", [](const Value& value, Request& request) { return read_path(value, request.dialogue); }},
    Member{"turns", [](const Value& value,
                       Request& request) { return read_number(value, 0, limits::context_turns_max, request.turns); }},
    Member{"budget_tokens",
           [](const Value& value, Request& request) {
             return read_number(value, 1, limits::context_budget_tokens_max, request.budget_tokens);
           }},
    Member{"task", [](const Value& value, Request& request) { return read_text(value, request.task.emplace()); }},
};

ContextError bad_request(std::string message) { return {"bad_request", std::move(message), 0}; }

std::string member_names() {
  std::string names;
  for (const Member& member : members) names += fmt::format("{}{}", names.empty() ? "" : ", ", member.name);
  return names;
}

Value message_to_value(const Message& message) {
  Value value = message.members;
  value.set("role", message.role);
  value.set("content", message.content);
  return value;
}

Value trace_to_value(const Trace& trace) {
  List included;
  for (const std::string& name : trace.included) included.emplace_back(name);
  List omitted;
  for (const Omission& omission : trace.omitted) {
    omitted.emplace_back(
        Map{{"what", omission.what}, {"reason", omission.reason}, {"tokens", std::uint64_t{omission.tokens}}});
  }
  return Map{{"budget_tokens", std::uint64_t{trace.budget_tokens}},
             {"used_tokens", std::uint64_t{trace.used_tokens}},
             {"mandatory_tokens", std::uint64_t{trace.mandatory_tokens}},
             {"included", std::move(included)},
             {"omitted", std::move(omitted)}};
}

}  // namespace

tl::expected<Request, ContextError> request_from_value(const Value& value) {
  const auto* map = value.get_if<Map>();
  if (map == nullptr)
    return tl::unexpected(bad_request("a context request is a map with the members " + member_names()));
  Request request;
  for (const MapEntry& entry : *map) {
    const std::string& name = entry.first;  // clang 14 captures no structured binding
    const auto* const member =
        std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.name == name; });
    if (member == members.end()) {
      return tl::unexpected(bad_request(fmt::format("there is no member \"{}\"; there are {}", name, member_names())));
    }
    if (entry.second.is_nil()) continue;  // null: the default
    if (auto defect = member->read(entry.second, request))
      return tl::unexpected(bad_request(fmt::format("{}: {}", name, *defect)));
  }
  return request;
}

void pin_declared(Request& request, const Schema& schema) {
  for (const DeclaredRule& declared : schema.rules()) {
    if (request.pinned.size() >= limits::context_pinned_max) return;
    if (declared.rule.pinned && declared.path) request.pinned.push_back(declared.name);
  }
}

Value context_to_value(const Context& context) {
  List messages;
  for (const Message& message : context.messages) messages.push_back(message_to_value(message));
  return Map{{"board", context.board},
             {"base", context.base},
             {"messages", std::move(messages)},
             {"trace", trace_to_value(context.trace)}};
}

}  // namespace tafel::context
