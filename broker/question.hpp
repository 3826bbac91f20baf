// What a question to the query endpoint may say.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "common/base/clock.hpp"
#include "common/model/names.hpp"
#include "common/model/receipt.hpp"

namespace tafel::broker {

// A question whose form is right: every member has its type, none is unknown, and those that `what` needs are there.
struct Question {
  std::string what;
  std::string board;
  std::optional<Path> path;
  std::optional<Version> at;
  std::optional<TimeMs> at_time;
  std::optional<TimeMs> from_time;
  std::optional<TimeMs> to_time;
  std::optional<Version> before;
  std::optional<Version> from;
  std::optional<Version> to;
  std::optional<std::uint64_t> count;
  std::string actor;
  std::string after;
  std::string cursor;
  bool detail = false;
  bool deleted = false;  // of `boards`: those that were deleted, in place of the others
  Value request;
};

// The error says what would be right.
tl::expected<Question, ErrorInfo> question_from_value(const Value& body);

}  // namespace tafel::broker
