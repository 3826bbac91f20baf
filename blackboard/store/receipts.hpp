// The receipts that are remembered for resends: by (actor, delta id), until their window ends.
#pragma once

#include <optional>
#include <string>

#include "blackboard/store/layout.hpp"
#include "common/base/limits.hpp"

namespace tafel::store {

struct ReceiptWindow {
  std::int64_t window_ms = limits::receipt_window_ms;
  std::uint64_t count_max = limits::receipts_per_board_max;
};

Result<std::optional<ReceiptRecord>> find_receipt(KvRead& kv, const BoardRecord& board, const std::string& actor,
                                                  const std::string& delta_id);

// Remembers `record` (its sequence is given here), and forgets a few receipts that are older than the window or too
// many. Changes `board`, which the caller writes.
Result<void> remember_receipt(KvWrite& kv, BoardRecord& board, const std::string& actor, const std::string& delta_id,
                              ReceiptRecord record, TimeMs now, const ReceiptWindow& window = {});

}  // namespace tafel::store
