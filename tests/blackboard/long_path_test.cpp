// Paths too long for a key of the store are cut there; nothing above may notice.
#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/limits.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::delta_for;
using testing::is_same;
using testing::judgement_of;
using testing::must;
using testing::NaiveHistory;
using testing::OpenStore;
using testing::path_of;
using testing::RandomChanges;
using testing::set_leaf;
using testing::stamp_at;

template <class Place>
class LongPathTest : public ::testing::Test {
 protected:
  OpenStore<Place> store_;
};
TYPED_TEST_SUITE(LongPathTest, testing::Places, testing::PlaceNames);

std::string text_of(std::size_t size, char letter) { return std::string(size, letter); }

TEST(LongPath, KeysStayWithinWhatAStoreTakes) {
  for (std::size_t size = 1; size <= limits::path_bytes_max; ++size) {
    EXPECT_LE(field_key(BoardNumber{1}, path_of(text_of(size, 'p'))).size(), 8 + path_key_bytes_max);
  }
}

TEST(LongPath, PathsThatDifferOnlyAtTheEndHaveDifferentKeys) {
  const std::string start = text_of(1000, 'p');
  EXPECT_NE(field_key(BoardNumber{1}, path_of(start + ".a")), field_key(BoardNumber{1}, path_of(start + ".b")));
}

TEST(LongPath, APathIsReadBackFromItsRecord) {
  for (const std::size_t size : {1U, 359U, 360U, 361U, 399U, 400U, 401U, 1024U}) {
    const Path path = path_of(text_of(size, 'p'));
    EXPECT_EQ(path_of_field(field_key(BoardNumber{1}, path), encode_field(path, FieldRecord())), path) << size;
  }
}

TYPED_TEST(LongPathTest, FieldsBelowComeInPathOrderWhereverTheyAreCut) {
  // Fields at and around the cut, with beginnings in common, so that the order of the store is not theirs.
  std::vector<std::string> paths;
  for (const std::size_t size : {355U, 358U, 359U, 360U, 361U, 380U, 399U, 400U, 401U, 700U}) {
    const std::string parent = text_of(size, 'p');
    for (const char* child : {"b", "a", "c.d", "zz"}) paths.push_back(parent + "." + child);
    paths.push_back(parent + "." + text_of(120, 'q') + ".x");
    paths.push_back(parent + "." + text_of(120, 'r') + ".y");
    paths.push_back(parent + ".m." + text_of(300, 's'));
  }
  std::vector<Change> changes;
  for (const std::string& path : paths) changes.push_back(set_leaf(path, 1, 1));
  const auto batch = must(this->store_->begin());
  must(batch->append(delta_for("board"), judgement_of(changes), stamp_at(1)));

  std::vector<Path> ancestors;
  for (const Change& change : changes) {
    for (auto path = std::optional(change.key.path); path; path = path->parent()) ancestors.push_back(*path);
  }
  for (const Path& ancestor : ancestors) {
    std::vector<Path> expected;
    for (const Change& change : changes) {
      if (change.key.path.is_below(ancestor)) expected.push_back(change.key.path);
    }
    std::sort(expected.begin(), expected.end());
    std::vector<Path> found;
    batch->view("board").fields_below(ancestor, [&](const Path& path, const FieldInfo&) {
      found.push_back(path);
      return true;
    });
    ASSERT_EQ(found, expected) << "below a path of " << ancestor.key().size() << " bytes";
  }
  EXPECT_FALSE(batch->failure());
}

TYPED_TEST(LongPathTest, AStopIsKeptInsideASortedGroup) {
  std::vector<Change> changes;
  for (const char* child : {"a", "b", "c"}) changes.push_back(set_leaf(text_of(500, 'p') + "." + child, 1, 1));
  const auto batch = must(this->store_->begin());
  must(batch->append(delta_for("board"), judgement_of(changes), stamp_at(1)));
  std::vector<std::string> found;
  batch->view("board").fields_below(path_of(text_of(500, 'p')), [&](const Path& path, const FieldInfo&) {
    found.push_back(path.segments().back());
    return found.size() < 2;
  });
  EXPECT_EQ(found, (std::vector<std::string>{"a", "b"}));
}

TYPED_TEST(LongPathTest, HistoryOfLongPathsEqualsANaiveOne) {
  RandomChanges random(9, true);
  NaiveHistory history;
  auto batch = must(this->store_->begin());
  for (int i = 0; i < 80; ++i) {
    const auto changes = random.next(history);
    must(batch->append(delta_for("board"), judgement_of(changes), stamp_at(i)));
    history.apply(history.version() + 1, changes);
  }
  must(batch->commit());
  batch.reset();
  this->store_.reopen();
  for (Version version = 0; version <= history.version(); version += 7) {
    ASSERT_TRUE(is_same(this->store_.load("board", version), history.board(version))) << version;
  }
  std::vector<Path> parts;
  for (const CellKey& key : history.keys()) {
    for (auto path = std::optional(key.path); path; path = path->parent()) parts.push_back(*path);
  }
  for (const Path& path : parts) {
    ASSERT_TRUE(is_same(this->store_.load("board", {}, path), history.board(history.version(), path)))
        << path.key().size();
  }
  EXPECT_EQ(this->store_.defects("board"), std::vector<std::string>());
}

TYPED_TEST(LongPathTest, PagesOfCellsResumeAmongLongPaths) {
  std::vector<Change> changes;
  for (int i = 0; i < 20; ++i)
    changes.push_back(set_leaf(text_of(400 + static_cast<std::size_t>(i) * 10, 'p') + ".x", i, 1));
  this->store_.commit("board", changes);
  blackboard::Board board;
  std::string cursor;
  do {
    const auto page = must(must(this->store_->snapshot())->cells("board", std::nullopt, cursor, 1500));
    for (const Change& cell : page.cells) board.put(cell.key, cell.image);
    cursor = page.next;
  } while (!cursor.empty());
  board.set_version(1);
  EXPECT_TRUE(is_same(board, this->store_.load("board")));
}

}  // namespace
}  // namespace tafel::store
