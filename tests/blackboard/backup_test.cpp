// Backups and compaction: what a copy holds, what it does not, and what a crash in the middle leaves.
#include "blackboard/store/backup.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "blackboard/store/deep_verify.hpp"
#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"
#include "tests/blackboard/store_fixture.hpp"
#include "tests/effort.hpp"

namespace tafel::store {
namespace {

namespace fs = std::filesystem;
using testing::fault_of;
using testing::is_same;
using testing::must;
using testing::NaiveHistory;
using testing::OnDisk;
using testing::OpenStore;
using testing::RandomChanges;
using testing::set_leaf;
using testing::unbounded;

struct BackupTest : ::testing::Test {
  OpenStore<OnDisk> store;
  testing::TemporaryDirectory folder;
  fs::path data = store.place().options().directory;
  fs::path copy = folder.path() / "copy";
  SeededRandom random{9};

  void grow(const std::string& board, int versions, std::uint64_t seed) {
    RandomChanges changes(seed);
    NaiveHistory history;
    for (int i = 0; i < versions; ++i) {
      const auto next = changes.next(history);
      store.commit(board, next, "id" + std::to_string(i));
      history.apply(history.version() + 1, next);
    }
  }
  std::unique_ptr<Store> open(const fs::path& directory) {
    LmdbOptions options = store.place().options();
    options.directory = directory;
    return must(Store::open(must(open_disk(options, random, testing::small_journal())), random));
  }
  // Everything of both stores, record by record.
  static void expect_same(Store& left, Store& right) {
    const auto first = must(left.snapshot());
    const auto second = must(right.snapshot());
    const auto boards = must(first->boards("", 100));
    ASSERT_EQ(boards.size(), must(second->boards("", 100)).size());
    for (const BoardSummary& board : boards) {
      const std::string& id = board.board;
      EXPECT_EQ(must(first->event_records(id, 1, 10'000, unbounded)),
                must(second->event_records(id, 1, 10'000, unbounded)));
      EXPECT_TRUE(is_same(must(first->load(id, {}, {}, unbounded)), must(second->load(id, {}, {}, unbounded))));
      EXPECT_EQ(must(right.verify(id)).defects, std::vector<std::string>());
    }
  }
  std::size_t bytes_of(const fs::path& directory) { return fs::file_size(directory / "store" / "data.mdb"); }
};

TEST_F(BackupTest, ACopyIsTheSameStoreUnderAnotherEpoch) {
  grow("acme/旅行/1", 60, 1);
  grow("acme/旅行/2", 5, 2);
  const std::string epoch = store->epoch();
  store.close();
  const auto report = must(back_up(data, copy));
  EXPECT_EQ(report.counts.boards, 2U);
  EXPECT_EQ(report.counts.versions, 65U);
  EXPECT_GT(report.counts.bytes, 1000U);
  EXPECT_EQ(testing::read_file(copy / "erasures.jsonl"), "");
  EXPECT_FALSE(fs::exists(folder.path() / "copy.partial"));
  EXPECT_EQ(must(verify_deep(copy)).defects, std::vector<std::string>());

  store.reopen();
  EXPECT_EQ(store->epoch(), epoch);
  auto copied = open(copy);
  const std::string its_epoch = copied->epoch();
  EXPECT_NE(its_epoch, epoch);
  expect_same(*store, *copied);
  EXPECT_TRUE(must(must(copied->begin())->known_receipt("acme/旅行/1", "planner", "id3")));
  copied.reset();
  EXPECT_EQ(open(copy)->epoch(), its_epoch) << "only the first server that opens it gives it a new one";
}

TEST_F(BackupTest, AToolThatOnlyReadsLeavesACopyACopy) {
  grow("b", 3, 1);
  store.close();
  must(back_up(data, copy));
  LmdbOptions options;
  options.directory = copy;
  const auto epoch = must(open_to_read(must(open_disk_reader(options)), random))->epoch();
  EXPECT_NE(open(copy)->epoch(), epoch);
}

TEST_F(BackupTest, ABackupOfABackupIsOne) {
  grow("b", 10, 3);
  store.close();
  must(back_up(data, copy));
  must(back_up(copy, folder.path() / "second/"));
  const auto second = open(folder.path() / "second");
  const std::string epoch = second->epoch();
  const auto first = open(copy);
  EXPECT_NE(first->epoch(), epoch);
  expect_same(*first, *second);
}

TEST_F(BackupTest, NeverWritesOverWhatIsThere) {
  grow("b", 3, 1);
  store.close();
  fs::create_directory(copy);
  EXPECT_EQ(fault_of(back_up(data, copy)), "refused");
  fs::remove(copy);
  const fs::path partial = folder.path() / "copy.partial";
  fs::create_directory(partial);
  testing::write_file(partial / "photos.jpg", "mine");
  EXPECT_EQ(fault_of(back_up(data, copy)), "refused");
  EXPECT_EQ(testing::read_file(partial / "photos.jpg"), "mine");
  fs::remove(partial / "photos.jpg");
  fs::create_directory(partial / "store.new");  // of a backup that was killed
  testing::write_file(partial / "store.new" / "data.mdb", "half");
  must(back_up(data, copy));
  EXPECT_EQ(must(verify_deep(copy)).defects, std::vector<std::string>());
}

TEST_F(BackupTest, GoesNowhereIntoTheDirectoryThatItIsOf) {
  grow("b", 3, 1);
  store.close();
  fs::create_directory_symlink(data, folder.path() / "link");
  for (const fs::path& inside :
       {data / "copy", data / "store" / "copy", data / "x" / ".." / "copy", folder.path() / "link" / "copy"})
    EXPECT_EQ(fault_of(back_up(data, inside)), "bad_config") << inside;
  EXPECT_EQ(fault_of(back_up(data, "")), "bad_config");
  must(back_up(data, folder.path() / "data-copy"));
}

TEST_F(BackupTest, SaysWhereThereIsNoStore) {
  EXPECT_EQ(fault_of(back_up(folder.path() / "nowhere", copy)), "not_found");
  EXPECT_EQ(fault_of(compact(folder.path() / "nowhere", random)), "not_found");
  EXPECT_EQ(fault_of(compact(folder.path(), random)), "not_found");
  EXPECT_EQ(fault_of(verify_deep(folder.path())), "not_found");
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_FALSE(fs::exists(folder.path() / "copy.partial"));
}

TEST_F(BackupTest, ADamagedRecordIsCopiedNowhere) {
  grow("b", 20, 1);
  store.close();
  {
    const auto kv = store.place().open();
    const auto write = must(kv->write());
    must(write->put(Table::events, event_key(BoardNumber{1}, 7), "no event"));
    must(write->commit());
  }
  const auto copied = back_up(data, copy);
  ASSERT_FALSE(copied);
  EXPECT_NE(copied.error().message.find("table events"), std::string::npos) << copied.error().message;
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_FALSE(fs::exists(folder.path() / "copy.partial"));
  EXPECT_EQ(fault_of(compact(data, random)), "bad_bytes");
  EXPECT_FALSE(must(verify_deep(data)).defects.empty());
}

TEST_F(BackupTest, ACompactedStoreIsTheSameAndSmaller) {
  grow("acme/旅行/1", 40, 1);
  for (int i = 0; i < 200; ++i)
    store.commit("big", {set_leaf("a", std::string(20'000, 'x'), 1 + static_cast<Version>(i))});
  const std::string epoch = store->epoch();
  const auto before = must(must(store->snapshot())->event_records("acme/旅行/1", 1, 100, unbounded));
  EXPECT_EQ(fault_of(compact(data, random)), "locked");
  store.close();
  const auto report = must(compact(data, random));
  EXPECT_EQ(report.bytes_after, bytes_of(data));
  EXPECT_LE(report.bytes_after, report.bytes_before);
  for (const char* left : {"store.new", "store.old"}) EXPECT_FALSE(fs::exists(data / left));
  EXPECT_EQ(must(verify_deep(data)).defects, std::vector<std::string>());
  store.reopen();
  EXPECT_EQ(store->epoch(), epoch);
  EXPECT_EQ(must(must(store->snapshot())->event_records("acme/旅行/1", 1, 100, unbounded)), before);
  EXPECT_EQ(store.defects("big"), std::vector<std::string>());
  store.commit("big", {set_leaf("a", 1, 201)});
}

// What a replacement leaves when it is cut off between any two of its steps.
TEST_F(BackupTest, AReplacementThatWasCutOffIsEndedOrUndone) {
  grow("b", 10, 5);
  store.close();
  must(back_up(data, copy));
  const fs::path old = data / "store.old";
  const fs::path fresh = data / "store.new";
  fs::copy(copy / "store", fresh);
  fs::remove(fresh / "data.mdb");  // not whole yet
  store.reopen();
  EXPECT_EQ(store.head("b").version, 10U);
  store.close();
  EXPECT_FALSE(fs::exists(fresh));

  fs::copy(copy / "store", fresh);
  fs::rename(data / "store", old);  // the new one is whole, and not in place yet
  store.reopen();
  EXPECT_EQ(store.head("b").version, 10U);
  store.close();
  EXPECT_FALSE(fs::exists(old));

  fs::copy(data / "store", old);  // only the old one is still to go
  store.reopen();
  EXPECT_EQ(store.head("b").version, 10U);
  EXPECT_FALSE(fs::exists(old));
}

// Runs `work` in a process that is killed after a while; true when it was still at it.
bool kill_during(const std::function<void()>& work, std::chrono::microseconds after) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  std::this_thread::sleep_for(after);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

TEST_F(BackupTest, AKillInTheMiddleLeavesTheSourceWholeAndNoHalfCopy) {
  grow("acme/旅行/1", 30, 1);
  for (int i = 0; i < 150; ++i)
    store.commit("big", {set_leaf("a", std::string(30'000, 'x'), 1 + static_cast<Version>(i))});
  const Head head = store.head("big");
  store.close();
  std::mt19937_64 chance(17);
  int killed = 0;
  for (int round = 0; round < 4 * effort; ++round) {
    const bool compacts = round % 2 == 0;
    killed += kill_during(
        [&] { compacts ? static_cast<void>(compact(data, random)) : static_cast<void>(back_up(data, copy)); },
        std::chrono::microseconds(chance() % 60'000));
    ASSERT_EQ(must(verify_deep(data)).defects, std::vector<std::string>()) << "round " << round;
    store.reopen();
    ASSERT_EQ(store.head("big").hash, head.hash) << "round " << round;
    store.close();
    if (!fs::exists(copy)) continue;
    ASSERT_EQ(must(verify_deep(copy)).defects, std::vector<std::string>()) << "round " << round;
    ASSERT_EQ(must(open(copy)->verify("big")).version, head.version);
    fs::remove_all(copy);
  }
  EXPECT_GT(killed, 0) << "no process was killed while it worked";
}

TEST_F(BackupTest, ACopyHoldsWhatStandsInTheJournalAloneAndNamesNone) {
  grow("b", 5, 1);
  store.close();
  const pid_t child = ::fork();
  if (child == 0) {
    JournalOptions lazy = testing::small_journal();
    lazy.write_back.age_ms = 3'600'000;
    const auto writer = must(Store::open(must(open_disk(store.place().options(), random, lazy)), random));
    const auto batch = must(writer->begin());
    must(batch->append(testing::delta_for("b", "last"), testing::judgement_of({set_leaf("z", "last", 6)}),
                       testing::stamp_at(1000)));
    must(batch->commit());
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  const auto report = must(verify_deep(data));
  EXPECT_EQ(report.defects, std::vector<std::string>());
  EXPECT_EQ(report.versions, 6U);
  const auto names_a_journal = [&](const fs::path& directory) {
    LmdbOptions options = store.place().options();
    options.directory = directory;
    const auto raw = must(open_lmdb(options));
    return must(must(raw->read())->get(Table::meta, meta_journal)).has_value() ||
           fs::exists(directory / "store" / "journal");
  };
  EXPECT_TRUE(names_a_journal(data));
  EXPECT_EQ(must(back_up(data, copy)).counts.versions, 6U);
  EXPECT_FALSE(names_a_journal(copy));
  EXPECT_EQ(must(compact(data, random)).counts.versions, 6U);
  EXPECT_FALSE(names_a_journal(data));
  store.reopen();
  expect_same(*store, *open(copy));
  EXPECT_EQ(store.head("b").version, 6U);
}

TEST_F(BackupTest, AReaderThatWasKilledKeepsNoPages) {
  grow("b", 30, 1);
  const bool killed = kill_during(
      [&] {
        LmdbOptions options;
        options.directory = data;
        const auto kv = must(open_disk_reader(options));
        const auto read = must(kv->read());
        for (;;) ::pause();
      },
      std::chrono::milliseconds(300));
  ASSERT_TRUE(killed);
  for (int i = 0; i < 700; ++i)
    store.commit("c", {set_leaf("a", std::string(2'000, 'x'), 1 + static_cast<Version>(i))});
  const auto usage = must(store->usage());
  const std::size_t events = 700 * 8'000;  // each stands in op, change, cell and receipt at most
  EXPECT_LT(bytes_of(data), 3 * events) << usage.bytes;
}

}  // namespace
}  // namespace tafel::store
