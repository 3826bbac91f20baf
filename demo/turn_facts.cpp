#include "demo/turn_facts.hpp"

#include <algorithm>
#include <set>

#include "common/model/names.hpp"

namespace tafel::demo {
namespace {

bool is_name_slot(const Act& act) { return act.slot == "名称" || act.slot == "name"; }

bool is_field(const std::string& domain, const std::string& slot, const std::string& value) {
  return !segment_defect(domain) && !segment_defect(slot) && domain != "none" && slot != "none" &&
         slot != results_slot && !is_blank(Value(value)) && !value.starts_with("id=");
}

// Adds a value; a second value of one field goes behind the first.
void join(std::vector<Fact>& facts, Fact fact) {
  for (Fact& known : facts) {
    if (known.domain != fact.domain || known.slot != fact.slot) continue;
    if (known.value != fact.value) known.value += "、" + fact.value;
    return;
  }
  facts.push_back(std::move(fact));
}

bool speaks_of(const std::vector<Fact>& facts, const Goal& goal) {
  return std::any_of(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return fact.domain == goal.domain && fact.slot == goal.slot; });
}

bool was_known(const Dialogue& dialogue, std::size_t turn, const Goal& goal) {
  if (turn == 0) return false;
  const std::vector<Goal>& before = dialogue.turns[turn - 1].goals;
  return std::any_of(before.begin(), before.end(), [&](const Goal& old) {
    return old.is_mentioned && old.domain == goal.domain && old.slot == goal.slot && old.value == goal.value;
  });
}

const Value* slot_of(const Value& record, std::string_view domain, std::string_view slot) {
  const Value* slots = record.find(domain);
  return slots == nullptr ? nullptr : slots->find(slot);
}

}  // namespace

std::vector<Fact> stated_by_user(const Dialogue& dialogue, std::size_t turn) {
  std::vector<Fact> facts;
  for (const Act& act : dialogue.turns[turn].user_acts) {
    if (act.intent == "Inform" && is_field(act.domain, act.slot, act.value))
      join(facts, {act.domain, act.slot, act.value});
  }
  std::vector<Fact> goals;
  for (const Goal& goal : dialogue.turns[turn].goals) {
    const bool is_new = goal.is_mentioned && !was_known(dialogue, turn, goal) && !speaks_of(facts, goal);
    if (is_new && is_field(goal.domain, goal.slot, goal.value)) join(goals, {goal.domain, goal.slot, goal.value});
  }
  facts.insert(facts.end(), goals.begin(), goals.end());
  return facts;
}

std::vector<Fact> told_by_system(const Turn& turn) {
  std::vector<Fact> facts;
  for (const Act& act : turn.system_acts) {
    if (act.intent != "Inform" || is_name_slot(act)) continue;
    if (is_field(act.domain, act.slot, act.value)) join(facts, {act.domain, act.slot, act.value});
  }
  return facts;
}

std::vector<Fact> named_by_system(const Turn& turn) {
  std::vector<Fact> facts;
  for (const Act& act : turn.system_acts) {
    if ((act.intent != "Inform" && act.intent != "Recommend") || !is_name_slot(act)) continue;
    const Fact fact{act.domain, std::string(results_slot), act.value};
    const bool is_known = std::find(facts.begin(), facts.end(), fact) != facts.end();
    if (!is_known && is_field(act.domain, act.slot, act.value)) facts.push_back(fact);
  }
  return facts;
}

std::vector<Fact> agreed(const Dialogue& dialogue, std::size_t turn) {
  std::vector<Fact> newest;
  for (std::size_t past = 0; past <= turn; ++past) {
    for (Fact& fact : stated_by_user(dialogue, past)) {
      std::erase_if(newest, [&](const Fact& old) { return old.domain == fact.domain && old.slot == fact.slot; });
      newest.push_back(std::move(fact));
    }
  }
  const Value& record = dialogue.turns[turn].record;
  std::erase_if(newest, [&](const Fact& fact) {
    const Value* held = slot_of(record, fact.domain, fact.slot);
    return held == nullptr || !(*held == Value(fact.value));
  });
  return newest;
}

std::vector<std::string> listed(const Value& record, std::string_view domain) {
  std::vector<std::string> names;
  const Value* results = slot_of(record, domain, results_slot);
  const auto* list = results == nullptr ? nullptr : results->get_if<List>();
  if (list == nullptr) return names;
  for (const Value& item : *list) {
    const auto* name = item.get_if<std::string>();
    if (name != nullptr && !is_blank(item) && std::find(names.begin(), names.end(), *name) == names.end())
      names.push_back(*name);
  }
  return names;
}

std::vector<std::string> dropped(const Dialogue& dialogue, std::size_t turn, std::string_view domain) {
  if (turn == 0) return {};
  const auto now = listed(dialogue.turns[turn].record, domain);
  auto gone = listed(dialogue.turns[turn - 1].record, domain);
  std::erase_if(gone, [&](const std::string& name) { return std::find(now.begin(), now.end(), name) != now.end(); });
  return gone;
}

std::vector<std::string> active_domains(const Dialogue& dialogue, std::size_t turn) {
  const Turn& now = dialogue.turns[turn];
  std::set<std::string> domains;
  for (const auto* acts : {&now.user_acts, &now.system_acts}) {
    for (const Act& act : *acts) {
      if (now.record.find(act.domain) != nullptr) domains.insert(act.domain);
    }
  }
  for (const auto& [domain, slots] : *now.record.get_if<Map>()) {
    const Value* before = turn == 0 ? nullptr : dialogue.turns[turn - 1].record.find(domain);
    if (before != nullptr && !(*before == slots)) domains.insert(domain);
  }
  return {domains.begin(), domains.end()};
}

std::vector<std::string> domains_of(const std::vector<Dialogue>& dialogues) {
  std::set<std::string> domains;
  for (const Dialogue& dialogue : dialogues) {
    for (const Turn& turn : dialogue.turns) {
      for (const auto& [domain, slots] : *turn.record.get_if<Map>()) domains.insert(domain);
    }
  }
  return {domains.begin(), domains.end()};
}

}  // namespace tafel::demo
