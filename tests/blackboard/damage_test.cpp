// Bits that flip on disk: whatever is read afterwards is right or an error, never a wrong value, and nothing crashes.
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <random>

#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::is_same;
using testing::must;
using testing::OnLmdb;
using testing::OpenStore;
using testing::read_file;
using testing::set_leaf;
using testing::unbounded;
using testing::write_file;

constexpr int right = 0;
constexpr int found_damage = 1;
constexpr int wrong = 2;

// What a sound store answers.
struct Expected {
  std::vector<std::string> boards;
  std::map<std::string, Head> heads;
  std::map<std::string, blackboard::Board> cells;
  std::map<std::string, blackboard::Board> older;
  std::map<std::string, std::vector<std::string>> records;
};

constexpr Version older_version = 10;

bool differs(const Head& left, const Head& right_head) {
  return left.version != right_head.version || left.hash != right_head.hash || !(left.digest == right_head.digest) ||
         left.time != right_head.time;
}

// Reads everything; an error ends the reading, since it is as good as the right answer.
int examine(const std::filesystem::path& directory, std::uint64_t walk_bytes_max, const Expected& expected) {
  LmdbOptions options;
  options.directory = directory;
  options.walk_bytes_max = walk_bytes_max;
  SeededRandom random(1);
  auto kv = open_lmdb(options);
  if (!kv) return found_damage;
  const auto opened = Store::open(std::move(*kv), random);
  if (!opened) return found_damage;
  const auto snapshot = (*opened)->snapshot();
  if (!snapshot) return found_damage;
  const auto boards = (*snapshot)->boards("", 100);
  if (!boards) return found_damage;
  if (boards->size() != expected.boards.size()) return wrong;
  for (const std::string& board : expected.boards) {
    const auto head = (*snapshot)->head(board);
    if (!head) return found_damage;
    if (!*head || differs(**head, expected.heads.at(board))) return wrong;
    const auto verified = (*opened)->verify(board);
    if (!verified || !verified->defects.empty()) return found_damage;
    const auto cells = (*snapshot)->load(board, std::nullopt, std::nullopt, unbounded);
    if (!cells) return found_damage;
    if (!is_same(*cells, expected.cells.at(board))) return wrong;
    const auto older = (*snapshot)->load(board, std::nullopt, older_version, unbounded);
    if (!older) return found_damage;
    if (!is_same(*older, expected.older.at(board))) return wrong;
    const auto records = (*snapshot)->event_records(board, 1, 1000, unbounded);
    if (!records) return found_damage;
    if (*records != expected.records.at(board)) return wrong;
  }
  return right;
}

class DamageTest : public ::testing::Test {
 protected:
  DamageTest() {
    OpenStore<OnLmdb> store;
    testing::RandomChanges random(4);
    for (const std::string board : {"first", "second"}) {
      testing::NaiveHistory history;
      for (int i = 0; i < 40; ++i) {
        auto changes = random.next(history);
        if (i == 20) changes.push_back(set_leaf("large", std::string(9000, 'x'), history.version() + 1));
        store.commit(board, changes, "id" + std::to_string(i));
        history.apply(history.version() + 1, changes);
      }
      expected_.boards.push_back(board);
      expected_.heads[board] = store.head(board);
      expected_.cells[board] = store.load(board);
      expected_.older[board] = store.load(board, older_version);
      expected_.records[board] = must(must(store->snapshot())->event_records(board, 1, 1000, unbounded));
    }
    store.close();
    sound_ = read_file(store.place().options().directory / "store" / "data.mdb");
  }

  // In a process of its own, so that a crash is a result too. The outcome, or minus the signal.
  int examine_apart(const std::string& bytes, std::uint64_t walk_bytes_max) const {
    const testing::TemporaryDirectory directory;
    std::filesystem::create_directories(directory.path() / "store");
    write_file(directory.path() / "store" / "data.mdb", bytes);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(examine(directory.path(), walk_bytes_max, expected_));
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  Expected expected_;
  std::string sound_;
};

TEST_F(DamageTest, ASoundFileReadsRight) { EXPECT_EQ(examine_apart(sound_, unbounded), right); }

TEST_F(DamageTest, EveryFlippedByteIsFoundOrHarmless) {
  std::mt19937_64 random(17);
  int found = 0;
  for (int seed = 0; seed < 200; ++seed) {
    std::string bytes = sound_;
    const std::size_t at = random() % bytes.size();
    const auto mask = static_cast<char>(1U << random() % 8);
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
    const int outcome = examine_apart(bytes, unbounded);
    ASSERT_TRUE(outcome == right || outcome == found_damage)
        << "outcome " << outcome << " for byte " << at << " of " << bytes.size();
    found += outcome == found_damage ? 1 : 0;
  }
  EXPECT_GT(found, 20) << "most bytes of the file are in use";
}

// A meta page leads to everything else, and to an older state when it is taken for one.
TEST_F(DamageTest, EveryFlippedBitOfAMetaPageIsFoundOrHarmless) {
  for (std::size_t at = 0; at < 152; at += 2) {
    for (const std::size_t page : {std::size_t{0}, std::size_t{4096}}) {
      std::string bytes = sound_;
      bytes[page + at] = static_cast<char>(bytes[page + at] ^ 0x10);
      const int outcome = examine_apart(bytes, unbounded);
      ASSERT_TRUE(outcome == right || outcome == found_damage)
          << "outcome " << outcome << " for byte " << at << " of page " << page / 4096;
    }
  }
}

}  // namespace
}  // namespace tafel::store
