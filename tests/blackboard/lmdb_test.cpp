#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>

#include "blackboard/store/lmdb_file.hpp"
#include "blackboard/store/lmdb_kv.hpp"
#include "common/base/limits.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::fault_of;
using testing::must;
using testing::OnLmdb;
using testing::read_file;
using testing::write_file;

Result<void> try_put(Kv& kv, const std::string& key, const std::string& value) {
  const auto write = kv.write();
  if (!write) return tl::unexpected(write.error());
  if (auto put = (*write)->put(Table::parts, key, value); !put) return put;
  return (*write)->commit();
}

// Puts key0, key1, … of 10 kB each until the store is full. How many found room.
int fill(Kv& kv) {
  int stored = 0;
  Result<void> put;
  while ((put = try_put(kv, "key" + std::to_string(stored), std::string(10'000, 'x')))) ++stored;
  EXPECT_EQ(fault_of(put), "full");
  return stored;
}

LmdbOptions with_small_quota(const OnLmdb& place) {
  LmdbOptions options = place.options();
  options.quota_bytes = 1'000'000;
  return options;
}

// What finds room, and what does not, is the same with a journal before the store.
template <class Place>
class Room : public ::testing::Test {};
using OnFiles = ::testing::Types<OnLmdb, testing::OnDisk>;
TYPED_TEST_SUITE(Room, OnFiles, testing::PlaceNames);

std::filesystem::path data_file(const OnLmdb& place) { return place.options().directory / "store" / "data.mdb"; }

TEST(Lmdb, ASecondOpenIsLockedOut) {
  const OnLmdb place;
  auto kv = place.open();
  const auto second = open_lmdb(place.options());
  EXPECT_EQ(fault_of(second), "locked");
  EXPECT_NE(second.error().message.find("in use by process"), std::string::npos) << second.error().message;
  must(try_put(*kv, "key", "the first one is not disturbed"));
  kv.reset();
  EXPECT_EQ(fault_of(open_lmdb(place.options())), "none");
}

TEST(Lmdb, DirectoryIsForItsOwnerOnly) {
  const OnLmdb place;
  place.open();
  struct stat info {};
  ASSERT_EQ(::stat(place.options().directory.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST(Lmdb, AHalfMadeStoreIsMadeAnew) {
  const OnLmdb place;
  const auto aside = place.options().directory / "store.new";
  std::filesystem::create_directories(aside);
  write_file(aside / "data.mdb", "half of a page");
  const auto kv = place.open();
  must(try_put(*kv, "key", "value"));
  EXPECT_FALSE(std::filesystem::exists(aside));
}

TEST(Lmdb, AFileInPlaceOfTheDirectoryIsRefused) {
  const OnLmdb place;
  write_file(place.options().directory, "not a directory");
  EXPECT_EQ(fault_of(open_lmdb(place.options())), "bad_config");
}

TEST(Lmdb, AForeignFileIsRefusedAndLeftAlone) {
  for (const std::string& bytes :
       {std::string(), std::string("SQLite format 3"), std::string(100'000, 'x'), std::string(100'000, '\0')}) {
    const OnLmdb place;
    std::filesystem::create_directories(data_file(place).parent_path());
    write_file(data_file(place), bytes);
    EXPECT_EQ(fault_of(open_lmdb(place.options())), "bad_bytes");
    EXPECT_EQ(read_file(data_file(place)), bytes);
  }
}

TEST(Lmdb, AMissingDataFileIsNotMadeAnew) {
  const OnLmdb place;
  place.open();
  std::filesystem::remove(data_file(place));
  EXPECT_EQ(fault_of(open_lmdb(place.options())), "bad_bytes");
}

TEST(Lmdb, ATruncatedFileIsRefusedAndLeftAlone) {
  const OnLmdb place;
  {
    const auto kv = place.open();
    for (int i = 0; i < 100; ++i) must(try_put(*kv, "key" + std::to_string(i), std::string(3000, 'x')));
  }
  const std::string whole = read_file(data_file(place));
  LmdbOptions quick = place.options();
  quick.walk_bytes_max = 0;  // as for a large file: only the size tells
  for (std::size_t i = 0; i < 50; ++i) {
    const std::string part = whole.substr(0, whole.size() * i / 50);
    write_file(data_file(place), part);
    EXPECT_EQ(fault_of(open_lmdb(place.options())), "bad_bytes") << part.size() << " of " << whole.size() << " bytes";
    EXPECT_EQ(fault_of(open_lmdb(quick)), "bad_bytes") << part.size() << " of " << whole.size() << " bytes";
    EXPECT_EQ(read_file(data_file(place)).size(), part.size());
  }
  write_file(data_file(place), whole);
  EXPECT_EQ(fault_of(open_lmdb(place.options())), "none");
}

TEST(Lmdb, AFileWithAValueThatShrankBeforeItsCommitIsSound) {
  const OnLmdb place;
  const auto kv = place.open();
  const auto write = must(kv->write());
  must(write->put(Table::parts, "key", std::string(20'000, 'x')));
  must(write->put(Table::parts, "key", std::string(5'000, 'x')));  // LMDB leaves it all of its pages
  must(write->commit());
  EXPECT_EQ(fault_of(check_lmdb_file(data_file(place), testing::unbounded)), "none");
}

// The walk must never take a sound file for a damaged one: page merges, large values and long free lists make the odd
// shapes.
TEST(Lmdb, EveryCommittedFileIsFoundSound) {
  std::mt19937_64 random(11);
  const OnLmdb place;
  const auto kv = place.open();
  for (int round = 0; round < 150; ++round) {
    const auto write = must(kv->write());
    const bool is_shrinking = round % 50 >= 35;
    for (int i = 0; i < 40; ++i) {
      const std::string key = "key" + std::to_string(random() % 600);
      const auto table = static_cast<Table>(random() % table_count);
      const bool goes = is_shrinking || random() % 4 == 0;
      if (goes) {
        must(write->erase(table, key));
      } else {
        const std::uint64_t size_below = random() % 3 == 0 ? 20'000 : 200;
        must(write->put(table, key, std::string(random() % size_below, 'v')));
      }
    }
    if (round % 50 >= 45) {
      std::vector<std::string> all;
      must(write->scan(Table::parts, "", [&](std::string_view key, std::string_view) {
        all.emplace_back(key);
        return true;
      }));
      for (const std::string& key : all) must(write->erase(Table::parts, key));
    }
    must(write->commit());
    ASSERT_EQ(fault_of(check_lmdb_file(data_file(place), testing::unbounded)), "none") << "round " << round;
  }
}

TYPED_TEST(Room, AFullQuotaRefusesAdditionsWhileReadsGoOn) {
  const TypeParam place;
  const LmdbOptions options = with_small_quota(place);
  const auto kv = must(place.open_with(options));
  const int stored = fill(*kv);
  EXPECT_GT(stored, 20);
  EXPECT_LE(must(kv->usage()).bytes, options.quota_bytes);
  for (int i = 0; i < stored; ++i) {
    EXPECT_TRUE(must(must(kv->read())->get(Table::parts, "key" + std::to_string(i)))) << i;
  }
}

TYPED_TEST(Room, WhatDidNotFitIsNotCommittedInPart) {
  const TypeParam place;
  const LmdbOptions options = with_small_quota(place);
  const auto kv = must(place.open_with(options));
  const auto write = must(kv->write());
  must(write->put(Table::parts, "small", "value"));
  EXPECT_EQ(fault_of(write->put(Table::parts, "large", std::string(2'000'000, 'x'))), "full");
  EXPECT_EQ(fault_of(write->commit()), "closed");
  EXPECT_EQ(must(must(kv->read())->get(Table::parts, "small")), std::nullopt);
}

TYPED_TEST(Room, AFullStoreCanBeEmptied) {
  const TypeParam place;
  const LmdbOptions options = with_small_quota(place);
  const auto kv = must(place.open_with(options));
  const int stored = fill(*kv);
  for (int i = 0; i < stored; ++i) {
    const auto write = must(kv->write());
    must(write->erase(Table::parts, "key" + std::to_string(i)));
    must(write->commit());
  }
  EXPECT_LT(must(kv->usage()).bytes, 200'000U);
  EXPECT_EQ(fault_of(try_put(*kv, "new", std::string(10'000, 'x'))), "none");
}

TYPED_TEST(Room, AFullStoreStillTakesWhatARemovalWritesUpToABound) {
  const TypeParam place;
  const LmdbOptions options = with_small_quota(place);
  const auto kv = must(place.open_with(options));
  fill(*kv);
  int removals = 0;
  Result<void> put;
  do {
    const auto write = must(kv->write());
    write->use_reserve(true);
    put = write->put(Table::events, "event" + std::to_string(removals), std::string(1'000, 'x'));
    if (!put) break;
    must(write->commit());
  } while (++removals < 1'000);
  EXPECT_GT(removals, 5);
  EXPECT_EQ(fault_of(put), "full");
  EXPECT_LE(must(kv->usage()).bytes, options.quota_bytes);
}

TEST(Lmdb, AFullMapRefusesAdditionsWhileReadsGoOn) {
  const OnLmdb place;
  LmdbOptions options = place.options();
  options.map_bytes = 1024 * 1024;
  options.quota_bytes = 1024 * 1024 * 1024;  // out of the way
  const auto kv = must(open_lmdb(options));
  const int stored = fill(*kv);
  EXPECT_GT(stored, 20);
  EXPECT_TRUE(must(must(kv->read())->get(Table::parts, "key0")));
  EXPECT_EQ(fault_of(kv->write()), "none");
}

// While it lives, no file of this process grows beyond `bytes`: a write that would fails, as on a broken disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(Lmdb, AFailedWriteEndsTheHandleAndLosesNothingCommitted) {
  const OnLmdb place;
  auto kv = place.open();
  must(try_put(*kv, "first", "value"));
  {
    const FileSizeLimit limit(std::filesystem::file_size(data_file(place)));
    EXPECT_EQ(fault_of(try_put(*kv, "second", std::string(500'000, 'x'))), "io");
  }
  EXPECT_EQ(fault_of(try_put(*kv, "third", "the disk works again, but what is on it is unknown")), "io");
  EXPECT_EQ(fault_of(kv->read()), "io");
  kv.reset();
  kv = place.open();
  EXPECT_EQ(must(must(kv->read())->get(Table::parts, "first")), "value");
  EXPECT_EQ(must(must(kv->read())->get(Table::parts, "second")), std::nullopt);
  EXPECT_EQ(fault_of(try_put(*kv, "fourth", "value")), "none");
}

TYPED_TEST(Room, ADiskWithoutReserveRefusesAdditions) {
  const TypeParam place;
  place.open();
  LmdbOptions options = place.options();
  options.disk_reserve_bytes = std::numeric_limits<std::uint64_t>::max();
  const auto kv = must(place.open_with(options));
  EXPECT_EQ(fault_of(try_put(*kv, "key", "value")), "full");
  EXPECT_EQ(fault_of(kv->read()), "none");
}

TEST(Lmdb, TooManyReadersAreToldToWait) {
  const OnLmdb place;
  const auto kv = place.open();
  std::vector<std::unique_ptr<KvRead>> readers;
  for (std::size_t i = 0; i < limits::store_readers_max; ++i) readers.push_back(must(kv->read()));
  EXPECT_EQ(fault_of(kv->read()), "busy");
  readers.pop_back();
  EXPECT_EQ(fault_of(kv->read()), "none");
}

// Processes that read a store beside the one that writes it. They are made before that opens it, as LMDB asks for, and
// read when they are told to.
class ReadersToKill {
 public:
  ReadersToKill(const LmdbOptions& options, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::array<int, 2> go{};
      std::array<int, 2> done{};
      if (::pipe(go.data()) != 0 || ::pipe(done.data()) != 0) throw std::runtime_error("no pipe");
      const pid_t child = ::fork();
      if (child == 0) {
        char byte = 0;
        if (::read(go[0], &byte, 1) != 1) ::_exit(1);
        const auto kv = open_lmdb_reader(options);
        const auto read = kv ? (*kv)->read() : Result<std::unique_ptr<KvRead>>(tl::unexpected(kv.error()));
        byte = read ? 'r' : 'f';
        if (::write(done[1], &byte, 1) != 1) ::_exit(1);
        while (true) ::pause();
      }
      ::close(go[0]);
      ::close(done[1]);
      readers_.push_back({child, go[1], done[0]});
    }
  }
  ~ReadersToKill() {
    for (const Reader& reader : readers_) end(reader);
  }
  ReadersToKill(const ReadersToKill&) = delete;
  ReadersToKill& operator=(const ReadersToKill&) = delete;

  // Lets `count` of them read, and kills them while they do. How many could read.
  std::size_t read_and_kill(std::size_t count) {
    std::size_t reading = 0;
    const auto first = readers_.end() - static_cast<std::ptrdiff_t>(count);
    for (auto reader = first; reader != readers_.end(); ++reader) {
      char byte = 'g';
      if (::write(reader->go, &byte, 1) != 1 || ::read(reader->done, &byte, 1) != 1) continue;
      reading += byte == 'r' ? 1 : 0;
    }
    std::for_each(first, readers_.end(), end);
    readers_.erase(first, readers_.end());
    return reading;
  }

 private:
  struct Reader {
    pid_t process;
    int go;
    int done;
  };
  static void end(const Reader& reader) {
    ::kill(reader.process, SIGKILL);
    ::waitpid(reader.process, nullptr, 0);
    ::close(reader.go);
    ::close(reader.done);
  }

  std::vector<Reader> readers_;
};

TEST(Lmdb, ReadersThatAreKilledLeaveTheirSlots_RO10) {
  constexpr std::size_t at_once = 60;
  constexpr std::size_t rounds = 5;
  const OnLmdb place;
  must(try_put(*place.open(), "key", "value"));
  ReadersToKill readers(place.options(), at_once * rounds);
  const auto kv = place.open();
  for (std::size_t round = 0; round < rounds; ++round) {
    EXPECT_EQ(readers.read_and_kill(at_once), at_once) << "round " << round;
    std::vector<std::unique_ptr<KvRead>> own;  // more than would find room beside the dead
    for (std::size_t i = 0; i < limits::store_readers_max - at_once / 2; ++i) own.push_back(must(kv->read()));
    must(try_put(*kv, "key", "value " + std::to_string(round)));
  }
  EXPECT_EQ(must(must(kv->read())->get(Table::parts, "key")), "value 4");
}

TEST(Lmdb, AReaderOutlivesTheHandle) {
  const OnLmdb place;
  auto kv = place.open();
  must(try_put(*kv, "key", "value"));
  const auto read = must(kv->read());
  kv.reset();
  EXPECT_EQ(must(read->get(Table::parts, "key")), "value");
}

}  // namespace
}  // namespace tafel::store
