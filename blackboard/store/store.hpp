// Boards on an ordered key–value store: event log, cells, receipts, heads. The layout is written on top of layout.hpp.
// One batch at a time writes; snapshots read from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blackboard/board.hpp"
#include "blackboard/store/erasures.hpp"
#include "blackboard/store/kv.hpp"
#include "common/base/random.hpp"
#include "common/model/event.hpp"
#include "conflict/judge.hpp"

namespace tafel::store {

struct BoardSummary {
  std::string board;
  Head head;
  Version fork = 0;             // of a fork: the version of its parent where it begins
  std::uint64_t log_bytes = 0;  // what its own events add up to
};

// The end of a board. Its name is not used again.
struct Deletion {
  Version version = 0;  // of the event that deleted it, the last one
  TimeMs time = 0;
  std::string actor;
  bool is_purged = false;  // all that the board held is gone
};

struct DeletedBoard {
  std::string board;
  Deletion deletion;
};

// A cell that is not the same after two versions.
struct CellDifference {
  CellKey key;
  std::optional<Cell> before;
  std::optional<Cell> after;
};

// A consistent view of the store. Short-lived: make one per page, copy out, let go before sending.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual Result<std::optional<Head>> head(const std::string& board) = 0;  // nullopt: never written to
  // How the board was deleted; nullopt when it was not. A deleted board reads as empty, and its last event is its log.
  virtual Result<std::optional<Deletion>> deletion(const std::string& board) = 0;
  // Boards after `after` ("" = from the first) in the order of their ids, at most `count`; those that were deleted are
  // left out.
  virtual Result<std::vector<BoardSummary>> boards(const std::string& after, std::size_t count) = 0;
  virtual Result<std::vector<DeletedBoard>> deleted_boards(const std::string& after, std::size_t count) = 0;
  // Log records (as codec::encode_event wrote them) of versions from .. to, until `bytes_max` is exceeded (at least
  // one).
  virtual Result<std::vector<std::string>> event_records(const std::string& board, Version from, Version to,
                                                         std::size_t bytes_max) = 0;
  // The events that changed the field at `path`, newest first, from the newest at or before `before` on, at most
  // `count` and until their records exceed `bytes_max` (at least one). Each is found by O(log n) look-ups.
  virtual Result<std::vector<std::shared_ptr<const Event>>> revisions(const std::string& board, const Path& path,
                                                                      Version before, std::size_t count,
                                                                      std::size_t bytes_max) = 0;
  // Live cells in store order after `cursor` ("" = from the first) until `bytes_max`; an empty `next` is the end.
  struct CellPage {
    std::vector<Change> cells;  // image always set
    std::string next;
  };
  virtual Result<CellPage> cells(const std::string& board, const std::optional<Path>& path, const std::string& cursor,
                                 std::size_t bytes_max) = 0;
  // True when the board can be read as it was after `version`: from the floor on, and at the versions that a tag or a
  // fork keeps.
  virtual Result<bool> keeps(const std::string& board, Version version) = 0;
  // Everything at and below `path` as it was after `version` (nullopt: now). Fault::full when it would exceed
  // `bytes_max`, Fault::not_found for a version that is not kept.
  virtual Result<blackboard::Board> load(const std::string& board, const std::optional<Path>& path,
                                         std::optional<Version> version, std::size_t bytes_max) = 0;
  // The fields at and below `path` that were ever written to, at most `count`.
  virtual Result<std::vector<Path>> fields(const std::string& board, const Path& path, std::size_t count) = 0;
  // The cells at and below `path` that differ between two versions, both of which are kept, from the cell `start` on,
  // field by field, until `bytes_max`; no `next` is the end. Looks at the events between where those are few, else at
  // the fields.
  struct DifferencePage {
    std::vector<CellDifference> cells;
    std::optional<CellKey> next;
  };
  virtual Result<DifferencePage> differences(const std::string& board, const std::optional<Path>& path, Version before,
                                             Version after, const std::optional<CellKey>& start,
                                             std::size_t bytes_max) = 0;
};

// A receipt that is remembered.
struct KnownReceipt {
  Sha256 payload_hash{};
  Receipt receipt;
};

// What a trim is to reach, and how far one step may go.
struct TrimGoal {
  Version floor = 0;                       // events before this version go
  std::optional<std::uint64_t> log_bytes;  // more of them, until the log has no more bytes than this
  std::size_t events_max = 0;              // of one step, and of these the last one may exceed the other limits
  std::size_t changes_max = 0;
  std::size_t bytes_max = 0;
};
struct Trimmed {
  std::size_t events = 0;
  Version floor = 0;
  bool is_done = true;
};

// How far the sweep after the end of a tag or a fork has come; empty: at the beginning.
struct SweepProgress {
  std::vector<Version> stale;  // events that nothing keeps any more
  std::string field;           // key of the field that is looked at
  std::optional<CellKey> cell;
};

// Called before a judgement of the server's own is appended to `board`: fills in what the store does not know of it.
using Prepare = std::function<Result<void>(const std::string& board, conflict::Judgement& judgement, TimeMs now)>;

// One write transaction: judged deltas are appended one after the other, then all become durable at once. Ends before
// its store. After a failure nothing of it can be committed any more.
class Batch {
 public:
  virtual ~Batch() = default;
  virtual Result<Head> head(const std::string& board) = 0;
  virtual Result<std::optional<Deletion>> deletion(const std::string& board) = 0;
  // The board as left by what this batch has appended so far. Valid until something is written. Reading never
  // throws; a failure shows in `failure()` and makes everything read since worthless.
  virtual const conflict::BoardView& view(const std::string& board) = 0;
  virtual std::optional<Failure> failure() const = 0;
  // Of a deleted board only the receipt of its deletion is known.
  virtual Result<std::optional<KnownReceipt>> known_receipt(const std::string& board, const std::string& actor,
                                                            const std::string& delta_id) = 0;
  // 16 random bytes, for the stamp of the next delta.
  virtual std::string new_salt() = 0;
  // Makes `board`, which was never written to, a fork of `parent` as it was after `version`; the first event comes
  // next. False where that is not possible.
  virtual Result<bool> fork(const std::string& board, const std::string& parent, Version version) = 0;
  // When something expires next; nullopt when nothing does.
  virtual Result<std::optional<TimeMs>> next_expiry() = 0;
  // Takes away what has expired by `now`, looking at no more than `count` cells, by an event of the actor `system` on
  // each board that has some.
  virtual Result<std::vector<EventPointer>> expire(TimeMs now, std::size_t count, const Prepare& prepare) = 0;
  // Enters an erasure, whose event was appended, into the ledger.
  virtual Result<void> note_erasure(const Erasure& erasure) = 0;
  // Goes on with the oldest erasure, or deletion of a board, that is not done: see erasures.hpp. False when there is
  // none.
  virtual Result<bool> scrub(std::size_t count) = 0;
  // Takes old events away, a step of it: see trim.hpp.
  virtual Result<Trimmed> trim(const std::string& board, const TrimGoal& goal) = 0;
  virtual Result<bool> sweep_pins(const std::string& board, SweepProgress& progress, std::size_t count) = 0;
  // True when the board can be read as it was after `version`: from the floor on, and at the versions that a tag or a
  // fork keeps.
  virtual Result<bool> keeps(const std::string& board, Version version) = 0;
  // Where the board was forked from; nullopt when it is no fork.
  struct Origin {
    std::string parent;
    Version version = 0;
  };
  virtual Result<std::optional<Origin>> origin(const std::string& board) = 0;
  // The fields that were written to on this board itself, in store order, at most `count`.
  virtual Result<std::vector<Path>> own_fields(const std::string& board, std::size_t count) = 0;
  // The boards that were forked from this one.
  virtual Result<std::vector<std::string>> forks_of(const std::string& board) = 0;
  // Seals the judgement as the next event, applies its changes, and remembers its receipt under (actor, delta.id) when
  // there is an id. A change that takes the board ends it: it has no forks then, and nothing is appended to it any
  // more.
  virtual Result<EventPointer> append(const Delta& delta, const conflict::Judgement& judgement,
                                      const conflict::Stamp& stamp) = 0;
  // Remembers the receipt of an accepted delta that took no version.
  virtual Result<void> remember(const Delta& delta, const std::string& actor, const Receipt& receipt, TimeMs now) = 0;
  virtual Result<void> commit() = 0;  // see KvWrite::commit
};

struct VerifyReport {
  std::string board;
  Version version = 0;
  std::uint64_t events = 0;
  std::uint64_t cells = 0;
  std::vector<std::string> defects;  // empty: chain whole, replay = state, digest fits
};

class Store {
 public:
  // Makes a new store (with a new epoch) in an empty `kv`, or checks and opens what is there. A backup that was not
  // opened before gets a new epoch.
  static Result<std::unique_ptr<Store>> open(std::unique_ptr<Kv> kv, Random& random);
  virtual ~Store() = default;

  virtual const std::string& epoch() const = 0;  // hex text
  virtual Result<std::unique_ptr<Snapshot>> snapshot() = 0;
  // The same for the thread that writes, which is not to wait until what it committed is written back. No batch can
  // begin while it lives.
  virtual Result<std::unique_ptr<Snapshot>> writer_snapshot() = 0;
  virtual Result<std::unique_ptr<Batch>> begin() = 0;
  // Replays the log of one board in memory and compares chain, cells, field records, trails and digest. At most 20
  // defects are told.
  virtual Result<VerifyReport> verify(const std::string& board) = 0;
  virtual Result<Kv::Usage> usage() = 0;
  // The ledger of erasures and deletions from `sequence` on, at most `count`.
  virtual Result<std::vector<Erasure>> erasures(std::uint64_t sequence, std::size_t count) = 0;
};

// Makes a store in an empty `kv`, or checks what is there and ends what a copy or an import left to do; gives its
// epoch.
Result<std::string> prepare_store(Kv& kv, Random& random);

// Gives the store in `kv` another epoch, as a copy that was put back needs: clients may know versions that it has not.
// Does nothing where there is no store yet.
Result<void> renew_epoch(Kv& kv, Random& random);

// A store that is only read: `begin` fails, and a backup stays one. Fault::not_found where none was made yet.
Result<std::unique_ptr<Store>> open_to_read(std::unique_ptr<Kv> kv, Random& random);

// Epoch given by the caller, for tests that need a known one.
Result<std::unique_ptr<Store>> open_store_with_epoch(std::unique_ptr<Kv> kv, Random& random, const std::string& epoch);

}  // namespace tafel::store
