#include "blackboard/store/batch.hpp"

#include <algorithm>

#include "blackboard/expiry.hpp"
#include "blackboard/seal.hpp"
#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/cell_writer.hpp"
#include "blackboard/store/deletions.hpp"
#include "blackboard/store/expiry_index.hpp"
#include "blackboard/store/record.hpp"
#include "blackboard/store/trim.hpp"
#include "common/base/check.hpp"
#include "common/base/limits.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/event_pieces.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/receipt_codec.hpp"
#include "common/model/names.hpp"

namespace tafel::store {
namespace {

Result<Receipt> decode_stored_receipt(const ReceiptRecord& record) {
  const auto value = codec::decode(record.receipt);
  if (!value) return tl::unexpected(value.error());
  return codec::receipt_from_value(*value);
}

}  // namespace

StoreBatch::StoreBatch(std::unique_ptr<KvWrite> kv, std::shared_ptr<KeptForWriting> kept, const std::string& epoch,
                       Random& random)
    : kv_(std::move(kv)), kept_(std::move(kept)), log_(*kv_, kept_->events), epoch_(epoch), random_(random) {
  kept_->records.begin(*kv_);
}

StoreBatch::~StoreBatch() {
  kept_->records.end(is_committed_);
  if (has_appended_ && !is_committed_) kept_->events->clear();
}

Result<void> StoreBatch::go_past_records() {
  if (failure_) return tl::unexpected(*failure_);
  auto written = kept(kept_->records.write_back());
  if (written) kept_->records.forget_all();
  return written;
}

Result<Head> StoreBatch::head(const std::string& board) {
  const auto open_board = open(board);
  if (!open_board) return tl::unexpected(open_board.error());
  return (*open_board)->record.head;
}

const conflict::BoardView& StoreBatch::view(const std::string& board) {
  if (const auto open_board = open(board)) return (*open_board)->view;
  // The failure is kept, so this view shows nothing.
  return boards_.try_emplace(board, BoardRecord(), *BoardLine::open(records(), log_, board, {}), failure_)
      .first->second.view;
}

Result<std::optional<KnownReceipt>> StoreBatch::known_receipt(const std::string& board, const std::string& actor,
                                                              const std::string& delta_id) {
  const auto open_board = open(board);
  if (!open_board) return tl::unexpected(open_board.error());
  const BoardRecord& record = (*open_board)->record;
  const auto found = kept(find_receipt(*kv_, record, actor, delta_id));
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::nullopt;
  // The events that older receipts are made from are on their way out.
  if (record.deleted > 0 && (*found)->version != record.deleted) return std::nullopt;
  return kept(remade(record.number, **found, actor, delta_id));
}

std::string StoreBatch::new_salt() { return random_.bytes(codec::salt_bytes); }

Result<void> StoreBatch::note_erasure(const Erasure& erasure) {
  kv_->use_reserve(true);
  return kept(store::note_erasure(*kv_, erasure));
}

Result<bool> StoreBatch::scrub(std::size_t count) {
  kv_->use_reserve(true);
  if (auto ready = go_past_records(); !ready) return tl::unexpected(ready.error());
  return kept(store::scrub(*kv_, log_, count));
}

Result<Trimmed> StoreBatch::trim(const std::string& board, const TrimGoal& goal) {
  kv_->use_reserve(true);
  const auto at = open(board);
  if (!at) return tl::unexpected(at.error());
  if ((*at)->record.deleted > 0) return Trimmed{0, (*at)->record.head.floor, true};  // the purge takes everything
  if (auto ready = go_past_records(); !ready) return tl::unexpected(ready.error());
  auto trimmed = kept(store::trim(*kv_, log_, (*at)->record, epoch_, goal));
  if (!trimmed || trimmed->events == 0) return trimmed;
  (*at)->is_changed = true;
  if (auto renewed = kept(renew_line(board, **at)); !renewed) return tl::unexpected(renewed.error());
  return trimmed;
}

Result<bool> StoreBatch::sweep_pins(const std::string& board, SweepProgress& progress, std::size_t count) {
  kv_->use_reserve(true);
  const auto at = open(board);
  if (!at) return tl::unexpected(at.error());
  if ((*at)->record.deleted > 0) return false;
  if (auto ready = go_past_records(); !ready) return tl::unexpected(ready.error());
  const auto more = kept(store::sweep_pins(*kv_, log_, (*at)->record, progress, count));
  if (more && *more) (*at)->is_changed = true;
  return more;
}

Result<bool> StoreBatch::keeps(const std::string& board, Version version) {
  const auto at = open(board);
  if (!at) return tl::unexpected(at.error());
  return kept((*at)->line.keeps(version, (*at)->record.head));
}

Result<std::optional<Batch::Origin>> StoreBatch::origin(const std::string& board) {
  const auto open_board = open(board);
  if (!open_board) return tl::unexpected(open_board.error());
  const BoardRecord& record = (*open_board)->record;
  if (record.parent.empty()) return std::nullopt;
  return Origin{record.parent, record.fork};
}

Result<std::vector<Path>> StoreBatch::own_fields(const std::string& board, std::size_t count) {
  const auto open_board = open(board);
  if (!open_board) return tl::unexpected(open_board.error());
  std::vector<Path> paths;
  const auto kv = kept(kept_->records.kv());
  if (!kv) return tl::unexpected(kv.error());
  const auto scanned = kept(scan_fields(**kv, (*open_board)->record.number, std::nullopt, {},
                                        [&](std::string_view, const Path& path, const FieldRecord&) {
                                          if (paths.size() < count) paths.push_back(path);
                                          return Result<bool>(paths.size() < count);
                                        }));
  if (!scanned) return tl::unexpected(scanned.error());
  return paths;
}

Result<std::vector<std::string>> StoreBatch::forks_of(const std::string& board) {
  const auto open_board = open(board);
  if (!open_board) return tl::unexpected(open_board.error());
  std::vector<std::string> forks;
  const auto scanned = kept(scan_records(*kv_, Table::forks, board_prefix((*open_board)->record.number), {},
                                         [&](std::string_view key, std::string_view payload) -> Result<bool> {
                                           auto fork = decode_fork(payload);
                                           if (!fork) return bad_record(Table::forks, key, "this is no fork");
                                           forks.push_back(std::move(fork->board));
                                           return true;
                                         }));
  if (!scanned) return tl::unexpected(scanned.error());
  return forks;
}

Result<std::optional<TimeMs>> StoreBatch::next_expiry() { return kept(next_due(*kv_)); }

Result<std::vector<EventPointer>> StoreBatch::expire(TimeMs now, std::size_t count, const Prepare& prepare) {
  kv_->use_reserve(true);
  auto due = kept(take_due(*kv_, now, count));
  if (!due) return tl::unexpected(due.error());
  std::map<std::string, std::vector<CellKey>> cells;
  for (ExpiringCell& cell : *due) cells[cell.board].push_back(std::move(cell.key));
  std::vector<EventPointer> events;
  for (const auto& [id, keys] : cells) {
    const auto board = open(id);
    if (!board) return tl::unexpected(board.error());
    if ((*board)->record.deleted > 0) continue;
    const conflict::Stamp stamp{blackboard::system_actor, epoch_, std::max(now, (*board)->record.head.time),
                                new_salt()};
    auto judgement = blackboard::expire((*board)->view, keys, stamp.now);
    if (failure_) return tl::unexpected(*failure_);
    if (judgement.changes.empty()) continue;
    if (auto prepared = kept(prepare(id, judgement, stamp.now)); !prepared) return tl::unexpected(prepared.error());
    Delta delta;
    delta.board = id;
    delta.source.kind = "expiry";
    auto event = kept(write_event(**board, delta, judgement, stamp));
    if (!event) return tl::unexpected(event.error());
    events.push_back(std::move(*event));
  }
  return events;
}

Result<EventPointer> StoreBatch::append(const Delta& delta, const conflict::Judgement& judgement,
                                        const conflict::Stamp& stamp) {
  const auto board = open(delta.board);
  if (!board) return tl::unexpected(board.error());
  const bool removes = std::none_of(judgement.changes.begin(), judgement.changes.end(),
                                    [](const Change& change) { return change.image.has_value(); });
  kv_->use_reserve(removes);
  auto event = kept(write_event(**board, delta, judgement, stamp));
  if (!event) return event;
  if (!delta.id.empty()) {
    ReceiptRecord receipt;
    receipt.payload_hash = delta.payload_hash;
    receipt.version = (*event)->version;
    const auto remembered =
        kept(remember_receipt(*kv_, (*board)->record, stamp.actor, delta.id, std::move(receipt), (*event)->time));
    if (!remembered) return tl::unexpected(remembered.error());
  }
  if (!takes_board(**event)) return event;
  if (auto buried = kept(bury(**board, **event)); !buried) return tl::unexpected(buried.error());
  return event;
}

Result<void> StoreBatch::remember(const Delta& delta, const std::string& actor, const Receipt& receipt, TimeMs now) {
  if (delta.id.empty()) return {};
  kv_->use_reserve(false);
  const auto board = open(delta.board);
  if (!board) return tl::unexpected(board.error());
  return kept(write_receipt(**board, delta, receipt, actor, now));
}

Result<void> StoreBatch::commit() {
  if (failure_) return tl::unexpected(*failure_);
  kv_->use_reserve(true);  // the heads of what was let in
  if (auto written = kept(kept_->records.write_back()); !written) return written;
  for (const auto& [id, board] : boards_) {
    if (!board.is_changed) continue;
    const auto put = kept(put_record(*kv_, Table::boards, id, encode_board(board.record)));
    if (!put) return put;
  }
  const auto committed = kept(kv_->commit());
  is_committed_ = committed.has_value();
  if (committed) failure_ = Failure{Fault::closed, "this batch has been committed"};
  return committed;
}

Result<StoreBatch::OpenBoard*> StoreBatch::open(const std::string& board) {
  if (failure_) return tl::unexpected(*failure_);
  const auto at = boards_.find(board);
  if (at != boards_.end()) return &at->second;
  const auto record = kept(get_board(*kv_, board));
  if (!record) return tl::unexpected(record.error());
  auto line = kept(BoardLine::open(records(), log_, board, *record));
  if (!line) return tl::unexpected(line.error());
  return &boards_.try_emplace(board, *record, std::move(*line), failure_).first->second;
}

Result<void> StoreBatch::give_number(const std::string& id, OpenBoard& board) {
  if (board.record.number != BoardNumber::none) return {};
  TAFEL_CHECK(!board_id_defect(id), "a board id is checked before it is written to");
  const auto payload = get_record(*kv_, Table::meta, meta_boards);
  if (!payload) return tl::unexpected(payload.error());
  const auto next = *payload ? decode_number(**payload) : std::nullopt;
  if (!next || *next == 0) return bad_record(Table::meta, meta_boards, "the number of the next board is missing");
  board.record.number = static_cast<BoardNumber>(*next);
  if (auto put = put_record(*kv_, Table::meta, meta_boards, encode_number(*next + 1)); !put) return put;
  return renew_line(id, board);
}

Result<void> StoreBatch::renew_line(const std::string& id, OpenBoard& board) {
  auto line = BoardLine::open(records(), log_, id, board.record);
  if (!line) return tl::unexpected(line.error());
  board.line = std::move(*line);
  return {};
}

Result<bool> StoreBatch::fork(const std::string& board, const std::string& parent, Version version) {
  const auto from = open(parent);
  if (!from) return tl::unexpected(from.error());
  const auto to = open(board);
  if (!to) return tl::unexpected(to.error());
  BoardRecord& record = (*to)->record;
  const BoardRecord& above = (*from)->record;
  const auto is_kept = kept((*from)->line.keeps(version, above.head));
  if (!is_kept) return tl::unexpected(is_kept.error());
  // Below its own beginning a fork has only what its parent keeps, which knows nothing of a fork of the fork.
  const bool is_possible = record.head.version == 0 && above.deleted == 0 && version > 0 && version >= above.fork &&
                           *is_kept && (*from)->line.depth() < limits::forks_depth_max;
  if (!is_possible) return false;
  const auto event = kept((*from)->line.event(version));
  if (!event) return tl::unexpected(event.error());
  if (auto numbered = kept(give_number(board, **to)); !numbered) return tl::unexpected(numbered.error());
  const std::string key = fork_key(above.number, record.number);
  if (auto put = kept(put_record(*kv_, Table::forks, key, encode_fork({version, board}))); !put) {
    return tl::unexpected(put.error());
  }
  record.parent = parent;
  record.fork = version;
  record.head = {version, (*event)->time, (*event)->hash, (*event)->digest, 0, std::min(above.head.erased, version)};
  (*to)->is_changed = true;
  if (auto renewed = kept(renew_line(board, **to)); !renewed) return tl::unexpected(renewed.error());
  return true;
}

Result<EventPointer> StoreBatch::write_event(OpenBoard& board, const Delta& delta, const conflict::Judgement& judgement,
                                             const conflict::Stamp& stamp) {
  TAFEL_CHECK(!judgement.changes.empty(), "only a delta that changes something takes a version");
  TAFEL_CHECK(board.record.deleted == 0, "nothing is written to a board that was deleted");
  if (auto numbered = give_number(delta.board, board); !numbered) return tl::unexpected(numbered.error());
  BoardRecord& record = board.record;
  board.is_changed = true;
  const auto placed = takes_board(judgement.changes)
                          ? place_deletion(record.head)
                          : write_changes(kept_->records, board.line, judgement.changes, record.head.version + 1);
  if (!placed) return tl::unexpected(placed.error());
  auto sealed = blackboard::seal(delta.board, record.head, delta, judgement, stamp, *placed);
  auto event = std::make_shared<const Event>(std::move(sealed.event));
  const auto put = put_record(*kv_, Table::events, event_key(record.number, event->version), sealed.record);
  if (!put) return tl::unexpected(put.error());
  record.log_bytes += sealed.record.size();
  record.head = blackboard::head_after(record.head, *event);
  has_appended_ = true;
  log_.keep(record.number, event, sealed.record.size());
  return event;
}

Result<void> StoreBatch::write_receipt(OpenBoard& board, const Delta& delta, const Receipt& receipt,
                                       const std::string& actor, TimeMs now) {
  if (auto numbered = give_number(delta.board, board); !numbered) return numbered;
  board.is_changed = true;
  ReceiptRecord record;
  record.payload_hash = delta.payload_hash;
  record.receipt = codec::encode_receipt(receipt);
  return remember_receipt(*kv_, board.record, actor, delta.id, std::move(record), now);
}

Result<KnownReceipt> StoreBatch::remade(BoardNumber number, const ReceiptRecord& record, const std::string& actor,
                                        const std::string& delta_id) {
  const auto broken = [&](std::string_view what) {
    return bad_record(Table::receipts, receipt_key(number, delta_hash(actor, delta_id)), what);
  };
  if (record.version == 0) {
    auto receipt = decode_stored_receipt(record);
    if (!receipt) return broken(receipt.error().message);
    return KnownReceipt{record.payload_hash, std::move(*receipt)};
  }
  const auto event = log_.event(number, record.version);
  if (!event) return tl::unexpected(event.error());
  if ((*event)->actor != actor || (*event)->delta_id != delta_id)
    return broken("the receipt leads to the event of another delta");
  return KnownReceipt{record.payload_hash, blackboard::receipt_of(**event, epoch_)};
}

}  // namespace tafel::store
