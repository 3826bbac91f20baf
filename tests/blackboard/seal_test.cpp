#include "blackboard/seal.hpp"

#include <gtest/gtest.h>

#include "tests/blackboard/board_builder.hpp"
#include "tests/blackboard/changes_by_hand.hpp"

namespace tafel::blackboard {
namespace {

using testing::add_element;
using testing::delta_for;
using testing::gone;
using testing::hold;
using testing::judgement_of;
using testing::path_of;
using testing::set_leaf;
using testing::stamp_at;

// Seals changes to cells that were not there before.
Event sealed(const Head& head, std::vector<Change> changes, TimeMs now = 100) {
  const auto judgement = judgement_of(std::move(changes), head.version);
  const Placed placed{std::vector<CellBefore>(judgement.changes.size()), {}};
  return seal("acme/trip", head, delta_for("acme/trip", "delta-1"), judgement, stamp_at(now), placed).event;
}

TEST(Seal, TheFirstEventFollowsTheEmptyBoard) {
  const Event event = sealed({}, {set_leaf("a", 1, 1)});
  EXPECT_EQ(event.version, 1U);
  EXPECT_EQ(event.previous_hash, Sha256{});
  EXPECT_EQ(chain_defect({}, event), std::nullopt);
}

TEST(Seal, EachEventContinuesTheChain) {
  const Event first = sealed({}, {set_leaf("a", 1, 1)});
  const Head head = head_after({}, first);
  const Event second = sealed(head, {set_leaf("b", 2, 2)});
  EXPECT_EQ(second.version, 2U);
  EXPECT_EQ(second.previous_hash, first.hash);
  EXPECT_EQ(chain_defect(head, second), std::nullopt);
}

TEST(Seal, TimeNeverGoesBack) {
  const Head head = head_after({}, sealed({}, {set_leaf("a", 1, 1)}, 500));
  const Event event = sealed(head, {set_leaf("b", 2, 2)}, 400);
  EXPECT_EQ(event.time, 500);
}

TEST(Seal, DigestIsThatOfTheStateAfterwards) {
  Board board;
  Head head;
  const auto apply = [&](const std::vector<Change>& changes) {
    const auto judgement = judgement_of(changes);
    Placed placed;
    for (const Change& change : judgement.changes) {
      const Cell* cell = board.find(change.key);
      placed.cells.push_back({cell != nullptr ? digest_of(change.key, *cell) : Sum128{}, 0, 0});
    }
    const Event event = seal("b", head, delta_for("b"), judgement, stamp_at(1), placed).event;
    board.apply(event.version, changes);
    head = head_after(head, event);
    EXPECT_EQ(event.digest, board.digest()) << "version " << event.version;
  };
  apply({set_leaf("a", 1, 1), add_element("s", "x", 1)});
  apply({set_leaf("a", 2, 2)});
  apply({gone(leaf_key(path_of("a"))), add_element("s", "y", 3)});
}

TEST(Seal, ChainFindsEveryAlteration) {
  const Event sound = sealed({}, {set_leaf("a", 1, 1), add_element("s", "x", 1)});
  const auto defect_of = [&](auto alter) {
    Event event = sound;
    alter(event);
    return chain_defect({}, event).value_or("none");
  };
  const std::string unfit = "the hash of version 1 does not fit its content";
  EXPECT_EQ(defect_of([](Event& event) { event.actor = "other"; }), unfit);
  EXPECT_EQ(defect_of([](Event& event) { event.ops[0].value = 2; }), unfit);
  EXPECT_EQ(defect_of([](Event& event) { event.changes[0].change.image = std::nullopt; }), unfit);
  EXPECT_EQ(defect_of([](Event& event) { event.changes.pop_back(); }), unfit);
  EXPECT_EQ(defect_of([](Event& event) { event.changes[0].previous = 1; }), unfit);
  EXPECT_EQ(defect_of([](Event& event) { event.digest.low ^= 1; }), unfit);
  EXPECT_EQ(defect_of([](Event& event) { event.salt[3] = 'x'; }), unfit);
  EXPECT_EQ(defect_of([](Event& event) { event.results[0].outcome = Outcome::held; }), unfit);
  EXPECT_EQ(defect_of([](Event& event) { event.hash[0] ^= 1; }), unfit);
}

TEST(Seal, ChainFindsAMissingEvent) {
  const Event first = sealed({}, {set_leaf("a", 1, 1)});
  const Event second = sealed(head_after({}, first), {set_leaf("b", 2, 2)});
  EXPECT_EQ(chain_defect({}, second), "version 2 follows version 0");
}

TEST(Seal, ChainFindsAnEventOfAnotherHistory) {
  const Head head = head_after({}, sealed({}, {set_leaf("a", 1, 1)}));
  const Head other = head_after({}, sealed({}, {set_leaf("a", 2, 1)}));
  EXPECT_EQ(chain_defect(other, sealed(head, {set_leaf("b", 2, 2)})), "version 2 does not continue the chain");
}

TEST(Seal, ChainFindsTimeThatGoesBack) {
  Head head = head_after({}, sealed({}, {set_leaf("a", 1, 1)}, 500));
  const Event event = sealed(head, {set_leaf("b", 2, 2)}, 500);
  head.time = 501;
  EXPECT_EQ(chain_defect(head, event), "the time of version 2 goes back");
}

TEST(Seal, AReceiptIsRemadeFromTheEvent) {
  const Event event = sealed({}, {set_leaf("a", 1, 1)});
  const Receipt receipt = receipt_of(event, "epoch-1");
  EXPECT_EQ(receipt.id, "delta-1");
  EXPECT_EQ(receipt.board, "acme/trip");
  EXPECT_EQ(receipt.epoch, "epoch-1");
  EXPECT_EQ(receipt.version, 1U);
  ASSERT_EQ(receipt.ops.size(), 1U);
  EXPECT_EQ(receipt.ops[0].outcome, Outcome::applied);
  EXPECT_FALSE(receipt.duplicate);
}

TEST(FieldAfter, CountsTheElementsOfASet) {
  const Change first = add_element("s", "x", 1);
  const Change second = add_element("s", "y", 2);
  FieldInfo info = field_after({}, nullptr, first, 1);
  info = field_after(info, nullptr, second, 2);
  EXPECT_EQ(info.kind, Kind::set);
  EXPECT_EQ(info.parts, 2U);
  EXPECT_EQ(info.changed, 2U);
  info = field_after(info, &*first.image, gone(first.key), 3);
  EXPECT_EQ(info.parts, 1U);
  EXPECT_EQ(info.kind, Kind::set);
}

TEST(FieldAfter, ReplacingACellCountsItOnce) {
  const Change first = set_leaf("a", 1, 1);
  const FieldInfo info = field_after(field_after({}, nullptr, first, 1), &*first.image, set_leaf("a", 2, 2), 2);
  EXPECT_EQ(info.parts, 1U);
  EXPECT_EQ(info.lasting, 1U);
}

TEST(FieldAfter, AnEmptyFieldIsATombstoneThatKnowsItsVersion) {
  const Change change = set_leaf("a", 1, 1);
  const FieldInfo info = field_after(field_after({}, nullptr, change, 1), &*change.image, gone(change.key), 5);
  EXPECT_EQ(info.kind, std::nullopt);
  EXPECT_EQ(info.parts, 0U);
  EXPECT_EQ(info.changed, 5U);
}

TEST(FieldAfter, WhatMayExpireDoesNotLast) {
  Change change = set_leaf("a", 1, 1);
  std::get<RegisterCell>(*change.image).siblings[0].dot.expires = 1000;
  const FieldInfo info = field_after({}, nullptr, change, 1);
  EXPECT_EQ(info.parts, 1U);
  EXPECT_EQ(info.lasting, 0U);
}

TEST(FieldAfter, ASuggestionLeavesTheFieldAsItIs) {
  const FieldInfo before = field_after({}, nullptr, set_leaf("a", 1, 1), 1);
  const FieldInfo after = field_after(before, nullptr, hold("a", 2, 2), 2);
  EXPECT_EQ(after.changed, 1U);
  EXPECT_EQ(after.parts, 1U);
}

}  // namespace
}  // namespace tafel::blackboard
