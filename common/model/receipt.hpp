// The answer to a delta: what became of each op, or the one reason why nothing did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/completeness.hpp"
#include "common/model/delta.hpp"
#include "common/model/value.hpp"

namespace tafel {

// Stored and sent: do not renumber.
enum class Outcome : std::uint8_t {
  applied = 0,
  kept_both = 1,
  held = 2,
  unchanged = 3,
  ignored_blank = 4,
  rejected = 5
};
std::string_view name_of(Outcome outcome);
std::optional<Outcome> outcome_from(std::string_view name);

// Why an op is `unchanged`. In order of precedence where an op has several. Stored: do not renumber.
enum class Reason : std::uint8_t { echo = 0, overridden = 1, absent = 2, not_seen = 3, repeated = 4 };
std::string_view name_of(Reason reason);
std::optional<Reason> reason_from(std::string_view name);

// Stored and sent: do not renumber. Those from bad_request to unavailable are the server's own, the others are verdicts
// of SEMANTICS.
enum class ErrorCode : std::uint8_t {
  stale = 0,
  bad_value,
  bad_path,
  kind_mismatch,
  structure_conflict,
  schema_violation,
  bad_transition,
  out_of_bounds,
  forbidden,
  too_large,
  id_reused,
  unknown_suggestion,
  future_base,
  base_too_old,
  wrong_epoch,
  bad_request,   // a message that does not decode, or asks for what does not exist
  no_session,    // say hello first
  busy,          // too much waiting: send again later
  storage_full,  // no room for additions; reads go on
  unavailable,   // the server is stopping or recovering: send again, same id
  deleted,       // the board was deleted: nothing is written to it or read from it any more
};
std::string_view name_of(ErrorCode code);
std::optional<ErrorCode> error_code_from(std::string_view name);

struct ErrorInfo {
  ErrorCode code = ErrorCode::bad_request;
  std::optional<std::size_t> op;    // index of the op
  std::optional<std::string> path;  // as the sender wrote it
  std::string message;              // fit to be sent back to a model
  std::optional<Value> expected;
  std::optional<Value> found;   // `stale` on a field: {"version": …, "value": …}
  std::optional<Value> guards;  // `stale`: every guarded path → {"version": …, "value": …}
  bool retryable = false;       // the same message may succeed later, or after reading again
};

// What the board shows now, where that is not what the op wrote. Sets and logs have no confidence and actor.
struct Current {
  Value value;
  Version version = 0;
  std::optional<Confidence> confidence;
  std::optional<std::string> actor;
};

struct LeafResult {
  std::string path;
  Outcome outcome = Outcome::unchanged;
  std::optional<Reason> reason;
};

struct OpResult {
  Outcome outcome = Outcome::unchanged;
  std::optional<Reason> reason;    // of `unchanged`
  std::vector<std::string> held;   // ids of the suggestions made
  std::vector<LeafResult> leaves;  // of a spread map or a subtree: the leaves with another outcome
  std::optional<Current> current;
  std::optional<ErrorInfo> error;  // of `rejected`
};

struct Receipt {
  std::string id;
  std::string board;
  std::string epoch;
  Version version = 0;  // the new one; the current one when nothing changed
  bool duplicate = false;
  std::vector<OpResult> ops;
  std::optional<ErrorInfo> error;            // then `ops` is empty
  std::optional<Completeness> completeness;  // of the board after it, where its schema requires fields
};

}  // namespace tafel
