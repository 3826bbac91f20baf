// Who takes part: the roles, and which agents a team of a given size has.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tafel::demo {

inline constexpr std::size_t agents_min = 6;
inline constexpr std::size_t agents_max = 32;
inline constexpr std::size_t agents_default = 8;

enum class Role {
  coordinator,  // brings each turn to the board, moves the phase
  listener,     // what the user said, at `stated`
  recorder,     // the whole padded record, every turn, at `inferred`; repeats everything else that it saw
  collector,    // results found, added and removed one by one; figures as numbers
  chatter,      // small talk in fields and blanks, at `guess`
  specialist,   // what the system said about its domains; verifies what both sides agree on
  shortlister,  // sends the final list of everything that was mentioned
};
std::string_view name_of(Role role);

struct Member {
  std::string name;
  Role role = Role::coordinator;
  std::vector<std::string> domains;  // of a specialist
  std::size_t number = 0;            // counts the members of one role
};

// From 6 agents on: with 6 one specialist has all domains, the seventh is the shortlister, then come more specialists
// until each has one domain, then more chatters. The coordinator is the first.
std::vector<Member> make_team(std::size_t agents, const std::vector<std::string>& domains);

}  // namespace tafel::demo
