#include "blackboard/store/deletions.hpp"

#include "blackboard/store/batch.hpp"
#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/record.hpp"
#include "blackboard/store/snapshot.hpp"
#include "common/base/check.hpp"
#include "common/codec/event_codec.hpp"

namespace tafel::store {

Result<std::optional<Deletion>> deletion_of(EventLog& log, const BoardRecord& board) {
  if (board.deleted == 0) return std::nullopt;
  const auto event = log.event(board.number, board.deleted);
  if (!event) return tl::unexpected(event.error());
  return Deletion{board.deleted, (*event)->time, (*event)->actor, board.is_purged};
}

Result<std::vector<std::string>> last_event_record(KvRead& kv, const BoardRecord& board, Version from, Version to) {
  std::vector<std::string> records;
  if (from > board.deleted || to < board.deleted) return records;
  const std::string key = event_key(board.number, board.deleted);
  auto record = get_record(kv, Table::events, key);
  if (!record) return tl::unexpected(record.error());
  if (!*record) return bad_record(Table::events, key, "the event that deleted the board is missing");
  records.push_back(std::move(**record));
  return records;
}

Result<blackboard::Placed> place_deletion(const Head& head) { return blackboard::Placed{{{head.digest, 0, 0}}, {}}; }

// --- snapshots ---

Result<std::optional<Deletion>> StoreSnapshot::deletion(const std::string& board) {
  const auto record = get_board(*kv_, board);
  if (!record) return tl::unexpected(record.error());
  return deletion_of(log_, *record);
}

Result<std::vector<DeletedBoard>> StoreSnapshot::deleted_boards(const std::string& after, std::size_t count) {
  std::vector<DeletedBoard> found;
  if (count == 0) return found;
  const auto scanned =
      scan_records(*kv_, Table::boards, {}, after, [&](std::string_view id, std::string_view payload) -> Result<bool> {
        const auto record = decode_board(payload);
        if (!record) return bad_record(Table::boards, id, "this is no board record");
        if (id == after) return true;
        auto deletion = deletion_of(log_, *record);
        if (!deletion) return tl::unexpected(deletion.error());
        if (*deletion) found.push_back({std::string(id), std::move(**deletion)});
        return found.size() < count;
      });
  if (!scanned) return tl::unexpected(scanned.error());
  return found;
}

// --- batches ---

Result<std::optional<Deletion>> StoreBatch::deletion(const std::string& board) {
  const auto open_board = open(board);
  if (!open_board) return tl::unexpected(open_board.error());
  return kept(deletion_of(log_, (*open_board)->record));
}

// Writes the tombstone. From here on the board is empty to every reader; what it held is left to the purge, and the
// ledger tells that it is pending.
Result<void> StoreBatch::bury(OpenBoard& board, const Event& event) {
  BoardRecord& record = board.record;
  if (!record.parent.empty()) {
    const auto parent = open(record.parent);
    if (!parent) return tl::unexpected(parent.error());
    const std::string key = fork_key((*parent)->record.number, record.number);
    if (auto erased = kv_->erase(Table::forks, key); !erased) return erased;
    record.parent.clear();
    record.fork = 0;
  }
  record.deleted = event.version;
  record.log_bytes = codec::encode_event(event).size();
  record.head.floor = event.version - 1;
  // Of the receipts only that of the deletion stays.
  record.receipts_first = record.receipts_next - (event.delta_id.empty() ? 0 : 1);
  const Erasure erasure{0, event.board, *Path::parse(board_path), event.version, event.actor, event.time};
  if (auto noted = store::note_erasure(*kv_, erasure); !noted) return noted;
  return renew_line(event.board, board);
}

}  // namespace tafel::store
