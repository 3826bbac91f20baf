// The questions of the query endpoint, each as a function of one snapshot. No session, no socket: query_service.hpp
// lists what they are and what they answer.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "blackboard/store/store.hpp"
#include "broker/question.hpp"
#include "common/model/receipt.hpp"
#include "common/model/rights.hpp"

namespace tafel::broker {

// Who asks, and when.
struct Asker {
  std::string actor;
  const RoleTable& roles;
  TimeMs now = 0;

  Rights rights_on(const std::string& board) const { return roles.rights_of(actor, board); }
};

// The body of an answer, encoded.
using Answer = tl::expected<std::string, ErrorInfo>;

// All questions but `verify` and `stat`.
Answer answer_from_store(store::Store& store, const Question& question, const Asker& asker);

// What `verify` answers for a report.
std::string verify_answer(const store::VerifyReport& report);

// The error by which a failing read is told.
ErrorInfo error_of(const Failure& failure);
ErrorInfo error_of(ErrorCode code, std::string message);

}  // namespace tafel::broker
