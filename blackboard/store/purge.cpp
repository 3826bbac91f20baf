#include "blackboard/store/purge.hpp"

#include <array>
#include <vector>

#include "blackboard/store/record.hpp"
#include "common/base/check.hpp"

namespace tafel::store {
namespace {

// The records of one table that a deleted board leaves behind.
struct Remains {
  Table table;
  std::string end;   // those from here on stay; empty: none
  std::string kept;  // stays, too; empty: nothing
};

// The key of the one receipt that stays; empty when the deletion had no id.
Result<std::string> kept_receipt(KvRead& kv, const BoardRecord& board) {
  if (board.receipts_first == board.receipts_next) return std::string();
  const std::string key = queue_key(board.number, board.receipts_first);
  const auto payload = get_record(kv, Table::receipt_queue, key);
  if (!payload) return tl::unexpected(payload.error());
  const auto queued = *payload ? decode_queued(**payload) : std::nullopt;
  if (!queued) return bad_record(Table::receipt_queue, key, "the entry of the deletion's receipt is missing");
  return receipt_key(board.number, queued->delta_hash);
}

Result<std::vector<Remains>> remains_of(KvRead& kv, const BoardRecord& board) {
  auto receipt = kept_receipt(kv, board);
  if (!receipt) return tl::unexpected(receipt.error());
  return std::vector<Remains>{{Table::fields, {}, {}},
                              {Table::parts, {}, {}},
                              {Table::floors, {}, {}},
                              {Table::events, event_key(board.number, board.deleted), {}},
                              {Table::receipts, {}, std::move(*receipt)},
                              {Table::receipt_queue, queue_key(board.number, board.receipts_first), {}}};
}

// The first keys of what is left in one table, at most `count`.
Result<std::vector<std::string>> keys_of(KvRead& kv, BoardNumber number, const Remains& remains, std::size_t count) {
  std::vector<std::string> keys;
  const std::string prefix = board_prefix(number);
  const auto scanned = kv.scan(remains.table, prefix, [&](std::string_view key, std::string_view) {
    if (!key.starts_with(prefix) || (!remains.end.empty() && key >= remains.end)) return false;
    if (key != remains.kept) keys.emplace_back(key);
    return keys.size() < count;
  });
  if (!scanned) return tl::unexpected(scanned.error());
  return keys;
}

Result<void> erase_all(KvWrite& kv, Table table, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (auto erased = kv.erase(table, key); !erased) return erased;
  }
  return {};
}

// Looks at `count` entries of the index after `cursor`. True at the end of it.
Result<bool> purge_expiry(KvWrite& kv, BoardNumber number, std::string& cursor, std::size_t count) {
  std::vector<std::string> keys;
  std::size_t looked_at = 0;
  const auto scanned = kv.scan(Table::expiry, cursor, [&, after = cursor](std::string_view key, std::string_view) {
    if (key == after) return true;
    if (is_expiry_of(number, key)) keys.emplace_back(key);
    cursor = key;
    return ++looked_at < count;
  });
  if (!scanned) return tl::unexpected(scanned.error());
  if (auto erased = erase_all(kv, Table::expiry, keys); !erased) return tl::unexpected(erased.error());
  return looked_at < count;
}

}  // namespace

Result<bool> purge(KvWrite& kv, const BoardRecord& board, std::string& cursor, std::size_t count) {
  TAFEL_CHECK(board.deleted > 0, "only what was deleted is purged");
  const auto remains = remains_of(kv, board);
  if (!remains) return tl::unexpected(remains.error());
  for (const Remains& each : *remains) {
    const auto keys = keys_of(kv, board.number, each, count);
    if (!keys) return tl::unexpected(keys.error());
    if (auto erased = erase_all(kv, each.table, *keys); !erased) return tl::unexpected(erased.error());
    count -= keys->size();
    if (count == 0) return false;
  }
  return purge_expiry(kv, board.number, cursor, count);
}

Result<bool> is_purged(KvRead& kv, const BoardRecord& board) {
  const auto remains = remains_of(kv, board);
  if (!remains) return tl::unexpected(remains.error());
  for (const Remains& each : *remains) {
    const auto keys = keys_of(kv, board.number, each, 1);
    if (!keys) return tl::unexpected(keys.error());
    if (!keys->empty()) return false;
  }
  return true;
}

}  // namespace tafel::store
