// A copy of one board, kept by after-images alone: no merge rule is needed to follow a board. Pure: pages of a snapshot
// and events of the feed come in, what to do next comes out. Not safe for use by several threads at once (BoardFeed
// guards one).
//
// Joining: the pages of a snapshot are read one after the other, each at its own version, v0 for the first and vN for
// the last. The events from v0 + 1 on are then applied over them. Each cell that changed meanwhile gets its newest
// image that way, so the copy is exact from vN on, and only from there on its digest means something and anybody may
// read it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents_sdk/cpp/agent.hpp"
#include "blackboard/board.hpp"

namespace tafel::sdk {

// An event for watchers without content of its own.
BoardEvent told_of(BoardEvent::Type type, Version version);

class Mirror {
 public:
  enum class Phase : std::uint8_t {
    reading,    // pages: ask for the one after cursor()
    replaying,  // all pages are there: subscribe from position()
    following,  // exact
    ended,      // the board was deleted
  };
  // What an input did to the link's duties.
  enum class Next : std::uint8_t {
    go_on,
    resubscribe,  // something is missing: subscribe again from position()
    read_anew,    // the copy is worthless: phase is `reading` again
    end,          // the board was deleted: phase is `ended`, nothing more comes
  };
  struct Page {
    Version version = 0;
    std::string epoch;
    std::optional<Sum128> digest;  // of the whole board at `version`; absent where the reader sees a part only
    std::vector<Change> cells;
    Value next;  // nil or "": this was the last one
  };

  Mirror();

  // Each input may add to `told` what watchers are to be told, in order.
  Next page(Page page, std::vector<BoardEvent>& told);
  Next event(const std::shared_ptr<const codec::FeedEvent>& event, std::vector<BoardEvent>& told);
  // The server says that catch-up has reached the head.
  Next live(Version version, std::vector<BoardEvent>& told);
  // The connection is gone.
  void lost(std::vector<BoardEvent>& told);
  // The versions after position() are not in the log any more.
  Next history_gone();
  // The server says that the board was deleted, by that version.
  Next deleted(Version version, std::vector<BoardEvent>& told);
  // The epoch of the store that answers now.
  Next epoch_is(const std::string& epoch);

  Phase phase() const { return phase_; }
  const Value& cursor() const { return cursor_; }
  Version position() const { return is_readable() ? version() : building_.version(); }
  // Exact and caught up with what the server had at that time.
  bool is_live() const { return phase_ == Phase::following && live_; }
  // Copies that did not fit their digest, one after the other: reason to wait before reading anew.
  std::size_t broken_in_a_row() const { return broken_in_a_row_; }

  // By which version the board was deleted.
  std::optional<Version> deleted() const { return phase_ == Phase::ended ? std::optional(version()) : std::nullopt; }

  // What readers see: the last exact copy. Empty before the first.
  bool has_copy() const { return has_copy_; }
  const blackboard::Board& board() const { return copy_->board; }
  Version version() const { return copy_->board.version(); }
  const std::string& epoch() const { return epoch_; }
  std::uint64_t resyncs() const { return resyncs_; }
  // As the newest event told it; nullopt also before the first.
  const std::optional<Completeness>& completeness() const { return completeness_; }
  // The copy as it is now, for ever: the next event is applied to a copy of its own while somebody holds this one.
  std::shared_ptr<const blackboard::Board> snapshot() const;

 private:
  struct Copy {
    blackboard::Board board;
    mutable std::atomic<std::uint32_t> readers{0};  // snapshots held, released on other threads
  };

  bool is_readable() const { return phase_ == Phase::following || phase_ == Phase::ended; }
  Next read_anew();
  Next end(Version version, std::vector<BoardEvent>& told);
  Next replay(const codec::FeedEvent& event, std::vector<BoardEvent>& told);
  Next publish(std::vector<BoardEvent>& told);
  blackboard::Board& writable();
  Next broken();

  Phase phase_ = Phase::reading;
  std::shared_ptr<Copy> copy_;
  bool has_copy_ = false;
  bool live_ = false;
  std::string epoch_;           // of the store that the pages came from
  blackboard::Board building_;  // reading, replaying
  bool first_page_ = true;
  Value cursor_;
  Version pages_from_ = 0;                 // v0
  Version exact_from_ = 0;                 // vN
  std::optional<Sum128> expected_digest_;  // at vN
  std::size_t broken_in_a_row_ = 0;
  std::uint64_t resyncs_ = 0;
  std::optional<Completeness> completeness_;
};

}  // namespace tafel::sdk
