// The roles file of an operator:
//
//   {"roles":  {"planner": [{"boards": "acme/**", "paths": "**", "ops": ["read", "write"], "cap": "stated"}],
//               "guest":   [{"boards": "acme/news", "paths": "headline", "ops": ["read"]}]},
//    "actors": {"planner-1": ["planner"], "*": ["guest"]}}
//
// ops are read, set, patch, incr, max, min, append, unset, accept, dismiss, revert; `write` is all of these but read.
// schema, fork, merge, erase and tag are given by name, or all by `admin`; read_personal and read_secret, besides read,
// show what a schema calls so; `*` is all. A grant without `boards` or `paths` speaks of all of them, without `cap` of
// every confidence. The actor `*` is everybody who is not named; who is named nowhere and has no `*` may do nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/model/rights.hpp"

namespace tafel::broker {

// Fault::bad_config; the message names `place` (the file) and the member that is wrong, and says what would be right.
Result<RoleTable> read_roles(std::string_view json, const std::string& place);
Result<RoleTable> load_roles(const std::filesystem::path& file);

}  // namespace tafel::broker
