// The server's ledger of erasures and of deleted boards.
#pragma once

#include <optional>
#include <string>

#include "cli/connection.hpp"
#include "common/model/value.hpp"

namespace tafel::cli {

// All of it that may be seen, and of one board where `board` is given.
Result<List> read_ledger(Connection& connection, const std::optional<std::string>& board);

bool is_done(const Value& erasure);

// Waits until nothing of the board is pending: what was erased, or the whole of it, is gone from the store. False when
// that takes longer than the patience of the call.
Result<bool> wait_until_done(Connection& connection, const std::string& board);

}  // namespace tafel::cli
