#include "demo/team.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tafel::demo {
namespace {

void add(std::vector<Member>& team, Role role) {
  const auto number = static_cast<std::size_t>(
      std::count_if(team.begin(), team.end(), [role](const Member& member) { return member.role == role; }));
  const std::string name = number == 0 ? std::string(name_of(role)) : fmt::format("{}-{}", name_of(role), number + 1);
  team.push_back({name, role, {}, number});
}

void share_out(std::vector<Member>& team, const std::vector<std::string>& domains) {
  std::vector<Member*> specialists;
  for (Member& member : team) {
    if (member.role == Role::specialist) specialists.push_back(&member);
  }
  for (std::size_t i = 0; i < domains.size(); ++i) specialists[i % specialists.size()]->domains.push_back(domains[i]);
}

}  // namespace

std::string_view name_of(Role role) {
  switch (role) {
    case Role::coordinator: return "coordinator";
    case Role::listener: return "listener";
    case Role::recorder: return "recorder";
    case Role::collector: return "collector";
    case Role::chatter: return "chatter";
    case Role::specialist: return "specialist";
    case Role::shortlister: return "shortlister";
  }
  return "";
}

std::vector<Member> make_team(std::size_t agents, const std::vector<std::string>& domains) {
  std::vector<Member> team;
  for (const Role role :
       {Role::coordinator, Role::listener, Role::recorder, Role::collector, Role::chatter, Role::specialist}) {
    add(team, role);
  }
  if (agents > agents_min) add(team, Role::shortlister);
  for (std::size_t specialists = 1; team.size() < agents; ++specialists) {
    add(team, specialists < domains.size() ? Role::specialist : Role::chatter);
  }
  share_out(team, domains);
  return team;
}

}  // namespace tafel::demo
