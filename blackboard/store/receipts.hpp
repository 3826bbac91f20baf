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

// Erases the payload hash that is kept for the delta, by which its values could be guessed: a repeat is then known by
// its id alone.
Result<void> forget_payload(KvWrite& kv, BoardNumber number, const std::string& actor, const std::string& delta_id);

// Takes values and payload hashes out of the stored receipts of the board, of at most `count` after the key `after`.
// Gives the key of the last one, empty at the end.
Result<std::string> strip_receipts(KvWrite& kv, BoardNumber number, const std::string& after, std::size_t count);

}  // namespace tafel::store
