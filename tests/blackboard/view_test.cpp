#include "blackboard/store/view.hpp"

#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::add_element;
using testing::append_entry;
using testing::delta_for;
using testing::fault_of;
using testing::gone;
using testing::hold;
using testing::is_same;
using testing::judgement_of;
using testing::must;
using testing::NaiveHistory;
using testing::OnMemory;
using testing::OpenStore;
using testing::path_of;
using testing::RandomChanges;
using testing::set_leaf;
using testing::stamp_at;

// A batch on a board that got these changes, one event each.
std::unique_ptr<Batch> batch_after(OpenStore<OnMemory>& store, const std::vector<std::vector<Change>>& events) {
  auto batch = must(store->begin());
  for (const auto& changes : events) must(batch->append(delta_for("board"), judgement_of(changes), stamp_at(1)));
  return batch;
}

std::vector<std::string> fields_below(const conflict::BoardView& view, const std::string& path) {
  std::vector<std::string> found;
  view.fields_below(path_of(path), [&](const Path& field, const FieldInfo& info) {
    found.push_back(field.text() + (info.kind ? "" : " (gone)"));
    return true;
  });
  return found;
}

TEST(View, ABoardNeverWrittenToIsEmpty) {
  OpenStore<OnMemory> store;
  const auto batch = must(store->begin());
  const auto& view = batch->view("board");
  EXPECT_EQ(view.version(), 0U);
  EXPECT_EQ(view.floor(), 0U);
  EXPECT_FALSE(view.field(path_of("a")));
  EXPECT_FALSE(view.cell(leaf_key(path_of("a"))));
  EXPECT_FALSE(view.cell_as_of(leaf_key(path_of("a")), 0));
  EXPECT_TRUE(fields_below(view, "a").empty());
  EXPECT_FALSE(batch->failure());
}

TEST(View, AFieldTellsItsKindPartsAndLastChange) {
  OpenStore<OnMemory> store;
  const auto batch = batch_after(store, {{add_element("s", "x", 1), set_leaf("a", 1, 1)}, {add_element("s", "y", 2)}});
  const auto field = batch->view("board").field(path_of("s")).value();
  EXPECT_EQ(field.kind, Kind::set);
  EXPECT_EQ(field.parts, 2U);
  EXPECT_EQ(field.lasting, 2U);
  EXPECT_EQ(field.changed, 2U);
}

TEST(View, ARemovedFieldIsATombstone) {
  OpenStore<OnMemory> store;
  const auto batch = batch_after(store, {{set_leaf("a.b", 1, 1)}, {gone(leaf_key(path_of("a.b")))}});
  const auto& view = batch->view("board");
  const auto field = view.field(path_of("a.b")).value();
  EXPECT_EQ(field.kind, std::nullopt);
  EXPECT_EQ(field.changed, 2U);
  EXPECT_EQ(fields_below(view, "a"), std::vector<std::string>{"a.b (gone)"});
  EXPECT_FALSE(view.cell(leaf_key(path_of("a.b"))));
  EXPECT_TRUE(view.cell_as_of(leaf_key(path_of("a.b")), 1));
}

TEST(View, FieldsBelowComeInPathOrderWithoutThePathItself) {
  OpenStore<OnMemory> store;
  const auto batch = batch_after(store, {{set_leaf("a.b", 1, 1), set_leaf("a-b", 1, 1), set_leaf("ab", 1, 1),
                                          set_leaf("a.c.d", 1, 1), set_leaf("a.b2", 1, 1)}});
  EXPECT_EQ(fields_below(batch->view("board"), "a"), (std::vector<std::string>{"a.b", "a.b2", "a.c.d"}));
  EXPECT_EQ(fields_below(batch->view("board"), "a.c"), std::vector<std::string>{"a.c.d"});
  EXPECT_TRUE(fields_below(batch->view("board"), "a.c.d").empty());
}

TEST(View, AVisitorCanStop) {
  OpenStore<OnMemory> store;
  const auto batch = batch_after(
      store, {{set_leaf("a.b", 1, 1), set_leaf("a.c", 1, 1), add_element("s", 1, 1), add_element("s", 2, 1)}});
  int visited = 0;
  batch->view("board").fields_below(path_of("a"), [&](const Path&, const FieldInfo&) { return ++visited < 1; });
  batch->view("board").parts(path_of("s"), Part::element,
                             [&](const CellKey&, const CellPointer&, Version) { return ++visited < 1; });
  EXPECT_EQ(visited, 2);
}

TEST(View, AFieldThatOnlyHadSuggestionsWasNeverThere) {
  OpenStore<OnMemory> store;
  const auto batch = batch_after(store, {{hold("a.b", 1, 1)}});
  EXPECT_FALSE(batch->view("board").field(path_of("a.b")));
  EXPECT_TRUE(fields_below(batch->view("board"), "a").empty());
}

TEST(View, PartsComeInTheOrderOfTheirIdsWithTombstones) {
  OpenStore<OnMemory> store;
  const CellKey second = entry_key(path_of("log"), {2, 0});
  const auto batch = batch_after(store, {{append_entry("log", "one", 1)},
                                         {append_entry("log", "two", 2)},
                                         {append_entry("log", "three", 3), hold("log", 1, 3)},
                                         {gone(second)}});
  std::vector<std::string> found;
  batch->view("board").parts(
      path_of("log"), Part::entry, [&](const CellKey& key, const CellPointer& now, Version changed) {
        found.push_back(mark_text(mark_from_id(key.id)) + (now ? "" : " gone") + " at " + std::to_string(changed));
        return true;
      });
  EXPECT_EQ(found, (std::vector<std::string>{"1.0 at 1", "2.0 gone at 4", "3.0 at 3"}));
}

TEST(View, CellsAsOfEveryVersionEqualANaiveHistory) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    OpenStore<OnMemory> store;
    RandomChanges random(seed);
    NaiveHistory history;
    const auto batch = must(store->begin());
    for (int i = 0; i < 1000; ++i) {
      const auto changes = random.next(history);
      must(batch->append(delta_for("board"), judgement_of(changes), stamp_at(i)));
      history.apply(history.version() + 1, changes);
      // A few questions now, while the newest cells are hot …
      const auto keys = history.keys();
      const CellKey& key = keys[random.below(keys.size())];
      const Version version = random.below(history.version() + 1);
      ASSERT_TRUE(is_same(batch->view("board").cell_as_of(key, version), history.as_of(key, version)))
          << "seed " << seed;
    }
    // … and a sweep over everything at the end.
    const auto& view = batch->view("board");
    for (const CellKey& key : history.keys()) {
      ASSERT_TRUE(is_same(view.cell(key), history.as_of(key, history.version()))) << "seed " << seed;
      for (Version version = random.below(100); version <= history.version(); version += 97) {
        ASSERT_TRUE(is_same(view.cell_as_of(key, version), history.as_of(key, version)))
            << "seed " << seed << ", " << key.path.text() << " as of " << version;
      }
    }
    EXPECT_FALSE(batch->failure());
  }
}

TEST(View, TheNewestChangeAtAVersionTellsWhoMadeIt) {
  OpenStore<OnMemory> store;
  const auto batch = must(store->begin());
  const CellKey key = leaf_key(path_of("a"));
  for (Version version = 1; version <= 40; ++version) {
    const bool is_gone = version % 10 == 0;
    const auto changes = version % 2 != 0 ? set_leaf("b", 1, version) : is_gone ? gone(key) : set_leaf("a", 1, version);
    must(batch->append(delta_for("board"), judgement_of({changes}), stamp_at(1, "actor " + std::to_string(version))));
  }
  const auto& view = batch->view("board");
  for (Version version = 0; version <= 40; ++version) {
    const auto change = view.change_at(key, version);
    if (version < 2) {
      EXPECT_FALSE(change);
      continue;
    }
    const Version newest = version - version % 2;
    ASSERT_TRUE(change) << version;
    EXPECT_EQ(change->version, newest);
    EXPECT_EQ(change->actor, "actor " + std::to_string(newest));
    EXPECT_EQ(change->image.has_value(), newest % 10 != 0);
  }
  EXPECT_FALSE(view.change_at(leaf_key(path_of("nothing")), 40));
}

TEST(View, AFailureStaysAndHidesEverything) {
  OpenStore<OnMemory> store;
  store.commit("board", {set_leaf("a", 1, 1), set_leaf("b", 1, 1)});
  store.reopen();  // so that the writer keeps nothing of it
  {
    const auto kv = store.place().open();
    const auto write = must(kv->write());
    must(write->put(Table::fields, field_key(BoardNumber{1}, path_of("a")), "no record"));
    must(write->commit());
  }
  const auto batch = must(store->begin());
  const auto& view = batch->view("board");
  EXPECT_TRUE(view.cell(leaf_key(path_of("b"))));
  EXPECT_FALSE(view.cell(leaf_key(path_of("a"))));
  ASSERT_TRUE(batch->failure());
  EXPECT_EQ(batch->failure()->fault, Fault::bad_bytes);
  EXPECT_NE(batch->failure()->message.find("table fields, key 0000000000000001"), std::string::npos)
      << batch->failure()->message;
  EXPECT_FALSE(view.cell(leaf_key(path_of("b"))));
  EXPECT_EQ(fault_of(batch->append(delta_for("board"), judgement_of({set_leaf("c", 1, 2)}), stamp_at(1))), "bad_bytes");
  EXPECT_EQ(fault_of(batch->commit()), "bad_bytes");
}

}  // namespace
}  // namespace tafel::store
