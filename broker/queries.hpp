// The questions of the query endpoint, each as a function of one snapshot. No session, no socket: query_service.hpp
// lists what they are and what they answer.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "blackboard/store/store.hpp"
#include "common/model/receipt.hpp"
#include "common/model/rights.hpp"

namespace tafel::broker {

// A question whose form is right: every member has its type, none is unknown, and those that `what` needs are there.
struct Question {
  std::string what;
  std::string board;
  std::optional<Path> path;
  std::optional<Version> at;
  std::optional<Version> from;
  std::optional<Version> to;
  std::optional<std::uint64_t> count;
  std::string after;
  std::string cursor;
  bool detail = false;
  Value request;
};

// The error says what would be right.
tl::expected<Question, ErrorInfo> question_from_value(const Value& body);

// Who asks, and when.
struct Asker {
  std::string actor;
  const RoleTable& roles;
  TimeMs now = 0;

  Rights rights_on(const std::string& board) const { return roles.rights_of(actor, board); }
};

// The body of an answer, encoded.
using Answer = tl::expected<std::string, ErrorInfo>;

// get, full, cells, log, context, schema, boards.
Answer answer_from_store(store::Store& store, const Question& question, const Asker& asker);

// What `verify` answers for a report.
std::string verify_answer(const store::VerifyReport& report);

// The error by which a failing read is told.
ErrorInfo error_of(const Failure& failure);
ErrorInfo error_of(ErrorCode code, std::string message);

}  // namespace tafel::broker
