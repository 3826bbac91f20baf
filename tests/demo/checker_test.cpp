#include "demo/checker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "common/base/text.hpp"
#include "common/codec/receipt_codec.hpp"
#include "tests/demo/schedule_fixture.hpp"

namespace tafel::demo {
namespace {

constexpr auto stated = Confidence::stated;

// A board of two versions: one agent said x = 1, another, who had not seen it, said x = 2; both stand.
class Check : public testing::Test {
 protected:
  Check() {
    record.board = "demo/x";
    add("anna", 1, {{Value(1), dot_of(1, stated)}}, Outcome::applied);
    add("bert", 2, {{Value(1), dot_of(1, stated)}, {Value(2), dot_of(2, stated)}}, Outcome::kept_both);
    record.head = 2;
    record.digest = to_hex(to_bytes(board.digest()));
    mirrors = {{record.board, 2, record.digest, 0}};
  }

  void add(const std::string& actor, Version version, std::vector<Sibling> siblings, Outcome outcome) {
    JournalEntry entry;
    entry.delta = on(0).confidence(stated).set("x", static_cast<std::int64_t>(version)).id(actor + "-1").delta();
    entry.delta.board = record.board;
    entry.receipt.version = version;
    entry.receipt.ops.resize(1);
    entry.receipt.ops[0].outcome = outcome;
    codec::FeedEvent event;
    event.version = version;
    event.actor = actor;
    event.delta_id = entry.delta.id;
    event.changes = {{leaf_key(path_of("x")), Cell(RegisterCell{std::move(siblings)})}};
    board.apply(version, event.changes);
    event.digest = board.digest();
    record.events.push_back(std::make_shared<const codec::FeedEvent>(std::move(event)));
    record.results.emplace_back(List{codec::op_result_to_value(entry.receipt.ops[0])});
    entries.push_back(std::move(entry));
  }

  void change_event(std::size_t index, const std::function<void(codec::FeedEvent&)>& change) {
    codec::FeedEvent event = *record.events[index];
    change(event);
    record.events[index] = std::make_shared<const codec::FeedEvent>(std::move(event));
  }

  BoardCheck check() const { return check_board(record, {{"anna", &entries[0]}, {"bert", &entries[1]}}, mirrors); }

  BoardRecord record;
  std::vector<JournalEntry> entries;
  std::vector<MirrorNote> mirrors;
  blackboard::Board board;
};

TEST_F(Check, ASoundBoardHasNoProblemsAndASchedule) {
  const BoardCheck result = check();
  EXPECT_EQ(result.untold, std::vector<std::string>{});
  EXPECT_EQ(result.unseen, std::vector<std::string>{});
  EXPECT_EQ(result.broken, std::vector<std::string>{});
  EXPECT_EQ(result.conflicts_open, 1U);
  ASSERT_EQ(result.schedule.arrivals.size(), 2U);
  EXPECT_EQ(result.schedule.arrivals[1].news.size(), 1U);
  EXPECT_EQ(find_losses(result.schedule, result.ending), Losses{});
}

TEST_F(Check, AReceiptWithoutItsEventIsFound) {
  change_event(1, [](codec::FeedEvent& event) { event.delta_id = "another"; });
  EXPECT_EQ(check().untold.size(), 1U);
}

TEST_F(Check, AReceiptTooManyIsFound) {
  record.events.pop_back();
  EXPECT_GE(check().untold.size(), 1U);
}

TEST_F(Check, AnotherOutcomeInTheLogIsFound) {
  entries[1].receipt.ops[0].outcome = Outcome::applied;
  EXPECT_EQ(check().untold.size(), 1U);
}

TEST_F(Check, AnAppliedOpWithoutAChangeIsFound) {
  change_event(1, [](codec::FeedEvent& event) { event.changes.clear(); });
  EXPECT_EQ(check().untold.size(), 1U);
}

TEST_F(Check, AHeldOpWithoutASuggestionIsFound) {
  entries[1].receipt.ops[0].held = {"2.0"};
  record.results[1] = List{codec::op_result_to_value(entries[1].receipt.ops[0])};
  EXPECT_EQ(check().untold.size(), 1U);
}

TEST_F(Check, AnEventThatLosesAnUnseenValueIsFound) {
  change_event(1, [](codec::FeedEvent& event) {
    auto& cell = std::get<RegisterCell>(*event.changes[0].image);
    cell.siblings.erase(cell.siblings.begin());
  });
  const BoardCheck result = check();
  EXPECT_EQ(result.unseen.size(), 1U);
  EXPECT_EQ(find_losses(result.schedule, result.ending), (Losses{.updates = 1}));
}

TEST_F(Check, DigestsMirrorsAndVerifyAreHeldAgainstTheLog) {
  mirrors[0].digest = "00";
  mirrors[0].resyncs = 1;
  record.defects = {"the chain is broken at version 2"};
  EXPECT_EQ(check().broken.size(), 3U);
  record.digest = "00";
  EXPECT_EQ(check().broken.size(), 3U);  // the mirror fits now, the log does not
  change_event(0, [](codec::FeedEvent& event) { event.digest = Sum128{1, 2}; });
  EXPECT_EQ(check().broken.size(), 4U);
}

}  // namespace
}  // namespace tafel::demo
