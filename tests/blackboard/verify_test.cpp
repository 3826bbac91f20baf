#include "blackboard/store/verify.hpp"

#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"
#include "common/codec/event_codec.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::add_element;
using testing::gone;
using testing::hold;
using testing::must;
using testing::NaiveHistory;
using testing::OnMemory;
using testing::OpenStore;
using testing::path_of;
using testing::RandomChanges;
using testing::set_leaf;

constexpr BoardNumber number{1};
using Defects = std::vector<std::string>;

// A board with a bit of everything, and ways to alter its records behind the store's back, checksums included.
class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
    store_.commit("board", {set_leaf("a", 1, 1), add_element("s", "x", 1)}, "first");
    store_.commit("board", {set_leaf("a", 2, 2), add_element("s", "y", 2), hold("a", 9, 2)});
    store_.commit("board", {set_leaf("b", 3, 3), gone(element_key(path_of("s"), "x"))});
  }

  template <class Alter>
  void alter(Alter alter) {
    const auto kv = store_.place().open();
    const auto write = must(kv->write());
    alter(*write);
    must(write->commit());
  }
  template <class Alter>
  void alter_event(Version version, Alter alter_event) {
    alter([&](KvWrite& write) {
      const std::string key = event_key(number, version);
      Event event = must(codec::decode_event(*must(get_record(write, Table::events, key))));
      alter_event(event);
      must(put_record(write, Table::events, key, codec::encode_event(event)));
    });
  }
  template <class Alter>
  void alter_field(const std::string& path, Alter alter_field) {
    alter([&](KvWrite& write) {
      const std::string key = field_key(number, path_of(path));
      FieldRecord record = decode_field(*must(get_record(write, Table::fields, key))).value();
      alter_field(record);
      must(put_record(write, Table::fields, key, encode_field(path_of(path), record)));
    });
  }
  Defects defects() { return store_.defects("board"); }

  OpenStore<OnMemory> store_;
};

TEST_F(VerifyTest, ASoundBoardHasNoDefects) {
  const auto report = must(store_->verify("board"));
  EXPECT_EQ(report.defects, Defects());
  EXPECT_EQ(report.board, "board");
  EXPECT_EQ(report.version, 3U);
  EXPECT_EQ(report.events, 3U);
  EXPECT_EQ(report.cells, 4U);
}

TEST_F(VerifyTest, AnUnknownBoardIsSound) {
  const auto report = must(store_->verify("unknown"));
  EXPECT_EQ(report.defects, Defects());
  EXPECT_EQ(report.version, 0U);
}

TEST_F(VerifyTest, FindsAnAlteredLeaf) {
  alter_field("a", [](FieldRecord& record) { record.leaf.set_image(encode_image(set_leaf("a", 7, 2).image)); });
  EXPECT_EQ(defects(), Defects{"the leaf of field a does not fit the log"});
}

TEST_F(VerifyTest, FindsAnAlteredFieldRecord) {
  alter_field("s", [](FieldRecord& record) { record.info.parts = 5; });
  EXPECT_EQ(defects(), Defects{"the record of field s does not fit the log"});
}

TEST_F(VerifyTest, FindsAnAlteredTrail) {
  alter_field("a", [](FieldRecord& record) { record.leaf.trail = blackboard::Trail({{2, 0}}); });
  EXPECT_EQ(defects(), Defects{"the trail of the leaf of field a does not fit the log"});
}

TEST_F(VerifyTest, FindsAMissingElement) {
  alter([](KvWrite& write) { must(write.erase(Table::parts, part_key(number, element_key(path_of("s"), "y")))); });
  EXPECT_EQ(defects(),
            (Defects{"3 cells are stored, the log makes 4", "2 records of cells are stored, the log makes 3"}));
}

TEST_F(VerifyTest, FindsAMissingTombstone) {
  alter([](KvWrite& write) { must(write.erase(Table::parts, part_key(number, element_key(path_of("s"), "x")))); });
  EXPECT_EQ(defects(), Defects{"2 records of cells are stored, the log makes 3"});
}

TEST_F(VerifyTest, FindsAMissingField) {
  alter([](KvWrite& write) { must(write.erase(Table::fields, field_key(number, path_of("b")))); });
  EXPECT_EQ(defects(), (Defects{"1 of 3 fields are missing", "3 cells are stored, the log makes 4"}));
}

TEST_F(VerifyTest, FindsAFieldThatTheLogDoesNotKnow) {
  alter([](KvWrite& write) {
    must(put_record(write, Table::fields, field_key(number, path_of("z")), encode_field(path_of("z"), FieldRecord())));
  });
  EXPECT_EQ(defects(), Defects{"the log does not know the field z"});
}

TEST_F(VerifyTest, FindsACellThatBelongsToNoField) {
  alter([](KvWrite& write) {
    must(put_record(write, Table::parts, part_key(number, element_key(path_of("z"), "x")), encode_part(StoredCell())));
  });
  EXPECT_EQ(defects(), (Defects{"1 cells belong to no field", "4 records of cells are stored, the log makes 3"}));
}

TEST_F(VerifyTest, FindsAnAlteredEvent) {
  alter_event(2, [](Event& event) { event.actor = "somebody else"; });
  EXPECT_EQ(defects(), Defects{"the hash of version 2 does not fit its content"});
}

TEST_F(VerifyTest, FindsAnEventSealedAnewInsideTheChain) {
  alter_event(2, [](Event& event) {
    event.actor = "somebody else";
    event.hash = codec::chain_hash(event);
  });
  EXPECT_EQ(defects(), Defects{"version 3 does not continue the chain"});
}

TEST_F(VerifyTest, FindsAWrongDigest) {
  alter_event(3, [](Event& event) {
    event.digest.low ^= 1;
    event.hash = codec::chain_hash(event);
  });
  EXPECT_EQ(defects(), (Defects{"the digest of version 3 does not fit the state after it",
                                "the head does not fit the event of version 3"}));
}

TEST_F(VerifyTest, FindsAWrongWayBack) {
  alter_event(3, [](Event& event) {
    event.changes[1].previous = 2;
    event.hash = codec::chain_hash(event);
  });
  const auto found = defects();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], "version 3 leads to wrong older versions of the element a178 of field s");
}

TEST_F(VerifyTest, FindsAMissingEvent) {
  alter([](KvWrite& write) { must(write.erase(Table::events, event_key(number, 2))); });
  const auto found = defects();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0], "version 3 follows version 1");
}

TEST_F(VerifyTest, FindsALogThatEndsEarly) {
  alter([](KvWrite& write) { must(write.erase(Table::events, event_key(number, 3))); });
  const auto found = defects();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0], "the log ends at version 2, the head says 3");
}

TEST_F(VerifyTest, FindsABrokenChecksumAndNamesThePlace) {
  alter([](KvWrite& write) {
    const std::string key = event_key(number, 2);
    std::string record = *must(write.get(Table::events, key));
    record[20] = static_cast<char>(record[20] ^ 1);
    must(write.put(Table::events, key, record));
  });
  const auto found = defects();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0],
            "the store is damaged at table events, key 00000000000000010000000000000002: the checksum does not fit the "
            "record");
}

TEST_F(VerifyTest, FindsAGapInTheQueueOfReceipts) {
  alter([](KvWrite& write) { must(write.erase(Table::receipt_queue, queue_key(number, 0))); });
  EXPECT_EQ(defects(), Defects{"0 receipts are queued, the head says 1"});
}

TEST_F(VerifyTest, TellsAtMostTwentyDefects) {
  for (Version version = 4; version <= 40; ++version) store_.commit("board", {set_leaf("c", 1, version)});
  for (Version version = 4; version <= 40; ++version) {
    alter_event(version, [](Event& event) { event.actor = "somebody else"; });
  }
  EXPECT_EQ(defects().size(), 20U);
}

TEST(Verify, LongHistoriesAreSound) {
  OpenStore<OnMemory> store;
  RandomChanges random(21);
  NaiveHistory history;
  const auto batch = must(store->begin());
  for (int i = 0; i < 1500; ++i) {
    const auto changes = random.next(history);
    must(batch->append(testing::delta_for("board", "id" + std::to_string(i)), testing::judgement_of(changes),
                       testing::stamp_at(i)));
    history.apply(history.version() + 1, changes);
  }
  must(batch->commit());
  const auto report = must(store->verify("board"));
  EXPECT_EQ(report.defects, Defects());
  EXPECT_EQ(report.events, 1500U);
  EXPECT_EQ(report.cells, history.board(history.version()).cells().size());
}

}  // namespace
}  // namespace tafel::store
