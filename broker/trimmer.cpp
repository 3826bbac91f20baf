#include "broker/trimmer.hpp"

#include <algorithm>

#include "broker/log.hpp"
#include "common/base/limits.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/retention_codec.hpp"
#include "common/model/names.hpp"

namespace tafel::broker {
namespace {

// So much may lie above a limit before something is done about it: a sync for each event would cost more than it saves.
std::uint64_t slack_of(std::uint64_t limit) {
  return std::clamp<std::uint64_t>(limit / 16, 1, limits::retention_step_events);
}

Result<Retention> retention_of(store::Snapshot& snapshot, const std::string& board, const Retention& defaults) {
  const Path path = *Path::parse(retention_path);
  const auto own = snapshot.load(board, path, std::nullopt, limits::query_load_bytes);
  if (!own) return tl::unexpected(own.error());
  const Cell* cell = own->find(leaf_key(path));
  const auto* value = cell != nullptr ? std::get_if<RegisterCell>(cell) : nullptr;
  return value != nullptr ? codec::retention_from_value(shown_sibling(*value).value) : defaults;
}

Result<TimeMs> time_of(store::Snapshot& snapshot, const std::string& board, Version version) {
  const auto records = snapshot.event_records(board, version, version, 1);
  if (!records) return tl::unexpected(records.error());
  if (records->empty()) return fail(Fault::bad_bytes, "the log lacks a version");
  const auto event = codec::decode_event(records->front());
  if (!event) return tl::unexpected(event.error());
  return event->time;
}

// The newest version that was there at `time` already; `low` when none above it was. Of the newest of all nothing is
// asked: it stays.
Result<Version> version_at(store::Snapshot& snapshot, const std::string& board, Version low, Version newest,
                           TimeMs time) {
  if (low + 1 >= newest) return low;
  const auto oldest = time_of(snapshot, board, low + 1);
  if (!oldest) return tl::unexpected(oldest.error());
  if (*oldest > time) return low;  // as most often
  ++low;
  for (Version high = newest; high - low > 1;) {
    const Version middle = low + (high - low) / 2;
    const auto at = time_of(snapshot, board, middle);
    if (!at) return tl::unexpected(at.error());
    (*at > time ? high : low) = middle;
  }
  return low;
}

bool is_of_the_board(const Failure& failure) {
  return failure.fault == Fault::bad_bytes || failure.fault == Fault::full;
}

}  // namespace

Result<bool> Trimmer::step(TimeMs now) {
  if (!work_) {
    if (now < rests_until_ && rests_until_ - now <= limits::retention_interval_ms) return false;
    const auto found = find_work(now);
    if (!found) return found;
    if (!work_) {
      if (!*found) rests_until_ = now + limits::retention_interval_ms;
      return *found;
    }
  }
  auto more = go_on();
  if (!more && is_of_the_board(more.error())) {
    log(LogLevel::error, "retention_stopped", {{"board", work_->board}, {"message", more.error().message}});
    damaged_.insert(work_->board);
    more = false;
  }
  if (more && !*more) {
    settle(*work_);
    work_.reset();
  }
  if (!more) return more;
  return true;
}

Result<bool> Trimmer::find_work(TimeMs now) {
  const auto snapshot = store_.writer_snapshot();
  if (!snapshot) return tl::unexpected(snapshot.error());
  const auto boards = (*snapshot)->boards(after_, limits::retention_boards_max);
  if (!boards) return tl::unexpected(boards.error());
  for (const store::BoardSummary& board : *boards) {
    after_ = board.board;
    if (damaged_.contains(board.board)) continue;
    const auto settled = settled_.find(board.board);
    if (settled != settled_.end() && settled->second == board.head.version) continue;
    auto work = work_on(**snapshot, board, now);
    if (!work && is_of_the_board(work.error())) {
      log(LogLevel::error, "retention_stopped", {{"board", board.board}, {"message", work.error().message}});
      damaged_.insert(board.board);
      continue;
    }
    if (!work) return tl::unexpected(work.error());
    if (!*work) continue;
    work_ = std::move(**work);
    return true;
  }
  const bool is_last = boards->size() < limits::retention_boards_max;
  if (is_last) after_.clear();
  return !is_last;
}

Result<std::optional<Trimmer::Work>> Trimmer::work_on(store::Snapshot& snapshot, const store::BoardSummary& board,
                                                      TimeMs now) {
  const auto retention = retention_of(snapshot, board.board, defaults_);
  if (!retention) return tl::unexpected(retention.error());
  const Version version = board.head.version;
  const Version first = std::max(board.head.floor, board.fork);  // what is older is not this board's to trim
  Work work{
      board.board,
      {0, std::nullopt, limits::retention_step_events, limits::retention_step_changes, limits::retention_step_bytes}};
  bool is_due = false;
  if (retention->versions && version > *retention->versions) {
    work.goal.floor = version - *retention->versions;
    is_due = work.goal.floor >= first + slack_of(*retention->versions) && work.goal.floor > 1;
  }
  if (retention->age_ms) {
    const auto old = version_at(snapshot, board.board, first, version, now - *retention->age_ms);
    if (!old) return tl::unexpected(old.error());
    work.goal.floor = std::max(work.goal.floor, *old);
    is_due = is_due || *old > std::max<Version>(first, 1);
  }
  if (retention->bytes) {
    is_due = is_due || (board.log_bytes > *retention->bytes + *retention->bytes / 16 && version > first + 1);
    work.goal.log_bytes = *retention->bytes;
  }
  work.is_trimmed = !is_due;
  work.settles_at = retention->age_ms ? 0 : version;
  if (is_due || board.head.floor > 1) return work;
  settle(work);
  return std::nullopt;
}

void Trimmer::settle(const Work& work) {
  if (work.settles_at == 0) return;
  if (settled_.size() >= limits::retention_settled_max) settled_.clear();
  settled_[work.board] = work.settles_at;
}

Result<bool> Trimmer::go_on() {
  auto transaction = store_.begin();
  if (!transaction) return tl::unexpected(transaction.error());
  if (!work_->is_trimmed) {
    const auto trimmed = (*transaction)->trim(work_->board, work_->goal);
    if (!trimmed) return tl::unexpected(trimmed.error());
    work_->is_trimmed = trimmed->is_done;
    if (trimmed->events == 0) return true;
  } else {
    const auto more = (*transaction)->sweep_pins(work_->board, work_->progress, limits::retention_step_changes);
    if (!more || !*more) return more;
  }
  if (auto durable = (*transaction)->commit(); !durable) return tl::unexpected(durable.error());
  return true;
}

}  // namespace tafel::broker
