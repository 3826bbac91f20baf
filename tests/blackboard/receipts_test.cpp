#include "blackboard/store/receipts.hpp"

#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::delta_for;
using testing::judgement_of;
using testing::must;
using testing::OnMemory;
using testing::OpenStore;
using testing::set_leaf;
using testing::stamp_at;

constexpr TimeMs hour = 3600 * 1000;

template <class Place>
class ReceiptsTest : public ::testing::Test {
 protected:
  std::optional<KnownReceipt> known(const std::string& id, const std::string& actor = "planner",
                                    const std::string& board = "board") {
    return must(must(store_->begin())->known_receipt(board, actor, id));
  }
  // An accepted delta that changed nothing.
  void remember(const std::string& id, TimeMs now, const std::string& board = "board") {
    const auto batch = must(store_->begin());
    Receipt receipt;
    receipt.id = id;
    receipt.board = board;
    receipt.epoch = store_->epoch();
    receipt.version = must(batch->head(board)).version;
    receipt.ops.resize(1);
    receipt.ops[0].outcome = Outcome::ignored_blank;
    must(batch->remember(delta_for(board, id), "planner", receipt, now));
    must(batch->commit());
  }

  OpenStore<Place> store_;
};
TYPED_TEST_SUITE(ReceiptsTest, testing::Places, testing::PlaceNames);

TYPED_TEST(ReceiptsTest, AResendFindsTheFirstReceiptEvenAfterReopening) {
  const Event event = this->store_.commit("board", {set_leaf("a", 1, 1)}, "id");
  for (int round = 0; round < 2; ++round) {
    const auto known = this->known("id").value();
    EXPECT_EQ(known.payload_hash, sha256("payload"));
    EXPECT_EQ(known.receipt.version, event.version);
    EXPECT_EQ(known.receipt.id, "id");
    EXPECT_EQ(known.receipt.epoch, this->store_->epoch());
    ASSERT_EQ(known.receipt.ops.size(), 1U);
    EXPECT_EQ(known.receipt.ops[0].outcome, Outcome::applied);
    this->store_.reopen();
  }
}

TYPED_TEST(ReceiptsTest, AResendInTheSameBatchFindsTheReceipt) {
  const auto batch = must(this->store_->begin());
  must(batch->append(delta_for("board", "id"), judgement_of({set_leaf("a", 1, 1)}), stamp_at(1)));
  EXPECT_EQ(must(batch->known_receipt("board", "planner", "id"))->receipt.version, 1U);
}

TYPED_TEST(ReceiptsTest, ReceiptsBelongToABoardAnActorAndAnId) {
  this->store_.commit("board", {set_leaf("a", 1, 1)}, "id");
  EXPECT_FALSE(this->known("id", "somebody else"));
  EXPECT_FALSE(this->known("another id"));
  EXPECT_FALSE(this->known("id", "planner", "another board"));
}

TYPED_TEST(ReceiptsTest, ADeltaWithoutAnIdLeavesNoReceipt) {
  this->store_.commit("board", {set_leaf("a", 1, 1)});
  EXPECT_FALSE(this->known(""));
}

TYPED_TEST(ReceiptsTest, AnAcceptedDeltaWithoutVersionIsRememberedToo) {
  this->store_.commit("board", {set_leaf("a", 1, 1)});
  this->remember("blank", 2000);
  this->store_.reopen();
  const auto known = this->known("blank").value();
  EXPECT_EQ(known.receipt.version, 1U);
  EXPECT_EQ(known.receipt.ops.at(0).outcome, Outcome::ignored_blank);
  EXPECT_EQ(known.payload_hash, sha256("payload"));
  EXPECT_EQ(this->store_.defects("board"), std::vector<std::string>());
}

TYPED_TEST(ReceiptsTest, ABoardWithNothingButReceiptsIsNotThere) {
  this->remember("blank", 2000, "untouched");
  EXPECT_TRUE(this->known("blank", "planner", "untouched"));
  const auto snapshot = must(this->store_->snapshot());
  EXPECT_FALSE(must(snapshot->head("untouched")));
  EXPECT_TRUE(must(snapshot->boards("", 10)).empty());
}

TYPED_TEST(ReceiptsTest, AReceiptIsForgottenAfterItsWindow) {
  this->store_.commit("board", {set_leaf("a", 1, 1)}, "old", 0);
  this->remember("old blank", 1 * hour);
  this->store_.commit("board", {set_leaf("a", 2, 2)}, "younger", 20 * hour);
  EXPECT_TRUE(this->known("old"));
  this->store_.commit("board", {set_leaf("a", 3, 3)}, "new", 24 * hour + 1);
  EXPECT_FALSE(this->known("old"));
  EXPECT_TRUE(this->known("old blank"));
  this->store_.commit("board", {set_leaf("a", 4, 4)}, "newer", 26 * hour);
  EXPECT_FALSE(this->known("old blank"));
  EXPECT_TRUE(this->known("younger"));
  EXPECT_EQ(this->store_.defects("board"), std::vector<std::string>());
}

TYPED_TEST(ReceiptsTest, AnIdIsNewAgainAfterItsReceiptIsForgotten) {
  this->store_.commit("board", {set_leaf("a", 1, 1)}, "id", 0);
  this->store_.commit("board", {set_leaf("a", 2, 2)}, "other", 25 * hour);
  EXPECT_FALSE(this->known("id"));
  this->store_.commit("board", {set_leaf("a", 3, 3)}, "id", 26 * hour);
  EXPECT_EQ(this->known("id")->receipt.version, 3U);
}

TYPED_TEST(ReceiptsTest, ABacklogIsForgottenAFewPerAppend) {
  for (int i = 0; i < 20; ++i)
    this->store_.commit("board", {set_leaf("a", i, static_cast<Version>(i + 1))}, "old" + std::to_string(i), 0);
  const auto known_count = [&] {
    int count = 0;
    for (int i = 0; i < 20; ++i) count += this->known("old" + std::to_string(i)) ? 1 : 0;
    return count;
  };
  this->store_.commit("board", {set_leaf("a", 20, 21)}, "new", 30 * hour);
  EXPECT_EQ(known_count(), 16);
  for (int i = 0; i < 4; ++i) this->remember("blank" + std::to_string(i), 30 * hour);
  EXPECT_EQ(known_count(), 0);
}

// The same receipts with a window of three.
struct SmallWindow {
  OnMemory place;
  std::unique_ptr<Kv> kv = place.open();
  std::unique_ptr<KvWrite> write = must(kv->write());
  BoardRecord board{.number = BoardNumber{1}, .head = {}, .receipts_first = 0, .receipts_next = 0};

  void remember(const std::string& id, Version version) {
    ReceiptRecord record;
    record.version = version;
    must(remember_receipt(*write, board, "planner", id, record, 0, {.window_ms = hour, .count_max = 3}));
  }
  Version find(const std::string& id) {
    const auto found = must(find_receipt(*write, board, "planner", id));
    return found ? found->version : 0;
  }
};

TEST(Receipts, OnlyTheLastOnesAreKept) {
  SmallWindow window;
  for (Version version = 1; version <= 5; ++version) window.remember("id" + std::to_string(version), version);
  EXPECT_EQ(window.find("id1"), 0U);
  EXPECT_EQ(window.find("id2"), 0U);
  EXPECT_EQ(window.find("id3"), 3U);
  EXPECT_EQ(window.find("id5"), 5U);
  EXPECT_EQ(window.board.receipts_first, 2U);
  EXPECT_EQ(window.board.receipts_next, 5U);
}

TEST(Receipts, TheEndOfAnOlderReceiptSparesANewerOneOfTheSameId) {
  SmallWindow window;
  window.remember("id", 1);
  window.remember("id", 2);
  window.remember("other", 3);
  window.remember("another", 4);  // the first entry of "id" leaves the queue
  EXPECT_EQ(window.find("id"), 2U);
  window.remember("third", 5);  // and now the second
  EXPECT_EQ(window.find("id"), 0U);
}

}  // namespace
}  // namespace tafel::store
