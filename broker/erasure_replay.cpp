#include "broker/erasure_replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "blackboard/store/erasure_ledger.hpp"
#include "broker/pipeline.hpp"
#include "common/base/limits.hpp"

namespace tafel::broker {
namespace {

using store::Erasure;

// An erasure stands in the ledger behind those of the forks that it reached. The other way round one does for all.
void put_forks_last(std::vector<Erasure>& ledger) {
  const Path whole_board = *Path::parse(board_path);  // forks were deleted first, and must be
  const auto is_other = [&](const Erasure& left, const Erasure& right) {
    return left.path == whole_board || left.path != right.path || left.actor != right.actor;
  };
  for (auto begin = ledger.begin(); begin != ledger.end();) {
    const auto end = std::find_if(begin + 1, ledger.end(), [&](const Erasure& next) { return is_other(*begin, next); });
    std::reverse(begin, end);
    begin = end;
  }
}

class Replay {
 public:
  explicit Replay(store::Store& store) : store_(store), pipeline_(store, everybody_may_) {}

  Result<ReplayedErasures> run(const std::vector<Erasure>& ledger, TimeMs now) {
    if (auto read = read_own(); !read) return tl::unexpected(read.error());
    for (const Erasure& erasure : ledger) {
      if (auto done = carry_out(erasure, now); !done) return tl::unexpected(done.error());
    }
    if (auto gone_through = go_through_history(); !gone_through) return tl::unexpected(gone_through.error());
    return report_;
  }

 private:
  // What the store has erased since we looked last.
  Result<void> read_own() {
    while (true) {
      const auto page = store_.erasures(next_, limits::boards_page_max);
      if (!page) return tl::unexpected(page.error());
      if (page->empty()) return {};
      for (const Erasure& erasure : *page) own_.add(erasure);
      next_ = page->back().sequence + 1;
    }
  }

  Result<void> carry_out(const Erasure& erasure, TimeMs now) {
    // It would become the time of the board, which never goes back.
    if (erasure.time > now + limits::ledger_ahead_ms_max) {
      return fail(Fault::bad_config,
                  fmt::format("the ledger says that {} was erased on {} at {} ms, which is in the future: set "
                              "the clock right, or the ledger",
                              erasure.path.text(), erasure.board, erasure.time));
    }
    if (own_.cover(erasure)) {
      ++report_.known;
      return {};
    }
    const auto there = is_there(erasure.board);
    if (!there) return tl::unexpected(there.error());
    if (!*there) {
      ++report_.skipped;
      return {};
    }
    Submission submission;
    submission.actor = erasure.actor;
    submission.delta.board = erasure.board;
    submission.delta.source = {"erasure", fmt::format("{}@{}", erasure.board, erasure.version), {}, {}};
    Op op;
    op.path = erasure.path.text();
    op.verb = op.path == board_path ? Verb::delete_board : Verb::erase;
    submission.delta.ops.push_back(std::move(op));
    // No earlier than the erasure itself: by its time it is known the next time.
    const auto done = pipeline_.commit({submission}, std::max(now, erasure.time));
    if (!done) return tl::unexpected(done.error());
    if (const auto& error = done->receipts.front().error) {
      return fail(Fault::refused, fmt::format("the erasure of {} on {} can not be carried out: {}", erasure.path.text(),
                                              erasure.board, error->message));
    }
    ++report_.carried_out;
    return read_own();
  }

  Result<bool> is_there(const std::string& board) {
    const auto snapshot = store_.snapshot();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const auto head = (*snapshot)->head(board);
    if (!head) return tl::unexpected(head.error());
    return head->has_value();
  }

  Result<void> go_through_history() {
    while (true) {
      const auto more = pipeline_.scrub();
      if (!more) return tl::unexpected(more.error());
      if (!*more) break;
    }
    for (std::uint64_t next = 0;;) {
      const auto page = store_.erasures(next, limits::boards_page_max);
      if (!page) return tl::unexpected(page.error());
      if (page->empty()) return {};
      for (const Erasure& erasure : *page) {
        if (erasure.is_done) continue;
        return fail(Fault::bad_bytes, fmt::format("the history of {} can not be gone through for the erasure of {}",
                                                  erasure.board, erasure.path.text()));
      }
      next = page->back().sequence + 1;
    }
  }

  store::Store& store_;
  const RoleTable everybody_may_;  // whoever erased had the right when it was done
  Pipeline pipeline_;
  store::ErasedPlaces own_;
  std::uint64_t next_ = 0;  // of the store's own ledger
  ReplayedErasures report_;
};

}  // namespace

Result<ReplayedErasures> replay_erasures(store::Store& store, std::vector<Erasure> ledger, TimeMs now) {
  put_forks_last(ledger);
  return Replay(store).run(ledger, now);
}

}  // namespace tafel::broker
