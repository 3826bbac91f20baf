// A journal before a store: what readers and the writer see while it is not written back, and what is found again
// wherever the process ends.
#include "blackboard/store/journaled_kv.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "blackboard/store/journal_mark.hpp"
#include "blackboard/store/layout.hpp"
#include "tests/blackboard/hooked_kv.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::fault_of;
using testing::HookedKv;
using testing::Hooks;
using testing::must;
using testing::read_file;

using Entries = std::map<std::string, std::string>;

constexpr std::int64_t never = 24LL * 3600 * 1000;  // for which nothing is written back that nobody asks for

Entries entries_of(KvRead& kv, Table table = Table::parts) {
  Entries entries;
  must(kv.scan(table, {}, [&](std::string_view key, std::string_view value) {
    entries.emplace(key, value);
    return true;
  }));
  return entries;
}

Result<void> try_put(Kv& kv, const std::string& key, const std::string& value) {
  const auto write = kv.write();
  if (!write) return tl::unexpected(write.error());
  if (auto put = (*write)->put(Table::parts, key, value); !put) return put;
  return (*write)->commit();
}

void erase(Kv& kv, const std::string& key) {
  const auto write = must(kv.write());
  must(write->erase(Table::parts, key));
  must(write->commit());
}

// A gate that commits of the store below stop at, and that tells how many came.
class Gate {
 public:
  explicit Gate(Hooks& hooks) {
    hooks.before_commit = [this] {
      std::unique_lock lock(mutex_);
      ++arrived_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return is_open_; });
    };
  }

  void close() { set(false); }
  void open() { set(true); }
  void wait_for(std::size_t arrivals) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= arrivals; });
  }
  std::size_t arrived() {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }

 private:
  void set(bool is_open) {
    const std::lock_guard lock(mutex_);
    is_open_ = is_open;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t arrived_ = 0;
  bool is_open_ = true;
};

// On a store in memory, whose disk can be looked at beside it.
class JournaledKvTest : public ::testing::Test {
 protected:
  JournaledKvTest() { options_.write_back.age_ms = never; }

  Result<std::unique_ptr<Kv>> try_open() {
    SeededRandom random(1);
    return open_journaled(std::make_unique<HookedKv>(open_memory(disk_), hooks_), journal_, random, options_);
  }
  void open() {
    kv_ = must(try_open());
    made_ = gate_.arrived();
  }
  // Ends it without a word, as a crash does: the last write-back fails, and the disk is left as it was.
  void crash() {
    fail_commit(*disk_, 1, Fault::io);
    kv_.reset();
    fail_commit(*disk_, 0, Fault::io);
  }
  void put(const std::string& key, const std::string& value) { must(try_put(*kv_, key, value)); }
  Entries below() { return entries_of(*must(open_memory(disk_)->read())); }
  Entries seen_by_the_writer() { return entries_of(*must(kv_->write())); }
  std::size_t write_backs() { return gate_.arrived() - made_; }

  testing::TemporaryDirectory folder_;
  std::filesystem::path journal_ = folder_.path() / "journal";
  std::shared_ptr<MemoryKv> disk_ = make_memory_disk();
  std::shared_ptr<Hooks> hooks_ = std::make_shared<Hooks>();
  Gate gate_{*hooks_};
  JournalOptions options_ = testing::small_journal();
  std::unique_ptr<Kv> kv_;
  std::size_t made_ = 0;  // commits before the first of the test
};

TEST_F(JournaledKvTest, AReaderWaitsForWhatWasCommittedBeforeIt) {
  open();
  put("a", "1");
  put("b", "2");
  EXPECT_EQ(below(), Entries());
  EXPECT_EQ(entries_of(*must(kv_->read())), (Entries{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(below(), (Entries{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(write_backs(), 1U);
  for (int i = 0; i < 5; ++i) must(kv_->read());
  EXPECT_EQ(write_backs(), 1U) << "there was nothing more to be written";
}

TEST_F(JournaledKvTest, TheWriterSeesAllLayers) {
  open();
  for (const char* key : {"a", "b", "c", "d"}) put(key, "store");
  must(kv_->read());
  gate_.close();
  put("b", "older");
  erase(*kv_, "c");
  put("e", "older");
  auto reader = std::async(std::launch::async, [&] { return entries_of(*must(kv_->read())); });
  gate_.wait_for(made_ + 2);  // from here on a write-back runs
  put("e", "newer");
  put("f", "newer");
  erase(*kv_, "a");
  {
    const auto write = must(kv_->write());
    must(write->put(Table::parts, "c", "own"));
    must(write->erase(Table::parts, "f"));
    EXPECT_EQ(entries_of(*write), (Entries{{"b", "older"}, {"c", "own"}, {"d", "store"}, {"e", "newer"}}));
    EXPECT_EQ(must(write->get(Table::parts, "e")), "newer");
    EXPECT_EQ(must(write->get(Table::parts, "a")), std::nullopt);
  }
  const Entries committed{{"b", "older"}, {"d", "store"}, {"e", "newer"}, {"f", "newer"}};
  EXPECT_EQ(seen_by_the_writer(), committed) << "what was given up has left nothing";
  EXPECT_EQ(below(), (Entries{{"a", "store"}, {"b", "store"}, {"c", "store"}, {"d", "store"}}));
  gate_.open();
  EXPECT_EQ(reader.get(), (Entries{{"a", "store"}, {"b", "older"}, {"d", "store"}, {"e", "older"}}));
  EXPECT_EQ(entries_of(*must(kv_->read())), committed);
}

TEST_F(JournaledKvTest, ATransactionKeepsItsViewWhileAWriteBackEnds) {
  open();
  put("a", "1");
  {
    const auto write = must(kv_->write());
    must(kv_->read());  // now it stands in the store
    EXPECT_EQ(entries_of(*write), (Entries{{"a", "1"}}));
    must(write->put(Table::parts, "b", "2"));
    must(write->commit());
  }
  EXPECT_EQ(seen_by_the_writer(), (Entries{{"a", "1"}, {"b", "2"}}));
}

TEST_F(JournaledKvTest, ReadersShareAWriteBack) {
  open();
  gate_.close();
  put("a", "1");
  std::vector<std::future<Entries>> readers;
  const auto read = [&] { return entries_of(*must(kv_->read())); };
  readers.push_back(std::async(std::launch::async, read));
  gate_.wait_for(made_ + 1);
  put("b", "2");
  for (int i = 0; i < 4; ++i) readers.push_back(std::async(std::launch::async, read));
  gate_.open();
  EXPECT_EQ(readers.front().get().count("a"), 1U);
  for (std::size_t i = 1; i < readers.size(); ++i) EXPECT_EQ(readers[i].get(), (Entries{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(write_backs(), 2U);
}

TEST_F(JournaledKvTest, WhatNobodyReadsIsWrittenBackWhenItIsOldOrMuch) {
  options_.write_back.age_ms = 1;
  open();
  put("a", "1");
  gate_.wait_for(made_ + 1);
  crash();
  options_.write_back.age_ms = never;
  open();
  EXPECT_EQ(below(), (Entries{{"a", "1"}}));
  for (int i = 0; i < 8; ++i) put("key" + std::to_string(i), std::string(options_.write_back.bytes / 8, 'x'));
  gate_.wait_for(made_ + 1);
}

TEST_F(JournaledKvTest, NothingIsWrittenForATransactionThatChangesNothing) {
  open();
  const std::string before = read_file(journal_);
  must(must(kv_->write())->commit());
  must(kv_->read());
  EXPECT_EQ(write_backs(), 0U);
  EXPECT_EQ(read_file(journal_), before);
}

TEST_F(JournaledKvTest, ClosingWritesEverythingBack) {
  open();
  put("a", "1");
  kv_.reset();
  EXPECT_EQ(below(), (Entries{{"a", "1"}}));
}

TEST_F(JournaledKvTest, AFullJournalOrMemoryWaitsForTheWriteBack) {
  options_.bytes = 9 * Journal::block_bytes;
  for (const bool is_little_memory : {false, true}) {
    if (is_little_memory) {
      options_.bytes = 1024 * Journal::block_bytes;
      options_.write_back.bytes_max = 500;
    }
    open();
    Entries model = below();
    for (int i = 0; i < 50; ++i) {
      const std::string key = "key" + std::to_string(i % 20);
      put(key, std::to_string(i));
      model[key] = std::to_string(i);
    }
    EXPECT_GE(write_backs(), 5U);
    crash();
    open();
    EXPECT_EQ(below(), model);
    kv_.reset();
    disk_ = make_memory_disk();
  }
}

TEST_F(JournaledKvTest, ALargeTransactionPassesTheJournalByInItsTurn) {
  open();
  const std::string large(options_.write_back.bytes_max + 1, 'x');
  put("a", "small");
  put("b", "small");
  put("b", large);
  EXPECT_EQ(below(), (Entries{{"a", "small"}, {"b", large}})) << "durable, so in the store already";
  put("a", "after");
  crash();
  open();
  EXPECT_EQ(below(), (Entries{{"a", "after"}, {"b", large}}));
  put("c", large);
  crash();
  open();
  EXPECT_EQ(below(), (Entries{{"a", "after"}, {"b", large}, {"c", large}}));
}

TEST_F(JournaledKvTest, WhatIsToLeaveNoTraceIsInNoBlockOfTheJournal) {
  open();
  const std::string canary = "出生证明编号一九九四";
  for (int i = 0; i < 30; ++i) put("key" + std::to_string(i), std::string(200, 'x') + canary);
  for (int i = 0; i < 30; ++i) erase(*kv_, "key" + std::to_string(i));
  EXPECT_NE(read_file(journal_).find(canary), std::string::npos);
  {
    const auto write = must(kv_->write());
    must(write->put(Table::meta, "done", "1"));
    must(write->erase(Table::parts, canary));
    write->leave_no_trace();
    must(write->commit());
  }
  EXPECT_EQ(read_file(journal_).find(canary), std::string::npos);
  EXPECT_EQ(must(must(open_memory(disk_)->read())->get(Table::meta, "done")), "1");
  put("after", "1");
  crash();
  open();
  EXPECT_EQ(below(), (Entries{{"after", "1"}}));
  EXPECT_EQ(read_file(journal_).find(canary), std::string::npos);
}

TEST_F(JournaledKvTest, AFailedWriteBackEndsTheHandleAndLosesNothing) {
  for (const Fault fault : {Fault::io, Fault::full, Fault::bad_bytes}) {
    open();
    put("a", fault_name(fault));
    fail_commit(*disk_, 1, fault);
    EXPECT_EQ(fault_of(kv_->read()), "io");
    EXPECT_EQ(fault_of(kv_->read()), "io");
    EXPECT_EQ(fault_of(kv_->write()), "io");
    EXPECT_EQ(fault_of(try_put(*kv_, "b", "2")), "io");
    kv_.reset();
    open();
    EXPECT_EQ(below(), (Entries{{"a", fault_name(fault)}}));
    kv_.reset();
  }
}

TEST_F(JournaledKvTest, ACommitThatWaitsForAFailedWriteBackFails) {
  open();
  put("a", "1");
  fail_commit(*disk_, 1, Fault::io);
  EXPECT_EQ(fault_of(try_put(*kv_, "b", std::string(options_.write_back.bytes_max + 1, 'x'))), "io");
  EXPECT_EQ(fault_of(kv_->read()), "io");
}

TEST_F(JournaledKvTest, AFailedAppendEndsTheHandle) {
  open();
  put("a", "1");
  {
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit none{0, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);  // so that each write fails, as on a broken disk
    const auto put = try_put(*kv_, "b", "2");
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
    EXPECT_EQ(fault_of(put), "io");
  }
  EXPECT_EQ(fault_of(try_put(*kv_, "c", "the disk works again, but what is on it is unknown")), "io");
  EXPECT_EQ(fault_of(kv_->read()), "io");
  kv_.reset();
  open();
  EXPECT_EQ(below(), (Entries{{"a", "1"}}));
}

TEST_F(JournaledKvTest, ATornRecordIsNone) {
  open();
  put("a", "1");
  put("b", "2");
  crash();
  std::string bytes = read_file(journal_);
  bytes[2 * Journal::block_bytes + 30] ^= 1;  // of the second record
  testing::write_file(journal_, bytes);
  open();
  EXPECT_EQ(below(), (Entries{{"a", "1"}})) << "the second one was never acknowledged";
}

TEST_F(JournaledKvTest, AMissingJournalIsNotMadeAnew) {
  open();
  put("a", "1");
  crash();
  std::filesystem::remove(journal_);
  const auto opened = try_open();
  EXPECT_EQ(fault_of(opened), "bad_bytes");
  EXPECT_NE(opened.error().message.find("is missing: what was committed last may stand there alone; put the file back"),
            std::string::npos)
      << opened.error().message;
  EXPECT_FALSE(std::filesystem::exists(journal_));
}

TEST_F(JournaledKvTest, AnotherStoresJournalIsRefused) {
  open();
  put("a", "1");
  crash();
  std::filesystem::remove(journal_);
  SeededRandom random(2);
  must(open_journaled(open_memory(make_memory_disk()), journal_, random, options_));
  const std::string foreign = read_file(journal_);
  const auto opened = try_open();
  EXPECT_EQ(fault_of(opened), "bad_bytes");
  EXPECT_NE(opened.error().message.find("not the journal of the store"), std::string::npos) << opened.error().message;
  EXPECT_EQ(read_file(journal_), foreign) << "it is left alone";
}

TEST_F(JournaledKvTest, AnOlderStoreThanTheJournalIsRefused) {
  options_.bytes = 6 * Journal::block_bytes;
  open();
  put("a", "1");
  must(kv_->read());
  const auto mark = must(read_mark(*must(open_memory(disk_)->read())));
  ASSERT_TRUE(mark);
  const auto with_older_mark = [&] {
    const auto kv = open_memory(disk_);
    const auto write = must(kv->write());
    must(put_mark(*write, *mark));
    must(write->commit());
  };
  for (int i = 0; i < 9; ++i) put("b", std::to_string(i));  // round and over what the mark needs
  kv_.reset();
  with_older_mark();
  const auto opened = try_open();
  EXPECT_EQ(fault_of(opened), "bad_bytes");
  EXPECT_NE(opened.error().message.find("belongs to a newer state"), std::string::npos) << opened.error().message;
}

TEST_F(JournaledKvTest, AStoreOlderThanATransactionThatPassedByIsRefused) {
  open();
  put("a", "1");
  must(kv_->read());
  const auto mark = must(read_mark(*must(open_memory(disk_)->read())));
  put("b", std::string(options_.write_back.bytes_max + 1, 'x'));
  put("c", "3");
  crash();
  const auto kv = open_memory(disk_);
  {
    const auto write = must(kv->write());
    must(put_mark(*write, *mark));
    must(write->commit());
  }
  EXPECT_EQ(fault_of(try_open()), "bad_bytes");
}

TEST_F(JournaledKvTest, AStoreWithoutAMarkGetsAJournalOfItsOwn) {
  testing::write_file(journal_, "left by a store that is not there any more");
  open();
  put("a", "1");
  crash();
  open();
  EXPECT_EQ(below(), (Entries{{"a", "1"}}));
}

TEST_F(JournaledKvTest, ARecordThatIsNoChangesIsRefused) {
  open();
  kv_.reset();
  const auto mark = must(read_mark(*must(open_memory(disk_)->read())));
  must(must(Journal::open(journal_, mark->id, mark->covered))->append("nonsense"));
  const auto opened = try_open();
  EXPECT_EQ(fault_of(opened), "bad_bytes");
  EXPECT_NE(opened.error().message.find("record 1 of the journal"), std::string::npos) << opened.error().message;
}

// Threads read while one commits: each sees all that was acknowledged before it asked, and whole transactions only.
TEST_F(JournaledKvTest, ThreadsSeeAllThatWasAcknowledgedBeforeTheyAsked) {
  options_.write_back.age_ms = 1;
  open();
  std::atomic<int> acknowledged = -1;
  std::atomic<int> wrong = 0;
  std::atomic<bool> is_done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!is_done) {
        const int least = acknowledged;
        const auto read = must(kv_->read());
        const auto left = must(read->get(Table::parts, "left"));
        const auto right = must(read->get(Table::fields, "right"));
        if (left != right || std::stoi(left.value_or("-1")) < least) ++wrong;
      }
    });
  }
  for (int i = 0; i < 400; ++i) {
    const auto write = must(kv_->write());
    EXPECT_EQ(must(write->get(Table::parts, "left")), i == 0 ? std::nullopt : std::optional(std::to_string(i - 1)));
    must(write->put(Table::parts, "left", std::to_string(i)));
    must(write->put(Table::fields, "right", std::to_string(i)));
    must(write->commit());
    acknowledged = i;
  }
  is_done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

// --- processes that end, on LMDB ---

class JournaledProcessTest : public ::testing::Test {
 protected:
  LmdbOptions options_for_lmdb() const {
    LmdbOptions options;
    options.directory = data_;
    options.disk_reserve_bytes = 0;
    return options;
  }
  std::unique_ptr<Kv> open(const std::shared_ptr<Hooks>& hooks) const {
    SeededRandom random(1);
    auto lmdb = std::make_unique<HookedKv>(must(open_lmdb(options_for_lmdb())), hooks);
    return must(open_journaled(std::move(lmdb), data_ / "store" / "journal", random, options_));
  }
  std::unique_ptr<Kv> open() const { return open(std::make_shared<Hooks>()); }

  // Runs `work` in a process of its own until it ends there; its exit code, or minus the signal.
  static int run_apart(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        work();
      } catch (const std::exception&) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  testing::TemporaryDirectory folder_;
  std::filesystem::path data_ = folder_.path() / "data";
  JournalOptions options_ = [] {
    JournalOptions options = testing::small_journal();
    options.write_back.age_ms = never;
    return options;
  }();
};

TEST_F(JournaledProcessTest, WhereverItEndsNothingAcknowledgedIsLost) {
  Entries model;
  enum class End : std::uint8_t { before_write_back, in_write_back, before_release };
  for (const End end : {End::before_write_back, End::in_write_back, End::before_release, End::in_write_back}) {
    const std::string round = std::to_string(model.size());
    const int code = run_apart([&] {
      const auto hooks = std::make_shared<Hooks>();
      const auto kv = open(hooks);
      if (end == End::in_write_back) hooks->before_commit = [] { ::_exit(7); };
      if (end == End::before_release) hooks->after_commit = [] { ::_exit(7); };
      must(try_put(*kv, "a" + round, "1"));
      must(try_put(*kv, "b", round));
      if (end == End::before_write_back) ::_exit(7);
      static_cast<void>(kv->read());
    });
    ASSERT_EQ(code, 7);
    model["a" + round] = "1";
    model["b"] = round;
    const auto kv = open();
    EXPECT_EQ(entries_of(*must(kv->read())), model);
  }
}

// While a replay is cut off again and again.
TEST_F(JournaledProcessTest, ARecoveryThatIsCutOffIsDoneAgain) {
  ASSERT_EQ(run_apart([&] {
              const auto kv = open();
              must(try_put(*kv, "a", "1"));
              ::_exit(0);
            }),
            0);
  for (const bool before : {true, true, false}) {
    ASSERT_EQ(run_apart([&] {
                const auto hooks = std::make_shared<Hooks>();
                (before ? hooks->before_commit : hooks->after_commit) = [] { ::_exit(7); };
                open(hooks);
              }),
              7);
  }
  EXPECT_EQ(entries_of(*must(open()->read())), (Entries{{"a", "1"}}));
}

TEST_F(JournaledProcessTest, AReaderSeesWhatStandsInTheJournalAloneAndChangesNothing) {
  ASSERT_EQ(run_apart([&] {
              const auto kv = open();
              must(try_put(*kv, "a", "store"));
              must(try_put(*kv, "b", "store"));
              must(kv->read());
              must(try_put(*kv, "b", "journal"));
              must(try_put(*kv, "c", "journal"));
              erase(*kv, "a");
              ::_exit(0);
            }),
            0);
  const std::string data = read_file(data_ / "store" / "data.mdb");
  const std::string journal = read_file(data_ / "store" / "journal");
  {
    const auto kv = must(open_disk_reader(options_for_lmdb()));
    const auto read = must(kv->read());
    EXPECT_EQ(entries_of(*read), (Entries{{"b", "journal"}, {"c", "journal"}}));
    EXPECT_EQ(must(read->get(Table::parts, "b")), "journal");
    EXPECT_EQ(must(read->get(Table::parts, "a")), std::nullopt);
    EXPECT_EQ(fault_of(kv->write()), "refused");
  }
  EXPECT_EQ(read_file(data_ / "store" / "data.mdb"), data);
  EXPECT_EQ(read_file(data_ / "store" / "journal"), journal);

  std::string damaged = journal;
  damaged[4 * Journal::block_bytes + 30] ^= 1;  // the fourth of five records
  testing::write_file(data_ / "store" / "journal", damaged);
  const auto read = must(open_disk_reader(options_for_lmdb()))->read();
  EXPECT_EQ(fault_of(read), "bad_bytes");
  EXPECT_NE(read.error().message.find("lacks record 4"), std::string::npos) << read.error().message;
  std::filesystem::remove(data_ / "store" / "journal");
  EXPECT_EQ(fault_of(must(open_disk_reader(options_for_lmdb()))->read()), "bad_bytes");
}

// A writer that goes round its journal many times, and a reader in another process beside it.
TEST_F(JournaledProcessTest, AReaderBesideAWriterSeesAllThatWasAcknowledged) {
  options_.write_back.age_ms = 1;
  options_.bytes = 16 * Journal::block_bytes;
  open();
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    const auto kv = open();
    for (int i = 0;; ++i) {
      const auto write = must(kv->write());
      must(write->put(Table::parts, "left", std::to_string(i)));
      must(write->put(Table::fields, "right", std::to_string(i)));
      must(write->put(Table::events, "event" + std::to_string(i % 50),
                      std::string(static_cast<std::size_t>(i) % 7'000, 'x')));
      must(write->commit());
      if (::write(pipe[1], &i, sizeof i) != sizeof i) ::_exit(1);
    }
  }
  ::close(pipe[1]);
  const auto acknowledged = [&] {
    int told = -1;
    return ::read(pipe[0], &told, sizeof told) == sizeof told ? told : -1;
  };
  int least = acknowledged();
  {
    const auto kv = must(open_disk_reader(options_for_lmdb()));
    for (int i = 0; i < 150; ++i) {
      const auto read = must(kv->read());
      const auto left = must(read->get(Table::parts, "left"));
      ASSERT_EQ(left, must(read->get(Table::fields, "right")));
      ASSERT_GE(std::stoi(left.value_or("-1")), least);
      for (int told = 0; told < 4; ++told) least = acknowledged();
      ASSERT_GE(least, 0) << "the writer ended";
    }
  }
  ::close(pipe[0]);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_GE(std::stoi(must(must(open()->read())->get(Table::parts, "left")).value_or("-1")), least);
}

}  // namespace
}  // namespace tafel::store
