#include "context/dialogue.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "common/codec/json.hpp"

namespace tafel::context {
namespace {

constexpr std::array<std::string_view, 3> roles{"user", "assistant", "tool"};
constexpr std::array<std::string_view, 3> kept_members{"name", "tool_call_id", "tool_calls"};

// One entry on its way into a turn.
struct Said {
  const EntryCell* entry = nullptr;
  Message message{};
  std::vector<std::string> calls{};  // ids of the tool calls that it makes
  std::string answers{};             // id of the call that it answers
  std::string defect{};              // why it can not be shown; empty: it can
};

std::string content_text(const Value* content) {
  if (content == nullptr || is_blank(*content)) return {};
  const auto* text = content->get_if<std::string>();
  return text != nullptr ? *text : codec::to_json(*content);  // content in parts, or a tool's structured answer
}

Value members_of(const Value& entry) {
  Value members;
  for (const std::string_view name : kept_members) {
    const Value* member = entry.find(name);
    if (member != nullptr && !is_blank(*member)) members.set(name, *member);
  }
  return members;
}

// The ids of the calls; nullopt when one has none, or two have the same.
std::optional<std::vector<std::string>> call_ids(const Value& calls) {
  const auto* list = calls.get_if<List>();
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> ids;
  for (const Value& call : *list) {
    const Value* id = call.find("id");
    const auto* text = id != nullptr ? id->get_if<std::string>() : nullptr;
    if (text == nullptr || std::find(ids.begin(), ids.end(), *text) != ids.end()) return std::nullopt;
    ids.push_back(*text);
  }
  return ids;
}

// Fills `calls` and `answers`, or says what is wrong with them.
std::string read_calls(Said& said) {
  if (const Value* calls = said.message.members.find("tool_calls")) {
    auto ids = call_ids(*calls);
    if (!ids || said.message.role != "assistant") return "tool calls without ids of their own, or not by the assistant";
    said.calls = std::move(*ids);
  }
  if (const Value* call = said.message.members.find("tool_call_id")) {
    const auto* id = call->get_if<std::string>();
    if (id == nullptr || said.message.role != "tool") return "a tool_call_id that is no text, or not of a tool";
    said.answers = *id;
  }
  return {};
}

Said read_entry(const EntryCell& entry) {
  Said said{&entry};
  const Value* role = entry.value.find("role");
  const auto* name = role != nullptr ? role->get_if<std::string>() : nullptr;
  if (name == nullptr || std::find(roles.begin(), roles.end(), *name) == roles.end()) {
    said.defect = "no message: it takes a map with the role user, assistant or tool";
    return said;
  }
  said.message = {*name, content_text(entry.value.find("content")), members_of(entry.value)};
  said.defect = read_calls(said);
  if (said.defect.empty() && said.calls.empty() && is_blank(said.message.content)) said.defect = "blank";
  return said;
}

using Span = std::pair<std::vector<Said>::iterator, std::vector<Said>::iterator>;

// Marks the calls of a turn that miss a reply, and the replies that have no call.
void pair_calls(Span turn) {
  std::map<std::string, Said*> open;  // call id → who called
  std::map<const Said*, std::size_t> missing;
  std::vector<std::pair<Said*, Said*>> pairs;  // reply, its caller (null: a reply without an id)
  bool assistant_spoke = false;
  for (auto said = turn.first; said != turn.second; ++said) {
    if (!said->defect.empty()) continue;
    assistant_spoke = assistant_spoke || said->message.role == "assistant";
    for (const std::string& id : said->calls) open[id] = &*said;
    if (!said->calls.empty()) missing[&*said] = said->calls.size();
    if (said->message.role != "tool") continue;
    const auto call = open.find(said->answers);
    if (call != open.end()) {
      pairs.emplace_back(&*said, call->second);
      --missing[call->second];
      open.erase(call);
    } else if (!said->answers.empty() || !assistant_spoke) {
      said->defect = "a reply without its call";
    }
  }
  for (auto said = turn.first; said != turn.second; ++said) {
    if (said->defect.empty() && missing.contains(&*said) && missing[&*said] > 0)
      said->defect = "a call without all its replies";
  }
  for (const auto& [reply, caller] : pairs) {
    if (!caller->defect.empty()) reply->defect = "a reply to a call that is left out";
  }
}

// A user message that can be shown begins a turn.
bool begins_turn(const Said& said) { return said.defect.empty() && said.message.role == "user"; }

void take_turn(Dialogue& dialogue, Span span) {
  pair_calls(span);
  Turn turn{dialogue.turns.size() + 1, {}};
  for (auto said = span.first; said != span.second; ++said) {
    if (said->defect.empty()) {
      turn.messages.push_back(std::move(said->message));
    } else {
      dialogue.unfit.push_back(
          {"entry " + mark_text(said->entry->dot.mark), std::move(said->defect), codec::to_json(said->entry->value)});
    }
  }
  if (!turn.messages.empty()) dialogue.turns.push_back(std::move(turn));
}

}  // namespace

Dialogue read_dialogue(const blackboard::FieldView& log) {
  std::vector<Said> all;
  all.reserve(log.entries.size());
  for (const EntryCell& entry : log.entries) all.push_back(read_entry(entry));
  Dialogue dialogue;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first + 1, all.end(), begins_turn);
    take_turn(dialogue, {first, last});
    first = last;
  }
  return dialogue;
}

}  // namespace tafel::context
