// The journal: a ring of records in one file, of which what was acknowledged is found again after any end of the
// process.
#include "blackboard/store/journal.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>

#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::fault_of;
using testing::must;

constexpr std::size_t block = Journal::block_bytes;
const std::string id = "0123456789abcdef";
using Records = std::map<std::uint64_t, std::string>;

class JournalTest : public ::testing::Test {
 protected:
  testing::TemporaryDirectory folder_;
  std::filesystem::path file_ = folder_.path() / "journal";

  void make(std::uint64_t bytes = 64 * block) { must(Journal::make(file_, bytes, id)); }
  std::unique_ptr<Journal> open(std::uint64_t covered = 0) { return must(Journal::open(file_, id, covered)); }
  static Records records_of(const Journal& journal) {
    Records records;
    must(journal.replay([&](std::uint64_t sequence, std::string_view payload) {
      records.emplace(sequence, payload);
      return Result<void>();
    }));
    return records;
  }
  Records found(std::uint64_t covered = 0) { return records_of(*open(covered)); }
  void flip(std::uint64_t offset) {
    std::fstream stream(file_, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(stream.get());
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(static_cast<char>(byte ^ 1));
  }
};

TEST_F(JournalTest, GivesBackWhatWasAppendedBehindWhatIsCovered) {
  make();
  const Records all{{1, "一"}, {2, std::string(3 * block, 'x')}, {3, ""}, {4, "四"}};
  {
    const auto journal = open();
    for (const auto& [sequence, payload] : all) EXPECT_EQ(must(journal->append(payload)), sequence);
  }
  EXPECT_EQ(found(), all);
  EXPECT_EQ(found(2), (Records{{3, ""}, {4, "四"}}));
  EXPECT_EQ(found(4), Records());
  const auto journal = open(2);
  EXPECT_EQ(journal->last(), 4U);
  EXPECT_EQ(must(journal->append("five")), 5U);
  EXPECT_EQ(found(2), (Records{{3, ""}, {4, "四"}, {5, "five"}}));
}

TEST_F(JournalTest, TheFileNeverChangesItsSize) {
  make(64 * block + 1);
  const auto bytes = std::filesystem::file_size(file_);
  EXPECT_EQ(bytes, 65 * block);
  const auto journal = open();
  for (std::uint64_t i = 1; i <= 500; ++i) {
    EXPECT_EQ(must(journal->append(std::string(i % 9'000, 'x'))), i);
    journal->release(i);
  }
  EXPECT_EQ(std::filesystem::file_size(file_), bytes);
}

TEST_F(JournalTest, IsFullBeforeItWouldTouchWhatIsNotReleased) {
  make(9 * block);  // eight blocks for records
  const auto journal = open();
  const std::string two_blocks(block, 'x');
  for (std::uint64_t i = 1; i <= 4; ++i) EXPECT_EQ(must(journal->append(two_blocks)), i);
  EXPECT_EQ(fault_of(journal->append("")), "full");
  journal->release(1);
  EXPECT_EQ(must(journal->append(two_blocks)), 5U);
  EXPECT_EQ(fault_of(journal->append("")), "full") << "its end meets its beginning";
  journal->release(2);
  EXPECT_EQ(must(journal->append("a")), 6U);
  EXPECT_EQ(must(journal->append("b")), 7U);
  EXPECT_EQ(fault_of(journal->append("")), "full");
  EXPECT_EQ(found(2), (Records{{3, two_blocks}, {4, two_blocks}, {5, two_blocks}, {6, "a"}, {7, "b"}}));
  EXPECT_EQ(fault_of(journal->append(std::string(journal->payload_bytes_max() + 1, 'x'))), "full");
  journal->release(7);
  EXPECT_EQ(must(journal->append(std::string(journal->payload_bytes_max(), 'x'))), 8U);
}

TEST_F(JournalTest, ARecordThatIsNotWholeIsNone) {
  make();
  const std::string payload(2 * block, 'x');
  {
    const auto journal = open();
    for (int i = 0; i < 3; ++i) must(journal->append(payload));
  }
  // The third one, at each of its blocks: head, payload, the end of the payload.
  for (const std::uint64_t at : {0UL, 5UL, 12UL, 20UL, 30UL, block, 2 * block + 20}) {
    flip(block + 6 * block + at);
    EXPECT_EQ(found(), (Records{{1, payload}, {2, payload}})) << at;
    flip(block + 6 * block + at);
    EXPECT_EQ(found().size(), 3U);
  }
  flip(block + 6 * block);
  const auto journal = open();
  EXPECT_EQ(must(journal->append("again")), 3U) << "it was never acknowledged";
  EXPECT_EQ(found(), (Records{{1, payload}, {2, payload}, {3, "again"}}));
}

TEST_F(JournalTest, AGapIsNoEnd) {
  make();
  {
    const auto journal = open();
    for (int i = 0; i < 3; ++i) must(journal->append("x"));
  }
  flip(2 * block);  // the second of three: what is behind it was acknowledged
  const auto opened = Journal::open(file_, id, 0);
  EXPECT_EQ(fault_of(opened), "bad_bytes");
  EXPECT_NE(opened.error().message.find("behind record 2"), std::string::npos) << opened.error().message;
  EXPECT_EQ(found(2), (Records{{3, "x"}}));
}

TEST_F(JournalTest, OnlyItsOwnFileIsOpened) {
  make();
  EXPECT_EQ(fault_of(Journal::open(file_, "fedcba9876543210", 0)), "bad_bytes");
  EXPECT_EQ(fault_of(Journal::open(folder_.path() / "nowhere", id, 0)), "not_found");
  EXPECT_EQ(fault_of(Journal::make(file_, 64 * block, id)), "io") << "a file that is there is not made anew";
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{30}, block, 64 * block - 1}) {
    std::filesystem::resize_file(file_, bytes);
    EXPECT_EQ(fault_of(Journal::open(file_, id, 0)), "bad_bytes") << bytes;
  }
}

TEST_F(JournalTest, AWipeLeavesNothingOfWhatWasWritten) {
  make();
  const std::string canary = "出生证明编号一九九四";
  const auto journal = open();
  for (std::size_t i = 0; i < 20; ++i) must(journal->append(std::string(i * 100, 'x') + canary));
  journal->release(20);
  EXPECT_NE(testing::read_file(file_).find(canary), std::string::npos);
  must(journal->wipe());
  EXPECT_EQ(testing::read_file(file_).find(canary), std::string::npos);
  EXPECT_EQ(must(journal->append("after")), 21U);
  EXPECT_EQ(found(20), (Records{{21, "after"}}));
}

// Rounds of records of any size, released by pieces; each opening finds exactly what was not released.
TEST_F(JournalTest, RandomRoundsLoseAndDoubleNothing) {
  make(40 * block);
  std::mt19937_64 random(7);
  Records live;
  std::uint64_t covered = 0;
  auto journal = open();
  for (int round = 0; round < 1'000; ++round) {
    const std::string payload(random() % (random() % 8 == 0 ? 5 * block : 600), static_cast<char>('a' + round % 26));
    const auto appended = journal->append(payload);
    if (appended) {
      live.emplace(*appended, payload);
    } else {
      ASSERT_EQ(fault_of(appended), "full");
      ASSERT_FALSE(live.empty());
      covered = live.begin()->first + random() % live.size();
      journal->release(covered);
      live.erase(live.begin(), live.upper_bound(covered));
    }
    if (random() % 20 != 0) continue;
    journal = open(covered);
    ASSERT_EQ(records_of(*journal), live) << "round " << round;
  }
}

TEST_F(JournalTest, WhatWasAcknowledgedSurvivesAKill) {
  make(256 * block);
  std::uint64_t covered = 0;
  std::mt19937_64 random(11);
  for (int round = 0; round < 8; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto journal = Journal::open(file_, id, covered);
      if (!journal) ::_exit(1);
      for (std::uint64_t i = 0;; ++i) {
        const auto sequence = (*journal)->append(std::string(i * 37 % 9'000, 'x'));
        if (!sequence) ::_exit(2);
        if (::write(pipe[1], &*sequence, sizeof *sequence) != sizeof *sequence) ::_exit(3);
        if (*sequence > 60) (*journal)->release(*sequence - 60);
      }
    }
    ::close(pipe[1]);
    std::uint64_t acknowledged = covered;
    std::uint64_t told = 0;
    const std::uint64_t enough = covered + 1 + random() % 60;
    while (acknowledged < enough && ::read(pipe[0], &told, sizeof told) == sizeof told) acknowledged = told;
    ::kill(child, SIGKILL);
    while (::read(pipe[0], &told, sizeof told) == sizeof told) acknowledged = told;
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    covered = std::max(covered, acknowledged > 50 ? acknowledged - 50 : 0);  // not less than it released
    const auto journal = open(covered);
    EXPECT_GE(journal->last(), acknowledged);
    covered = journal->last();
  }
}

}  // namespace
}  // namespace tafel::store
