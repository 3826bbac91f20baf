#include "blackboard/store/erasures.hpp"

#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/expiry_index.hpp"
#include "blackboard/store/purge.hpp"
#include "blackboard/store/receipts.hpp"
#include "blackboard/store/record.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/event_pieces.hpp"

namespace tafel::store {
namespace {

constexpr std::size_t removals_per_rewrite = 4;  // a record that only goes costs so much less

// Where the walk through the index of expiry begins.
std::string before_all_expiry() { return expiry_key(0, BoardNumber::none, board_key()); }

Result<ErasureRecord> decode(std::string_view key, std::string_view payload) {
  auto record = decode_erasure(payload);
  if (!record) return bad_record(Table::erasures, key, "this is no erasure");
  return std::move(*record);
}

Result<std::uint64_t> meta_number(KvRead& kv, std::string_view name) {
  const auto payload = get_record(kv, Table::meta, name);
  if (!payload) return tl::unexpected(payload.error());
  return *payload ? decode_number(**payload).value_or(0) : 0;
}

Result<void> put_erasure(KvWrite& kv, std::uint64_t sequence, const ErasureRecord& record) {
  return put_record(kv, Table::erasures, erasure_key(sequence), encode_erasure(record));
}

// One erasure on its way.
class Scrub {
 public:
  Scrub(KvWrite& kv, EventLog& log, ErasureRecord& record, BoardRecord& board)
      : kv_(kv), log_(log), record_(record), board_(board), number_(board.number), path_(Path::from_key(record.path)) {}

  Result<void> run(std::size_t count) {
    if (record_.scrubbed + 1 < record_.version) return scrub_events(count);
    return time_of_expiry(record_.cursor) ? scrub_expiry(count) : scrub_receipts(count);
  }

 private:
  Result<void> scrub_events(std::size_t count) {
    std::vector<std::pair<std::string, std::string>> records;
    const auto scanned =
        scan_records(kv_, Table::events, board_prefix(number_), event_key(number_, record_.scrubbed + 1),
                     [&](std::string_view key, std::string_view payload) {
                       if (records.size() == count || key >= event_key(number_, record_.version))
                         return Result<bool>(false);
                       records.emplace_back(key, payload);
                       return Result<bool>(true);
                     });
    if (!scanned) return scanned;
    for (const auto& [key, payload] : records) {
      auto event = codec::decode_event(payload);
      if (!event) return bad_record(Table::events, key, event.error().message);
      record_.scrubbed = event->version;
      if (!codec::erase_pieces(*event, path_)) continue;
      log_.forget(number_, event->version);
      const std::string encoded = codec::encode_event(*event);
      if (auto put = put_record(kv_, Table::events, key, encoded); !put) return put;
      board_.log_bytes += encoded.size();
      board_.log_bytes -= payload.size();
      if (auto done = forget_payload(kv_, number_, event->actor, event->delta_id); !done) return done;
    }
    if (records.size() < count) record_.scrubbed = record_.version - 1;
    return {};
  }

  // A receipt without an event may repeat any value of the board.
  Result<void> scrub_receipts(std::size_t count) {
    const auto next = strip_receipts(kv_, number_, record_.cursor, count);
    if (!next) return tl::unexpected(next.error());
    record_.cursor = next->empty() ? before_all_expiry() : *next;
    return {};
  }

  Result<void> scrub_expiry(std::size_t count) {
    const auto done = drop_stale(kv_, number_, path_, record_.cursor, count);
    if (!done) return tl::unexpected(done.error());
    record_.is_done = *done;
    if (record_.is_done) record_.cursor.clear();
    return {};
  }

  KvWrite& kv_;
  EventLog& log_;
  ErasureRecord& record_;
  BoardRecord& board_;
  const BoardNumber number_;
  const Path path_;
};

// Of a deleted board everything is to go; so its older erasures are done when it is purged, too.
Result<void> purge_for(KvWrite& kv, ErasureRecord& record, BoardRecord& board, std::size_t count) {
  if (!board.is_purged) {
    if (record.scrubbed < record.version) {  // it begins, or was an erasure under way
      record.scrubbed = record.version;
      record.cursor.clear();
    }
    const auto done = purge(kv, board, record.cursor, count);
    if (!done) return tl::unexpected(done.error());
    board.is_purged = *done;
    if (*done) {
      if (auto put = put_record(kv, Table::boards, record.board, encode_board(board)); !put) return put;
    }
  }
  record.is_done = board.is_purged;
  if (record.is_done) record.cursor.clear();
  return {};
}

}  // namespace

Result<void> note_erasure(KvWrite& kv, const Erasure& erasure) {
  const auto next = meta_number(kv, meta_erasures);
  if (!next) return tl::unexpected(next.error());
  ErasureRecord record;
  record.board = erasure.board;
  record.path = erasure.path.key();
  record.version = erasure.version;
  record.actor = erasure.actor;
  record.time = erasure.time;
  if (auto put = put_erasure(kv, *next, record); !put) return put;
  return put_record(kv, Table::meta, meta_erasures, encode_number(*next + 1));
}

Result<std::vector<Erasure>> list_erasures(KvRead& kv, std::uint64_t sequence, std::size_t count) {
  std::vector<Erasure> found;
  const auto scanned = scan_records(
      kv, Table::erasures, {}, erasure_key(sequence),
      [&](std::string_view key, std::string_view payload) -> Result<bool> {
        if (found.size() == count) return false;
        auto record = decode(key, payload);
        if (!record) return tl::unexpected(record.error());
        found.push_back({sequence_of_erasure(key), std::move(record->board), Path::from_key(std::move(record->path)),
                         record->version, std::move(record->actor), record->time, record->is_done});
        return true;
      });
  if (!scanned) return tl::unexpected(scanned.error());
  return found;
}

Result<bool> has_pending_erasures(KvRead& kv) {
  const auto next = meta_number(kv, meta_erasures);
  if (!next) return tl::unexpected(next.error());
  const auto first = meta_number(kv, meta_scrubbed);
  if (!first) return tl::unexpected(first.error());
  return *first < *next;
}

Result<bool> scrub(KvWrite& kv, EventLog& log, std::size_t count) {
  const auto next = meta_number(kv, meta_erasures);
  if (!next) return tl::unexpected(next.error());
  const auto first = meta_number(kv, meta_scrubbed);
  if (!first) return tl::unexpected(first.error());
  if (*first == *next) return false;
  const std::string key = erasure_key(*first);
  const auto payload = get_record(kv, Table::erasures, key);
  if (!payload) return tl::unexpected(payload.error());
  if (!*payload) return bad_record(Table::erasures, key, "the ledger has a gap");
  auto record = decode(key, **payload);
  if (!record) return tl::unexpected(record.error());
  auto board = get_board(kv, record->board);
  if (!board) return tl::unexpected(board.error());
  const std::uint64_t bytes_before = board->log_bytes;
  const auto done = board->deleted > 0 ? purge_for(kv, *record, *board, count * removals_per_rewrite)
                                       : Scrub(kv, log, *record, *board).run(count);
  if (!done) return tl::unexpected(done.error());
  if (board->log_bytes != bytes_before) {
    const auto put = put_record(kv, Table::boards, record->board, encode_board(*board));
    if (!put) return tl::unexpected(put.error());
  }
  if (auto put = put_erasure(kv, *first, *record); !put) return tl::unexpected(put.error());
  if (record->is_done) {
    kv.leave_no_trace();  // what was erased stands in older writes too
    const auto put = put_record(kv, Table::meta, meta_scrubbed, encode_number(*first + 1));
    if (!put) return tl::unexpected(put.error());
  }
  return true;
}

}  // namespace tafel::store
