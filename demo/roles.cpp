#include "demo/roles.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "demo/seen.hpp"
#include "demo/turn_facts.hpp"

namespace tafel::demo {
namespace {

std::string trip_path(const Fact& fact) { return path_text({"trip", fact.domain, fact.slot}); }
std::string results_path(const std::string& domain) { return path_text({"trip", domain, std::string(results_slot)}); }

std::vector<Value> values_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

Value log_entry(std::string_view role, const std::string& content, std::size_t turn) {
  return Map{{"content", content}, {"role", role}, {"turn", static_cast<std::int64_t>(turn + 1)}};
}

// --- coordinator ---------------------------------------------------------------------------------------------------

std::string_view phase_of(const Moment& moment) {
  if (moment.turn == 0) return "listening";
  return moment.turn + 1 == moment.dialogue.turns.size() ? "booking" : "planning";
}

void coordinate(const Moment& moment, sdk::DeltaBuilder& delta) {
  const Turn& turn = moment.dialogue.turns[moment.turn];
  delta.confidence(Confidence::confirmed);
  delta.append("dialogue", log_entry("user", turn.user, moment.turn));
  if (!turn.system.empty()) delta.append("dialogue", log_entry("assistant", turn.system, moment.turn));
  delta.set("phase", phase_of(moment));
  delta.incr("turns");
}

// --- listener ------------------------------------------------------------------------------------------------------

void listen(const Moment& moment, sdk::DeltaBuilder& delta) {
  delta.confidence(Confidence::stated);
  std::vector<Value> mentions;
  const auto facts = stated_by_user(moment.dialogue, moment.turn);
  for (const Fact& fact : facts) {
    delta.set(trip_path(fact), fact.value);
    mentions.emplace_back(fact.value);
  }
  if (facts.empty()) return;
  delta.add("mentions", std::move(mentions));
  delta.incr("facts.heard", static_cast<std::int64_t>(facts.size()));
}

// --- recorder ------------------------------------------------------------------------------------------------------

// Everything that stands below `trip` on the board, as nested maps of the shown values.
Value seen_trip(const blackboard::Board& seen) {
  const auto path = Path::parse("trip");
  return blackboard::value_at(seen, *path, {}).value_or(Value(Map{}));
}

// The record's word on one slot: into the whole map, or, for a list where no set stands yet, as a reset, which makes
// one.
void record_slot(const Moment& moment, const std::string& domain, const std::string& slot, const Value& value,
                 Value& slots, sdk::DeltaBuilder& delta) {
  const std::string path = path_text({"trip", domain, slot});
  if (slot != results_slot || is_blank(value) || !members_at(moment.seen, path).empty()) {
    slots.set(slot, value);
    return;
  }
  delta.reset(path, values_of(listed(moment.dialogue.turns[moment.turn].record, domain)));
}

void record(const Moment& moment, sdk::DeltaBuilder& delta) {
  delta.confidence(Confidence::inferred);
  Value whole = seen_trip(moment.seen);
  for (const auto& [domain, slots] : *moment.dialogue.turns[moment.turn].record.get_if<Map>()) {
    const Value* seen_slots = whole.find(domain);
    Value merged = seen_slots == nullptr ? Value(Map{}) : *seen_slots;
    for (const auto& [slot, value] : *slots.get_if<Map>()) record_slot(moment, domain, slot, value, merged, delta);
    whole.set(domain, std::move(merged));
  }
  delta.set("trip", std::move(whole));
  auto mentions = members_at(moment.seen, "mentions");
  if (!mentions.empty()) delta.set("mentions", List(std::move(mentions)));
  if (const RegisterCell* phase = register_at(moment.seen, "phase")) delta.set("phase", shown_sibling(*phase).value);
}

// --- collector -----------------------------------------------------------------------------------------------------

// The figure that a text begins with: "4.1分" → 4.1, "89元" → 89. Not of dates, numbers of telephones and the like.
std::optional<Value> figure_in(const std::string& text) {
  constexpr std::size_t digits_max = 6;
  const std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
  if (length == 0 || length > digits_max || length == text.size() || text[0] == '.') return std::nullopt;
  if (text[length] == '-' || text[length] == ':' || text[length] == '/') return std::nullopt;
  const std::string figure = text.substr(0, length);
  if (std::count(figure.begin(), figure.end(), '.') > 1) return std::nullopt;
  if (figure.find('.') != std::string::npos) return Value(std::strtod(figure.c_str(), nullptr));
  return Value(static_cast<std::int64_t>(std::strtoll(figure.c_str(), nullptr, 10)));
}

void collect(const Moment& moment, sdk::DeltaBuilder& delta) {
  delta.confidence(Confidence::inferred);
  const Turn& turn = moment.dialogue.turns[moment.turn];
  const auto named = named_by_system(turn);
  for (const std::string& domain : active_domains(moment.dialogue, moment.turn)) {
    std::vector<Value> found;
    for (const Fact& fact : named) {
      if (fact.domain == domain) found.emplace_back(fact.value);
    }
    auto gone = values_of(dropped(moment.dialogue, moment.turn, domain));
    std::erase_if(gone, [&](const Value& name) { return std::find(found.begin(), found.end(), name) != found.end(); });
    if (!found.empty()) delta.add(results_path(domain), std::move(found));
    if (!gone.empty()) delta.remove(results_path(domain), std::move(gone));
  }
  std::vector<Value> mentions;
  for (const Fact& fact : named) mentions.emplace_back(fact.value);
  if (!mentions.empty()) delta.add("mentions", std::move(mentions));
  for (const Fact& fact : told_by_system(turn)) {
    if (auto figure = figure_in(fact.value)) delta.set(trip_path(fact), std::move(*figure));
  }
}

// --- chatter -------------------------------------------------------------------------------------------------------

// The user's own small talk, if it is such, else some other.
std::string small_talk(const Member& member, const Moment& moment) {
  static const std::vector<std::string> chinese{"随便看看吧", "都可以", "看着办吧"};
  static const std::vector<std::string> english{"just looking around", "anything is fine", "whatever you think"};
  const std::string& text = moment.dialogue.turns[moment.turn].user;
  const bool is_ascii =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const auto& phrases = is_ascii ? english : chinese;
  for (const std::string& phrase : phrases) {
    if (text.find(phrase) != std::string::npos) return phrase;
  }
  return phrases[((moment.turn + 1) / 2 + member.number) % phrases.size()];
}

// The slot of a domain that small talk goes to: one that has a value, if there is one; at best one that the user named.
std::optional<std::string> talked_of(const Moment& moment, const std::string& domain, const Map& slots,
                                     std::size_t shift) {
  std::vector<std::string> filled;
  std::vector<std::string> all;
  for (const auto& [slot, value] : slots) {
    if (slot == results_slot) continue;
    all.push_back(slot);
    if (register_at(moment.seen, path_text({"trip", domain, slot})) != nullptr) filled.push_back(slot);
  }
  for (const std::string& slot : filled) {
    if (moment.dialogue.turns[moment.turn].user.find(slot) != std::string::npos) return slot;
  }
  const auto& choice = filled.empty() ? all : filled;
  if (choice.empty()) return std::nullopt;
  return choice[(moment.turn + shift) % choice.size()];
}

// Blanks of every sort for all slots but one.
Value padding(const Map& slots, const std::optional<std::string>& spared) {
  static const std::vector<Value> blanks{"", Value(), "  ", List{}};
  Value padded{Map{}};
  std::size_t count = 0;
  for (const auto& [slot, value] : slots) {
    if (slot != spared) padded.set(slot, blanks[count++ % blanks.size()]);
  }
  return padded;
}

void chat(const Member& member, const Moment& moment, sdk::DeltaBuilder& delta) {
  delta.confidence(Confidence::guess);
  const std::string talk = small_talk(member, moment);
  const Value& record = moment.dialogue.turns[moment.turn].record;
  for (const std::string& domain : active_domains(moment.dialogue, moment.turn)) {
    const Map& slots = *record.find(domain)->get_if<Map>();
    const auto slot = talked_of(moment, domain, slots, member.number);
    delta.set(path_text({"trip", domain}), padding(slots, slot));
    if (slot) delta.set(path_text({"trip", domain, *slot}), talk);
    const auto results = members_at(moment.seen, results_path(domain));
    if (!results.empty()) delta.remove(results_path(domain), {results.front()});
  }
  delta.set("phase", talk);
}

// --- specialist ----------------------------------------------------------------------------------------------------

// How sure to be of a fact that both sides agree on: confirmed at first, verified when that stands already or when it
// corrects what was verified. nullopt: it is verified.
std::optional<Confidence> next_confidence(const RegisterCell* seen, const Value& value) {
  if (seen == nullptr) return Confidence::confirmed;
  const Sibling& shown = shown_sibling(*seen);
  if (shown.dot.confidence < Confidence::confirmed) return Confidence::confirmed;
  const bool is_settled =
      shown.value == value && shown.dot.confidence == Confidence::verified && seen->siblings.size() == 1;
  return is_settled ? std::nullopt : std::optional(Confidence::verified);
}

// Of values that stand side by side the one in words wins, at the confidence that they have.
void resolve(const Path& path, const RegisterCell& cell, sdk::DeltaBuilder& delta) {
  const Sibling* chosen = &shown_sibling(cell);
  for (const Sibling& sibling : cell.siblings) {
    if (sibling.value.get_if<std::string>() != nullptr) chosen = &sibling;
  }
  delta.set(path.text(), chosen->value).op_confidence(chosen->dot.confidence);
}

void specialise(const Member& member, const Moment& moment, sdk::DeltaBuilder& delta) {
  delta.confidence(Confidence::inferred);
  const auto is_mine = [&](const std::string& domain) {
    return std::find(member.domains.begin(), member.domains.end(), domain) != member.domains.end();
  };
  std::set<std::string> spoken;
  for (const Fact& fact : agreed(moment.dialogue, moment.turn)) {
    const std::string path = trip_path(fact);
    if (!is_mine(fact.domain) || !spoken.insert(path).second) continue;
    const auto confidence = next_confidence(register_at(moment.seen, path), fact.value);
    if (confidence) delta.set(path, fact.value).op_confidence(*confidence);
  }
  for (const Fact& fact : told_by_system(moment.dialogue.turns[moment.turn])) {
    if (is_mine(fact.domain) && spoken.insert(trip_path(fact)).second) delta.set(trip_path(fact), fact.value);
  }
  for (const auto& [key, cell] : moment.seen.cells()) {
    const auto* seen = std::get_if<RegisterCell>(&cell);
    if (seen == nullptr || seen->siblings.size() < 2 || key.path.depth() != 3) continue;
    const auto segments = key.path.segments();
    if (is_mine(segments[1]) && spoken.insert(key.path.text()).second) resolve(key.path, *seen, delta);
  }
}

// --- shortlister ---------------------------------------------------------------------------------------------------

// The list as it should be: what was there and was not dropped from the record, then what the record lists now.
void shortlist(const Moment& moment, sdk::DeltaBuilder& delta) {
  delta.confidence(Confidence::inferred);
  const auto seen = members_at(moment.seen, "mentions");
  List final_list = seen;
  const Value& record = moment.dialogue.turns[moment.turn].record;
  for (const auto& [domain, slots] : *record.get_if<Map>()) {
    for (const std::string& name : dropped(moment.dialogue, moment.turn, domain)) {
      std::erase_if(final_list, [&](const Value& value) { return value == Value(name); });
    }
  }
  for (const auto& [domain, slots] : *record.get_if<Map>()) {
    for (const std::string& name : listed(record, domain)) {
      if (std::find(final_list.begin(), final_list.end(), Value(name)) == final_list.end())
        final_list.emplace_back(name);
    }
  }
  if (final_list.empty()) return;
  if (seen.empty()) {
    delta.reset("mentions", std::move(final_list));
  } else {
    delta.set("mentions", std::move(final_list));
  }
}

}  // namespace

void speak(const Member& member, const Moment& moment, sdk::DeltaBuilder& delta) {
  switch (member.role) {
    case Role::coordinator: coordinate(moment, delta); return;
    case Role::listener: listen(moment, delta); break;
    case Role::recorder: record(moment, delta); break;
    case Role::collector: collect(moment, delta); break;
    case Role::chatter: chat(member, moment, delta); break;
    case Role::specialist: specialise(member, moment, delta); break;
    case Role::shortlister: shortlist(moment, delta); break;
  }
  delta.incr("work.done");
}

void close_board(sdk::DeltaBuilder& delta) { delta.confidence(Confidence::confirmed).set("phase", phase_closed); }

}  // namespace tafel::demo
