#include "blackboard/store/batch.hpp"

#include <algorithm>

#include "blackboard/seal.hpp"
#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/cell_writer.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/check.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/receipt_codec.hpp"
#include "common/model/names.hpp"

namespace tafel::store {
namespace {

constexpr std::size_t salt_bytes = 16;

Result<Receipt> decode_stored_receipt(const ReceiptRecord& record) {
  const auto value = codec::decode(record.receipt);
  if (!value) return tl::unexpected(value.error());
  return codec::receipt_from_value(*value);
}

}  // namespace

Result<Head> StoreBatch::head(const std::string& board) {
  const auto open_board = open(board);
  if (!open_board) return tl::unexpected(open_board.error());
  return (*open_board)->record.head;
}

const conflict::BoardView& StoreBatch::view(const std::string& board) {
  if (const auto open_board = open(board)) return (*open_board)->view;
  // The failure is kept, so this view shows nothing.
  return boards_.try_emplace(board, *kv_, log_, failure_).first->second.view;
}

Result<std::optional<KnownReceipt>> StoreBatch::known_receipt(const std::string& board, const std::string& actor,
                                                              const std::string& delta_id) {
  const auto open_board = open(board);
  if (!open_board) return tl::unexpected(open_board.error());
  const BoardRecord& record = (*open_board)->record;
  const auto found = kept(find_receipt(*kv_, record, actor, delta_id));
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::nullopt;
  return kept(remade(record.number, **found, actor, delta_id));
}

Result<Event> StoreBatch::append(const Delta& delta, const conflict::Judgement& judgement,
                                 const conflict::Stamp& stamp) {
  const auto board = open(delta.board);
  if (!board) return tl::unexpected(board.error());
  const bool removes = std::none_of(judgement.changes.begin(), judgement.changes.end(),
                                    [](const Change& change) { return change.image.has_value(); });
  kv_->use_reserve(removes);
  auto event = kept(write_event(**board, delta, judgement, stamp));
  if (!event || delta.id.empty()) return event;
  ReceiptRecord receipt;
  receipt.payload_hash = delta.payload_hash;
  receipt.version = event->version;
  const auto remembered =
      kept(remember_receipt(*kv_, (*board)->record, stamp.actor, delta.id, std::move(receipt), event->time));
  if (!remembered) return tl::unexpected(remembered.error());
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
  for (const auto& [id, board] : boards_) {
    if (!board.is_changed) continue;
    const auto put = kept(put_record(*kv_, Table::boards, id, encode_board(board.record)));
    if (!put) return put;
  }
  const auto committed = kept(kv_->commit());
  if (committed) failure_ = Failure{Fault::closed, "this batch has been committed"};
  return committed;
}

Result<StoreBatch::OpenBoard*> StoreBatch::open(const std::string& board) {
  if (failure_) return tl::unexpected(*failure_);
  const auto at = boards_.find(board);
  if (at != boards_.end()) return &at->second;
  const auto record = kept(get_board(*kv_, board));
  if (!record) return tl::unexpected(record.error());
  OpenBoard& opened = boards_.try_emplace(board, *kv_, log_, failure_).first->second;
  opened.record = *record;
  return &opened;
}

Result<void> StoreBatch::give_number(const std::string& id, OpenBoard& board) {
  if (board.record.number != BoardNumber::none) return {};
  TAFEL_CHECK(!board_id_defect(id), "a board id is checked before it is written to");
  const auto payload = get_record(*kv_, Table::meta, meta_boards);
  if (!payload) return tl::unexpected(payload.error());
  const auto next = *payload ? decode_number(**payload) : std::nullopt;
  if (!next || *next == 0) return bad_record(Table::meta, meta_boards, "the number of the next board is missing");
  board.record.number = static_cast<BoardNumber>(*next);
  return put_record(*kv_, Table::meta, meta_boards, encode_number(*next + 1));
}

Result<Event> StoreBatch::write_event(OpenBoard& board, const Delta& delta, const conflict::Judgement& judgement,
                                      const conflict::Stamp& stamp) {
  TAFEL_CHECK(!judgement.changes.empty(), "only a delta that changes something takes a version");
  if (auto numbered = give_number(delta.board, board); !numbered) return tl::unexpected(numbered.error());
  BoardRecord& record = board.record;
  board.is_changed = true;
  const auto before = write_changes(*kv_, record.number, judgement.changes, record.head.version + 1);
  if (!before) return tl::unexpected(before.error());
  Event event = blackboard::seal(delta.board, record.head, delta, judgement, stamp, *before, random_.bytes(salt_bytes));
  const auto put = put_record(*kv_, Table::events, event_key(record.number, event.version), codec::encode_event(event));
  if (!put) return tl::unexpected(put.error());
  record.head = blackboard::head_after(record.head, event);
  return event;
}

Result<void> StoreBatch::write_receipt(OpenBoard& board, const Delta& delta, const Receipt& receipt,
                                       const std::string& actor, TimeMs now) {
  if (auto numbered = give_number(delta.board, board); !numbered) return numbered;
  board.is_changed = true;
  ReceiptRecord record;
  record.payload_hash = delta.payload_hash;
  record.receipt = codec::encode(codec::receipt_to_value(receipt));
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

template <class T>
Result<T> StoreBatch::kept(Result<T> result) {
  if (!result && !failure_) failure_ = result.error();
  return result;
}

}  // namespace tafel::store
