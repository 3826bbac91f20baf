#include <fmt/format.h>

#include "blackboard/seal.hpp"
#include "blackboard/store/purge.hpp"
#include "blackboard/store/record.hpp"
#include "blackboard/store/verify.hpp"
#include "common/codec/event_codec.hpp"

namespace tafel::store {
namespace {

// The events that are left, the oldest first. Of the first one it can not be told what it follows.
Result<void> verify_events(KvRead& kv, const BoardRecord& board, VerifyReport& report,
                           const std::function<void(std::string)>& note) {
  std::optional<Head> before;
  bool ends_it = false;
  const std::string prefix = board_prefix(board.number);
  const auto scanned =
      scan_records(kv, Table::events, prefix, prefix, [&](std::string_view key, std::string_view record) {
        const auto event = codec::decode_event(record);
        if (!event) return Result<bool>(bad_record(Table::events, key, event.error().message));
        if (key != event_key(board.number, event->version) || event->board != report.board)
          note(fmt::format("version {} stands in a wrong place", event->version));
        if (!before) before = Head{event->version - 1, event->time, event->previous_hash, {}};
        if (auto defect = blackboard::chain_defect(*before, *event)) note(std::move(*defect));
        before = blackboard::head_after(*before, *event);
        ends_it = takes_board(*event);
        ++report.events;
        return Result<bool>(true);
      });
  if (!scanned) return scanned;
  const bool is_last = before && before->version == board.deleted && ends_it;
  if (!is_last) note(fmt::format("the log does not end with the deletion, version {}", board.deleted));
  const bool fits = before && before->hash == board.head.hash && before->time == board.head.time;
  if (is_last && !(fits && before->digest == board.head.digest && before->digest == Sum128{}))
    note("the head does not fit the event that deleted the board");
  return {};
}

}  // namespace

Result<void> verify_deleted(KvRead& kv, const BoardRecord& board, VerifyReport& report,
                            const std::function<void(std::string defect)>& note) {
  if (auto verified = verify_events(kv, board, report, note); !verified) return verified;
  const auto is_empty = is_purged(kv, board);
  if (!is_empty) return tl::unexpected(is_empty.error());
  if (board.is_purged && !*is_empty) note("the board is said to be purged, but something of it is left");
  return {};
}

}  // namespace tafel::store
