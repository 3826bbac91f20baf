// What differs between two versions: read from the events between, or by comparing fields, it is what two loads say.
#include "common/base/limits.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::delta_for;
using testing::is_same;
using testing::judgement_of;
using testing::must;
using testing::NaiveHistory;
using testing::OnMemory;
using testing::OpenStore;
using testing::RandomChanges;
using testing::stamp_at;
using testing::unbounded;

std::map<CellKey, CellDifference> all_pages(Snapshot& snapshot, Version before, Version after, std::size_t bytes_max) {
  std::map<CellKey, CellDifference> found;
  std::optional<CellKey> start;
  do {
    auto page = must(snapshot.differences("board", std::nullopt, before, after, start, bytes_max));
    for (CellDifference& cell : page.cells) {
      EXPECT_TRUE(found.emplace(cell.key, cell).second) << "twice: " << cell.key.path.text();
    }
    start = page.next;
  } while (start);
  return found;
}

TEST(Differences, AreThoseOfTwoLoads) {
  for (const bool long_paths : {false, true}) {
    OpenStore<OnMemory> store;
    RandomChanges random(5, long_paths);
    NaiveHistory history;
    {
      const auto batch = must(store->begin());
      for (Version version = 1; version <= limits::diff_walk_events_max + 200; ++version) {
        const auto changes = random.next(history);
        must(batch->append(delta_for("board"), judgement_of(changes), stamp_at(1)));
        history.apply(version, changes);
      }
      must(batch->commit());
    }
    const auto snapshot = must(store->snapshot());
    const Version last = history.version();
    for (const auto& [before, after] : {std::pair<Version, Version>{0, last},
                                        {last, 3},
                                        {last - 20, last},
                                        {last - 5, last - 9},
                                        {7, last - 1},
                                        {50, 51},
                                        {9, 9}}) {
      for (const std::size_t bytes_max : {std::size_t{300}, unbounded}) {
        const auto found = all_pages(*snapshot, before, after, bytes_max);
        std::size_t expected = 0;
        for (const CellKey& key : history.keys()) {
          const auto was = history.as_of(key, before);
          const auto is = history.as_of(key, after);
          const auto at = found.find(key);
          if (is_same(was, is)) {
            EXPECT_EQ(at, found.end()) << key.path.text();
            continue;
          }
          ++expected;
          ASSERT_NE(at, found.end()) << key.path.text() << " from " << before << " to " << after;
          EXPECT_TRUE(is_same(at->second.before, was) && is_same(at->second.after, is)) << key.path.text();
        }
        EXPECT_EQ(found.size(), expected);
      }
    }
  }
}

}  // namespace
}  // namespace tafel::store
