// A process that is killed while it commits: what it had acknowledged is there afterwards, and nothing is half there.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>

#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::add_element;
using testing::judgement_of;
using testing::must;
using testing::set_leaf;

Result<std::unique_ptr<Kv>> open_store(const std::filesystem::path& directory) {
  LmdbOptions options;
  options.directory = directory;
  options.disk_reserve_bytes = 0;
  SeededRandom random(1);
  return open_disk(options, random, testing::small_journal());
}

// Commits one event after the other and writes a byte after each, until it is killed.
[[noreturn]] void commit_for_ever(const std::filesystem::path& directory, int acknowledgements) {
  SeededRandom random(1);
  const auto opened = must(Store::open(must(open_store(directory)), random));
  for (;;) {
    const auto batch = must(opened->begin());
    const Version version = must(batch->head("board")).version + 1;
    const auto changes = {set_leaf("a", static_cast<std::int64_t>(version), version),
                          add_element("s", static_cast<std::int64_t>(version), version)};
    must(batch->append(testing::delta_for("board", "id" + std::to_string(version)), judgement_of(changes),
                       testing::stamp_at(1000)));
    must(batch->commit());
    if (::write(acknowledgements, "x", 1) != 1) ::_exit(1);
  }
}

// Runs such a process on the directory and kills it after some acknowledgements; gives how many there were.
std::size_t kill_after(const std::filesystem::path& directory, std::size_t acknowledged) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    commit_for_ever(directory, ends[1]);
  }
  ::close(ends[1]);
  std::size_t count = 0;
  char byte = 0;
  while (::read(ends[0], &byte, 1) == 1) {
    if (++count == acknowledged) ::kill(child, SIGKILL);
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? count : 0;
}

TEST(Crash, WhatWasAcknowledgedSurvivesAKill) {
  const testing::TemporaryDirectory directory;
  std::mt19937_64 random(13);
  Version acknowledged = 0;
  for (int round = 0; round < 20; ++round) {
    const std::size_t count = kill_after(directory.path(), 1 + random() % 12);
    ASSERT_GT(count, 0U) << "the process ended by itself";
    acknowledged += count;
    SeededRandom seed(1);
    const auto opened = must(Store::open(must(open_store(directory.path())), seed));
    const Version version = must(must(opened->snapshot())->head("board")).value().version;
    ASSERT_GE(version, acknowledged) << "round " << round;
    ASSERT_LE(version, acknowledged + 1) << "at most the commit that was on its way, round " << round;
    ASSERT_EQ(must(opened->verify("board")).defects, std::vector<std::string>()) << "round " << round;
    const auto batch = must(opened->begin());
    ASSERT_TRUE(must(batch->known_receipt("board", "planner", "id" + std::to_string(version))));
    acknowledged = version;
  }
}

TEST(Crash, AProcessThatIsGoneHoldsNoLock) {
  const testing::TemporaryDirectory directory;
  kill_after(directory.path(), 1);
  EXPECT_TRUE(open_store(directory.path()).has_value());
}

}  // namespace
}  // namespace tafel::store
