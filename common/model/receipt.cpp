#include "common/model/receipt.hpp"

#include <array>

#include "common/model/enum_names.hpp"

namespace tafel {
namespace {

constexpr std::array<std::string_view, 6> outcome_names{"applied",   "kept_both",     "held",
                                                        "unchanged", "ignored_blank", "rejected"};
constexpr std::array<std::string_view, 5> reason_names{"echo", "overridden", "absent", "not_seen", "repeated"};
constexpr std::array<std::string_view, 21> error_names{
    "stale",          "bad_value",     "bad_path",    "kind_mismatch", "structure_conflict", "schema_violation",
    "bad_transition", "out_of_bounds", "forbidden",   "too_large",     "id_reused",          "unknown_suggestion",
    "future_base",    "base_too_old",  "wrong_epoch", "bad_request",   "no_session",         "busy",
    "storage_full",   "unavailable",   "deleted"};

}  // namespace

std::string_view name_of(Outcome outcome) { return outcome_names[static_cast<std::size_t>(outcome)]; }
std::optional<Outcome> outcome_from(std::string_view name) { return look_up<Outcome>(outcome_names, name); }

std::string_view name_of(Reason reason) { return reason_names[static_cast<std::size_t>(reason)]; }
std::optional<Reason> reason_from(std::string_view name) { return look_up<Reason>(reason_names, name); }

std::string_view name_of(ErrorCode code) { return error_names[static_cast<std::size_t>(code)]; }
std::optional<ErrorCode> error_code_from(std::string_view name) { return look_up<ErrorCode>(error_names, name); }

}  // namespace tafel
