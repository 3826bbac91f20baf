#include "demo/dialogues.hpp"

#include <fmt/format.h>

#include <fstream>
#include <set>

#include "common/codec/json.hpp"
#include "common/model/names.hpp"

namespace tafel::demo {
namespace {

tl::unexpected<Failure> bad(std::string message) { return fail(Fault::bad_bytes, std::move(message)); }

std::string text_of(const Value* value) {
  const auto* text = value == nullptr ? nullptr : value->get_if<std::string>();
  return text == nullptr ? std::string() : *text;
}

const List& list_of(const Value* value) {
  static const List none;
  const auto* list = value == nullptr ? nullptr : value->get_if<List>();
  return list == nullptr ? none : *list;
}

std::vector<Act> acts_of(const Value& message) {
  std::vector<Act> acts;
  for (const Value& item : list_of(message.find("dialog_act"))) {
    const List& parts = list_of(&item);
    if (parts.size() == 4)
      acts.push_back({text_of(&parts[0]), text_of(&parts[1]), text_of(&parts[2]), text_of(&parts[3])});
  }
  return acts;
}

std::vector<Goal> goals_of(const Value& message) {
  std::vector<Goal> goals;
  for (const Value& item : list_of(message.find("user_state"))) {
    const List& parts = list_of(&item);
    if (parts.size() != 5) continue;
    goals.push_back({text_of(&parts[1]), text_of(&parts[2]), text_of(&parts[3]), parts[4] == Value(true)});
  }
  return goals;
}

// Why a record cannot be written to a board: every domain and slot becomes a segment of a path.
std::optional<std::string> record_defect(const Value& record) {
  const auto* domains = record.get_if<Map>();
  if (domains == nullptr) return "\"sys_state\" must be a map of domains";
  for (const auto& [domain, slots] : *domains) {
    const auto* map = slots.get_if<Map>();
    if (map == nullptr) return fmt::format("\"sys_state\": \"{}\" must be a map of slots", domain);
    if (const auto defect = segment_defect(domain)) return fmt::format("\"sys_state\": {}", *defect);
    for (const auto& [slot, value] : *map) {
      if (const auto defect = segment_defect(slot)) return fmt::format("\"sys_state\", \"{}\": {}", domain, *defect);
      const bool is_list = slot == results_slot;
      if (is_list ? value.get_if<List>() == nullptr : value.get_if<std::string>() == nullptr) {
        return fmt::format("\"sys_state\": {}, {} must be {}", domain, slot, is_list ? "a list" : "text");
      }
    }
  }
  return std::nullopt;
}

void begin_turn(Dialogue& dialogue, const Value& message) {
  Turn turn;
  if (!dialogue.turns.empty()) turn.record = dialogue.turns.back().record;
  turn.user = text_of(message.find("content"));
  turn.user_acts = acts_of(message);
  turn.goals = goals_of(message);
  dialogue.turns.push_back(std::move(turn));
}

Result<void> add_reply(Dialogue& dialogue, const Value& message) {
  if (dialogue.turns.empty()) return bad("the first message must be one of the user (\"role\": \"usr\")");
  Turn& turn = dialogue.turns.back();
  if (!turn.system.empty()) turn.system += "\n";
  turn.system += text_of(message.find("content"));
  for (Act& act : acts_of(message)) turn.system_acts.push_back(std::move(act));
  const Value* record = message.find("sys_state");
  if (record == nullptr) return {};
  if (auto defect = record_defect(*record)) return bad(std::move(*defect));
  turn.record = *record;
  return {};
}

}  // namespace

Result<Dialogue> dialogue_from_json(std::string_view line) {
  const auto parsed = codec::parse_json(line);
  if (!parsed) return bad(parsed.error().message);
  Dialogue dialogue;
  dialogue.id = text_of(parsed->find("id"));
  if (auto defect = board_id_defect(dialogue.board())) return bad("\"id\": " + *defect);
  for (const Value& message : list_of(parsed->find("messages"))) {
    const std::string role = text_of(message.find("role"));
    if (role == "usr") {
      begin_turn(dialogue, message);
    } else if (role != "sys") {
      return bad(fmt::format("a message has the role \"{}\"; it must be usr or sys", role));
    } else if (auto added = add_reply(dialogue, message); !added) {
      return tl::unexpected(added.error());
    }
  }
  if (dialogue.turns.empty()) return bad("\"messages\" must hold at least one message of the user");
  return dialogue;
}

Result<std::vector<Dialogue>> read_dialogues(const std::filesystem::path& file, std::size_t limit) {
  std::ifstream in(file);
  if (!in) return fail(Fault::not_found, fmt::format("{} cannot be read", file.string()));
  std::vector<Dialogue> dialogues;
  std::set<std::string> ids;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line) && (limit == 0 || dialogues.size() < limit); ++number) {
    if (line.empty()) continue;
    auto dialogue = dialogue_from_json(line);
    if (!dialogue) return bad(fmt::format("{}:{}: {}", file.string(), number, dialogue.error().message));
    if (!ids.insert(dialogue->id).second) {
      return bad(fmt::format("{}:{}: the id \"{}\" is there already", file.string(), number, dialogue->id));
    }
    dialogues.push_back(std::move(*dialogue));
  }
  if (dialogues.empty()) return bad(fmt::format("{} holds no dialogue", file.string()));
  return dialogues;
}

}  // namespace tafel::demo
