#include "blackboard/store/receipts.hpp"

#include "blackboard/store/record.hpp"
#include "common/base/limits.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::store {
namespace {

Result<std::optional<ReceiptRecord>> get_receipt(KvRead& kv, BoardNumber number, std::string_view hash) {
  const std::string key = receipt_key(number, hash);
  const auto payload = get_record(kv, Table::receipts, key);
  if (!payload) return tl::unexpected(payload.error());
  if (!*payload) return std::nullopt;
  auto record = decode_receipt(**payload);
  if (!record) return bad_record(Table::receipts, key, "this is no receipt record");
  return record;
}

Result<QueuedReceipt> get_queued(KvRead& kv, BoardNumber number, std::uint64_t sequence) {
  const std::string key = queue_key(number, sequence);
  const auto payload = get_record(kv, Table::receipt_queue, key);
  if (!payload) return tl::unexpected(payload.error());
  if (!*payload) return bad_record(Table::receipt_queue, key, "the queue of receipts has a gap");
  auto queued = decode_queued(**payload);
  if (!queued) return bad_record(Table::receipt_queue, key, "this is no entry of the queue of receipts");
  return std::move(*queued);
}

Result<void> forget(KvWrite& kv, BoardNumber number, std::uint64_t sequence, std::string_view hash) {
  const auto record = get_receipt(kv, number, hash);
  if (!record) return tl::unexpected(record.error());
  // A newer receipt may stand under the same name; its own entry comes later in the queue.
  if (*record && (*record)->sequence == sequence) {
    if (auto erased = kv.erase(Table::receipts, receipt_key(number, hash)); !erased) return erased;
  }
  return kv.erase(Table::receipt_queue, queue_key(number, sequence));
}

Result<void> forget_old(KvWrite& kv, BoardRecord& board, TimeMs now, const ReceiptWindow& window) {
  // More than one per receipt, so that a backlog shrinks; few, so that no commit stalls.
  for (int i = 0; i < limits::receipts_dropped_max && board.receipts_first < board.receipts_next; ++i) {
    const auto queued = get_queued(kv, board.number, board.receipts_first);
    if (!queued) return tl::unexpected(queued.error());
    const bool is_old = queued->time < now - window.window_ms;
    const bool are_too_many = board.receipts_next - board.receipts_first > window.count_max;
    if (!is_old && !are_too_many) return {};
    if (auto forgotten = forget(kv, board.number, board.receipts_first, queued->delta_hash); !forgotten)
      return forgotten;
    ++board.receipts_first;
  }
  return {};
}

// An encoded receipt without the values that it repeats.
Result<std::string> without_values(const std::string& encoded) {
  const auto value = codec::decode(encoded);
  if (!value) return tl::unexpected(value.error());
  auto receipt = codec::receipt_from_value(*value);
  if (!receipt) return tl::unexpected(receipt.error());
  for (OpResult& result : receipt->ops) {
    result.current.reset();
    if (!result.error) continue;
    result.error->expected.reset();
    result.error->found.reset();
    result.error->guards.reset();
    result.error->message = "what was said here is gone with an erasure";
  }
  return codec::encode_receipt(*receipt);
}

}  // namespace

Result<std::optional<ReceiptRecord>> find_receipt(KvRead& kv, const BoardRecord& board, const std::string& actor,
                                                  const std::string& delta_id) {
  return get_receipt(kv, board.number, delta_hash(actor, delta_id));
}

Result<void> remember_receipt(KvWrite& kv, BoardRecord& board, const std::string& actor, const std::string& delta_id,
                              ReceiptRecord record, TimeMs now, const ReceiptWindow& window) {
  record.sequence = board.receipts_next++;
  const QueuedReceipt queued{now, delta_hash(actor, delta_id)};
  const std::string key = receipt_key(board.number, queued.delta_hash);
  if (auto put = put_record(kv, Table::receipts, key, encode_receipt(record)); !put) return put;
  const std::string place = queue_key(board.number, record.sequence);
  if (auto put = put_record(kv, Table::receipt_queue, place, encode_queued(queued)); !put) return put;
  return forget_old(kv, board, now, window);
}

Result<void> forget_payload(KvWrite& kv, BoardNumber number, const std::string& actor, const std::string& delta_id) {
  if (delta_id.empty()) return {};
  const std::string hash = delta_hash(actor, delta_id);
  auto record = get_receipt(kv, number, hash);
  if (!record) return tl::unexpected(record.error());
  if (!*record) return {};
  (*record)->payload_hash = {};
  return put_record(kv, Table::receipts, receipt_key(number, hash), encode_receipt(**record));
}

Result<std::string> strip_receipts(KvWrite& kv, BoardNumber number, const std::string& after, std::size_t count) {
  std::vector<std::pair<std::string, ReceiptRecord>> records;
  const auto scanned = scan_records(kv, Table::receipts, board_prefix(number), after,
                                    [&](std::string_view key, std::string_view payload) -> Result<bool> {
                                      if (key == after) return true;
                                      if (records.size() == count) return false;
                                      auto record = decode_receipt(payload);
                                      if (!record) return bad_record(Table::receipts, key, "this is no receipt record");
                                      records.emplace_back(key, std::move(*record));
                                      return true;
                                    });
  if (!scanned) return tl::unexpected(scanned.error());
  for (auto& [key, record] : records) {
    if (record.version != 0) continue;
    auto stripped = without_values(record.receipt);
    if (!stripped) return bad_record(Table::receipts, key, stripped.error().message);
    record.receipt = std::move(*stripped);
    record.payload_hash = {};
    if (auto put = put_record(kv, Table::receipts, key, encode_receipt(record)); !put)
      return tl::unexpected(put.error());
  }
  return records.size() < count ? std::string() : records.back().first;
}

}  // namespace tafel::store
