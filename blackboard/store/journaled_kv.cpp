#include "blackboard/store/journaled_kv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <utility>

#include "blackboard/store/durable_files.hpp"
#include "blackboard/store/file_reader.hpp"
#include "blackboard/store/journal_mark.hpp"
#include "common/base/check.hpp"

namespace tafel::store {
namespace {

class JournaledKv final : public Kv {
 public:
  JournaledKv(std::unique_ptr<Kv> store, std::unique_ptr<Journal> journal, std::string id,
              const WriteBackLimits& limits)
      : store_(std::move(store)),
        journal_(std::move(journal)),
        journal_id_(std::move(id)),
        journaled_bytes_max_(std::min(limits.bytes_max, journal_->payload_bytes_max())),
        write_back_(*store_, *journal_, journal_id_, limits) {}

  Result<std::unique_ptr<KvRead>> read() override {
    if (auto written = write_back_.wait(); !written) return tl::unexpected(written.error());
    return store_->read();
  }

  Result<std::unique_ptr<KvWrite>> write() override;

  // What the unwritten takes is known only when it is written.
  Result<Usage> usage() override {
    if (auto written = write_back_.wait(); !written) return tl::unexpected(written.error());
    return store_->usage();
  }

  Result<Room> room() override {
    const auto unwritten = write_back_.unwritten();
    return room_beside(unwritten.bytes);
  }

  // Beside so many bytes that are still to be written into the store.
  Result<Room> room_beside(std::size_t unwritten) {
    auto room = store_->room();
    if (!room) return room;
    room->additions -= std::min<std::uint64_t>(room->additions, unwritten);
    room->removals -= std::min<std::uint64_t>(room->removals, unwritten);
    return room;
  }

  // All that is in the store then counts as what it takes there.
  Result<Room> room_when_written() {
    if (auto written = write_back_.wait(); !written) return tl::unexpected(written.error());
    return store_->room();
  }

  Result<void> commit(Changes changes, bool leaves_no_trace) {
    if (auto usable = write_back_.usable(); !usable) return usable;
    if (leaves_no_trace || changes.bytes() > journaled_bytes_max_) return commit_past_journal(changes, leaves_no_trace);
    if (auto room = write_back_.wait_for_room(); !room) return room;
    encode_changes(changes, record_);
    auto sequence = journal_->append(record_);
    if (!sequence && sequence.error().fault == Fault::full) {
      if (auto written = write_back_.wait(); !written) return written;
      sequence = journal_->append(record_);
    }
    if (!sequence) return broken_off(sequence.error());
    write_back_.add(std::move(changes), *sequence);
    return {};
  }

  void end_writing() { is_writing_ = false; }

 private:
  Result<void> commit_past_journal(const Changes& changes, bool wipes) {
    if (auto written = write_back_.wait(); !written) return written;
    if (wipes) {
      if (auto wiped = journal_->wipe(); !wiped) return broken_off(wiped.error());
    }
    const auto committed = write_into_store(*store_, changes, journal_id_, journal_->last() + 1);
    if (committed) journal_->skip();
    if (!committed && committed.error().fault != Fault::full) return broken_off(committed.error());
    return committed;
  }

  tl::unexpected<Failure> broken_off(const Failure& cause) {
    write_back_.break_off({Fault::io, fmt::format("a commit failed and the state on disk is unknown: open the store "
                                                  "anew ({})",
                                                  cause.message)});
    return fail(Fault::io, fmt::format("the store can not commit: {}", cause.message));
  }

  std::unique_ptr<Kv> store_;
  std::unique_ptr<Journal> journal_;
  const std::string journal_id_;
  const std::size_t journaled_bytes_max_;  // a larger transaction passes the journal by
  std::string record_;                     // of the commit that runs; kept for its memory
  std::atomic<bool> is_writing_ = false;
  WriteBack write_back_;  // last, so that it ends first
};

class JournaledWrite final : public KvWrite {
 public:
  JournaledWrite(JournaledKv& kv, WriteBack::Unwritten unwritten, std::unique_ptr<KvRead> below, Kv::Room room)
      : kv_(kv),
        unwritten_(std::move(unwritten)),
        below_(std::move(below)),
        layers_{&changes_, unwritten_.newer.get(), unwritten_.older.get()},
        room_(room),
        is_room_whole_(unwritten_.bytes == 0) {}
  ~JournaledWrite() override { kv_.end_writing(); }

  Result<std::optional<std::string>> get(Table table, std::string_view key) override {
    if (is_closed_) return closed_failure();
    return get_through(layers_, *below_, table, key);
  }

  Result<void> scan(Table table, std::string_view from, const Visitor& visit) override {
    if (is_closed_) return closed_failure();
    return scan_through(layers_, *below_, table, from, visit);
  }

  Result<void> put(Table table, std::string_view key, std::string_view value) override {
    if (is_closed_) return closed_failure();
    check_key(key);
    added_ += key.size() + value.size();
    const auto fits = has_room();
    if (!fits || !*fits) is_closed_ = true;  // without this put, nothing of it is to be committed
    if (!fits) return tl::unexpected(fits.error());
    if (!*fits) return fail(Fault::full, "the store is full: its quota or the disk has no room left");
    changes_.put(table, key, value);
    return {};
  }

  Result<void> erase(Table table, std::string_view key) override {
    if (is_closed_) return closed_failure();
    check_key(key);
    changes_.erase(table, key);
    return {};
  }

  void use_reserve(bool use) override { uses_reserve_ = use; }
  void ignore_quota() override { ignores_quota_ = true; }
  void leave_no_trace() override { leaves_no_trace_ = true; }

  Result<void> commit() override {
    if (is_closed_) return closed_failure();
    is_closed_ = true;
    if (changes_.empty() && !leaves_no_trace_) return {};
    return kv_.commit(std::move(changes_), leaves_no_trace_);
  }

 private:
  static tl::unexpected<Failure> closed_failure() { return fail(Fault::closed, "the transaction has ended"); }
  static void check_key(std::string_view key) {
    TAFEL_CHECK(!key.empty() && key.size() <= key_bytes_max, "a key has 1 to 511 bytes");
  }

  // How much room the unwritten takes is known only when it is written, and nothing is to be refused for a guess.
  Result<bool> has_room() {
    const auto fits = [&] { return ignores_quota_ || added_ <= (uses_reserve_ ? room_.removals : room_.additions); };
    if (fits()) return true;
    if (is_room_whole_) return false;
    const auto room = kv_.room_when_written();
    if (!room) return tl::unexpected(room.error());
    room_ = *room;
    is_room_whole_ = true;
    return fits();
  }

  JournaledKv& kv_;
  const WriteBack::Unwritten unwritten_;
  const std::unique_ptr<KvRead> below_;
  Changes changes_;
  const std::array<const Changes*, 3> layers_;
  Kv::Room room_;
  bool is_room_whole_;
  std::uint64_t added_ = 0;
  bool uses_reserve_ = false;
  bool ignores_quota_ = false;
  bool leaves_no_trace_ = false;
  bool is_closed_ = false;
};

Result<std::unique_ptr<KvWrite>> JournaledKv::write() {
  if (auto usable = write_back_.usable(); !usable) return tl::unexpected(usable.error());
  if (is_writing_.exchange(true)) return fail(Fault::busy, "another transaction is writing");
  // The layers first: what leaves them meanwhile is in the snapshot that comes after.
  auto unwritten = write_back_.unwritten();
  const auto room = room_beside(unwritten.bytes);
  auto below = store_->read();
  if (room && below) return std::make_unique<JournaledWrite>(*this, std::move(unwritten), std::move(*below), *room);
  end_writing();
  return tl::unexpected(room ? below.error() : room.error());
}

constexpr const char* way_on = "put the file back that belongs to the store, or go on from a backup";

// What is wrong with the file of the journal, and what can be done.
tl::unexpected<Failure> explained(const std::filesystem::path& file, const Failure& failure) {
  if (failure.fault == Fault::not_found)
    return fail(Fault::bad_bytes,
                fmt::format("{} is missing: what was committed last may stand there alone; {}", file.string(), way_on));
  if (failure.fault == Fault::bad_bytes) return fail(Fault::bad_bytes, fmt::format("{}; {}", failure.message, way_on));
  return tl::unexpected(failure);
}

Result<void> make_journal(Kv& store, const std::filesystem::path& file, Random& random, std::uint64_t bytes) {
  // One that no store names holds nothing that was acknowledged.
  std::error_code error;
  std::filesystem::remove(file, error);
  if (error) return io_failure("remove", file, error.value());
  const std::string id = random.bytes(Journal::id_bytes);
  if (auto made = Journal::make(file, bytes, id); !made) return made;
  if (auto synced = sync(file.parent_path()); !synced) return synced;
  return write_into_store(store, {}, id, 0);
}

// Adds up the records of a journal.
Result<void> absorb_record(Changes& changes, std::uint64_t sequence, std::string_view payload) {
  auto decoded = decode_changes(payload);
  if (!decoded)
    return fail(Fault::bad_bytes, fmt::format("record {} of the journal: {}", sequence, decoded.error().message));
  changes.absorb(std::move(*decoded));
  return {};
}

Result<std::optional<JournalMark>> mark_of(Kv& store) {
  const auto read = store.read();
  if (!read) return tl::unexpected(read.error());
  return read_mark(**read);
}

// Writes into the store what stands in the journal alone.
Result<void> replay(Kv& store, Journal& journal, const JournalMark& mark) {
  if (journal.last() == mark.covered) return {};
  Changes changes;
  const auto replayed = journal.replay(
      [&](std::uint64_t sequence, std::string_view payload) { return absorb_record(changes, sequence, payload); });
  if (!replayed) return replayed;
  if (auto written = write_into_store(store, changes, mark.id, journal.last()); !written) return written;
  journal.release(journal.last());
  return {};
}

// A snapshot with changes that are not in it.
class ReadWithChanges final : public KvRead {
 public:
  ReadWithChanges(std::unique_ptr<KvRead> below, Changes changes)
      : below_(std::move(below)), changes_(std::move(changes)), layers_{&changes_} {}

  Result<std::optional<std::string>> get(Table table, std::string_view key) override {
    return get_through(layers_, *below_, table, key);
  }
  Result<void> scan(Table table, std::string_view from, const Visitor& visit) override {
    return scan_through(layers_, *below_, table, from, visit);
  }

 private:
  const std::unique_ptr<KvRead> below_;
  const Changes changes_;
  const std::array<const Changes*, 1> layers_;
};

// One look at the journal, and at the store after it: what a server wrote over in the journal meanwhile is in the store
// by then.
struct Look {
  std::unique_ptr<KvRead> read;
  Changes changes;        // behind what the snapshot covers
  std::uint64_t gap = 0;  // the first record that is missing before others; 0: none
};
Result<Look> look_at(Kv& store, const std::filesystem::path& file) {
  const auto before = mark_of(store);
  if (!before) return tl::unexpected(before.error());
  std::map<std::uint64_t, std::string> records;
  if (*before) {
    const auto reader = FileReader::open(file);
    if (!reader) return explained(file, reader.error());
    auto found = Journal::records_now(*reader, (*before)->id, (*before)->covered);
    if (!found)
      return explained(file, {found.error().fault, fmt::format("{}: {}", file.string(), found.error().message)});
    records = std::move(*found);
  }
  auto read = store.read();
  if (!read) return tl::unexpected(read.error());
  if (!*before) return Look{std::move(*read), {}, 0};
  const auto mark = read_mark(**read);
  if (!mark) return tl::unexpected(mark.error());
  Look look{std::move(*read), {}, 0};
  std::uint64_t last = *mark ? (*mark)->covered : 0;
  for (auto next = records.find(last + 1); next != records.end(); next = records.find(last + 1)) {
    if (auto absorbed = absorb_record(look.changes, ++last, next->second); !absorbed)
      return tl::unexpected(absorbed.error());
  }
  if (!records.empty() && records.rbegin()->first > last) look.gap = last + 1;
  return look;
}

}  // namespace

Result<std::unique_ptr<Kv>> open_journaled(std::unique_ptr<Kv> store, const std::filesystem::path& file, Random& random,
                                           const JournalOptions& options) {
  auto mark = mark_of(*store);
  if (mark && !*mark) {
    if (auto made = make_journal(*store, file, random, options.bytes); !made) return tl::unexpected(made.error());
    mark = mark_of(*store);
  }
  if (!mark) return tl::unexpected(mark.error());
  auto journal = Journal::open(file, (*mark)->id, (*mark)->covered);
  if (!journal) return explained(file, journal.error());
  if (auto replayed = replay(*store, **journal, **mark); !replayed) return tl::unexpected(replayed.error());
  return std::make_unique<JournaledKv>(std::move(store), std::move(*journal), (*mark)->id, options.write_back);
}

// What comes while the file is read may show behind a gap; what shows at one look must be there with all before it at
// the next.
Result<std::unique_ptr<KvRead>> read_with_journal(Kv& store, const std::filesystem::path& file) {
  auto look = look_at(store, file);
  for (int i = 1; look && look->gap != 0 && i < limits::journal_reads_max; ++i) {
    const std::uint64_t gap = look->gap;
    look = look_at(store, file);
    if (look && look->gap == gap)
      return explained(file,
                       {Fault::bad_bytes, fmt::format("{} lacks record {} and goes on behind it", file.string(), gap)});
  }
  if (!look) return tl::unexpected(look.error());
  if (look->changes.empty()) return std::move(look->read);
  return std::make_unique<ReadWithChanges>(std::move(look->read), std::move(look->changes));
}

}  // namespace tafel::store
