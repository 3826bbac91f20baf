#include "blackboard/store/memory_kv.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::fault_of;
using testing::is_same;
using testing::must;
using testing::OnMemory;
using testing::OpenStore;
using testing::set_leaf;

Result<void> try_commit(Kv& kv, const std::string& key) {
  const auto write = must(kv.write());
  must(write->put(Table::fields, key, "value"));
  return write->commit();
}

bool is_there(Kv& kv, const std::string& key) { return must(must(kv.read())->get(Table::fields, key)).has_value(); }

TEST(MemoryDisk, TheNthCommitFailsAndLeavesTheDiskAsBefore) {
  const auto disk = make_memory_disk();
  auto kv = open_memory(disk);
  fail_commit(*disk, 2, Fault::io);
  must(try_commit(*kv, "first"));
  EXPECT_EQ(fault_of(try_commit(*kv, "second")), "io");
  kv = open_memory(disk);
  EXPECT_TRUE(is_there(*kv, "first"));
  EXPECT_FALSE(is_there(*kv, "second"));
  must(try_commit(*kv, "third"));
}

TEST(MemoryDisk, AfterAnUnknownFailureTheHandleRefusesEverything) {
  const auto disk = make_memory_disk();
  const auto kv = open_memory(disk);
  fail_commit(*disk, 1, Fault::io);
  EXPECT_EQ(fault_of(try_commit(*kv, "key")), "io");
  EXPECT_EQ(fault_of(kv->read()), "io");
  EXPECT_EQ(fault_of(kv->write()), "io");
}

TEST(MemoryDisk, AfterAFullDiskTheHandleGoesOn) {
  const auto disk = make_memory_disk();
  const auto kv = open_memory(disk);
  fail_commit(*disk, 1, Fault::full);
  EXPECT_EQ(fault_of(try_commit(*kv, "key")), "full");
  EXPECT_FALSE(is_there(*kv, "key"));
  must(try_commit(*kv, "key"));
  EXPECT_TRUE(is_there(*kv, "key"));
}

TEST(MemoryDisk, AFailedCommitOfAStoreLeavesTheBoardAsBefore) {
  OpenStore<OnMemory> store;
  store.commit("board", {set_leaf("a", 1, 1)}, "first");
  const auto before = store.load("board");
  fail_commit(*store.place().disk, 1, Fault::io);
  auto batch = must(store->begin());
  must(batch->append(testing::delta_for("board", "second"), testing::judgement_of({set_leaf("a", 2, 2)}),
                     testing::stamp_at(2000)));
  EXPECT_EQ(fault_of(batch->commit()), "io");
  EXPECT_EQ(fault_of(store->snapshot()), "io");
  batch.reset();
  store.reopen();
  EXPECT_TRUE(is_same(store.load("board"), before));
  EXPECT_EQ(must(must(store->begin())->known_receipt("board", "planner", "second")).has_value(), false);
  EXPECT_TRUE(store.defects("board").empty());
}

}  // namespace
}  // namespace tafel::store
