// What the annotations of a turn say: the part of an agent's work that a language model would do. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "demo/dialogues.hpp"

namespace tafel::demo {

struct Fact {
  std::string domain;
  std::string slot;
  std::string value;
  friend bool operator==(const Fact&, const Fact&) = default;
};

// What the user said about fields in this turn: informs, and goals that were mentioned or changed since the turn
// before. One fact a field; several values of one act's field are joined.
std::vector<Fact> stated_by_user(const Dialogue& dialogue, std::size_t turn);

// What the system said about fields in this turn, the names of results apart.
std::vector<Fact> told_by_system(const Turn& turn);

// Results that the system spoke of by name in this turn: `value` is the name, `slot` is results_slot.
std::vector<Fact> named_by_system(const Turn& turn);

// Fields on which user and system agree at the end of this turn: the user's newest word is what the record holds.
std::vector<Fact> agreed(const Dialogue& dialogue, std::size_t turn);

// The results that the record lists for a domain, and those that it listed in the turn before and lists no more.
std::vector<std::string> listed(const Value& record, std::string_view domain);
std::vector<std::string> dropped(const Dialogue& dialogue, std::size_t turn, std::string_view domain);

// The domains that the turn is about: a word of the user or the system, or a field of the record that changed. Sorted.
std::vector<std::string> active_domains(const Dialogue& dialogue, std::size_t turn);

// Every domain of a record, of all turns of all dialogues; sorted.
std::vector<std::string> domains_of(const std::vector<Dialogue>& dialogues);

}  // namespace tafel::demo
