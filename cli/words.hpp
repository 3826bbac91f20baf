// What answers say, in words for people.
#pragma once

#include <optional>
#include <string>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/model/receipt.hpp"
#include "common/model/value.hpp"

namespace tafel::cli {

// A time as ISO 8601 (UTC where it names no zone) or as milliseconds since 1970; Fault::bad_config with `name` in the
// message when it is neither.
Result<TimeMs> time_from(std::string_view text, std::string_view name);

// A value on one line, cut when it is long.
std::string short_json(const Value* value);
// "stated by planner, version 7, 2026-11-30T09:30:00.000Z, turn turn-5, evidence E-17": of a map with those members.
std::string who_said(const Value& words);
// Members of a map: empty, or 0, when they are not there.
std::string text_of(const Value& map, std::string_view member);
const List& list_of(const Value& map, std::string_view member);

// The results of a delta's ops, a line each, named by `names`; then the error, if there is one.
std::string outcome_lines(const Receipt& receipt, const std::vector<std::string>& names);
// "applied 2 ops", a line for each outcome: of ops whose names are not known here.
std::string outcome_counts(const Receipt& receipt);

}  // namespace tafel::cli
