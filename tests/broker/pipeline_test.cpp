// The commit pipeline on a memory store and a fake clock, in one thread (SEMANTICS 5 and 10; O06, O07, O15).
#include "broker/pipeline.hpp"

#include <gtest/gtest.h>

#include <set>

#include "common/codec/json.hpp"
#include "common/codec/receipt_codec.hpp"
#include "tests/broker/faulty_kv.hpp"
#include "tests/broker/rig.hpp"
#include "tests/effort.hpp"

namespace tafel {
namespace {

using testing::delta;
using testing::Rig;
using testing::value_in;

std::string text_of(Receipt receipt) {
  receipt.duplicate = false;
  return codec::to_json(codec::receipt_to_value(receipt));
}

std::string code_of(const Receipt& receipt) {
  return receipt.error ? std::string(name_of(receipt.error->code)) : "none";
}

TEST(Pipeline, GivesEachDeltaTheNextVersionAndOneEvent) {
  Rig rig;
  const auto done =
      rig.commit_all({{"analyst", delta(R"({"set": {"a": 1}})")}, {"booker", delta(R"({"set": {"b": 2}})")}});
  ASSERT_TRUE(done.has_value());
  ASSERT_EQ(done->events.size(), 2U);
  EXPECT_EQ(done->receipts[0].version, 1U);
  EXPECT_EQ(done->receipts[1].version, 2U);
  EXPECT_EQ(done->receipts[1].epoch, "e1");
  EXPECT_EQ(done->events[1]->actor, "booker");
  EXPECT_EQ(value_in(rig.store(), "b"), Value(2));
}

TEST(Pipeline, ManyBoardsCountOnTheirOwn) {
  Rig rig;
  const auto done = rig.commit_all(
      {{"analyst", delta(R"({"set": {"a": 1}})", "acme/x")}, {"analyst", delta(R"({"set": {"a": 1}})", "acme/y")}});
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->receipts[0].version, 1U);
  EXPECT_EQ(done->receipts[1].version, 1U);
}

TEST(Pipeline, NeverCallsAWriterStaleForItsClock_O06) {
  Rig rig;
  TimeMs last_time = 0;
  Version version = 0;
  for (int i = 0; i < 1'000 * effort; ++i) {
    if (i == 500 * effort) rig.now -= 3'600'000;
    rig.now += i % 3 == 0 ? 1 : 0;
    const std::string text =
        R"({"expect": {"version": )" + std::to_string(version) + R"(}, "set": {"n": )" + std::to_string(i) + "}}";
    const auto done = rig.commit_all({{"analyst", delta(text)}});
    ASSERT_TRUE(done.has_value());
    ASSERT_FALSE(done->receipts[0].error.has_value()) << done->receipts[0].error->message;
    version = done->receipts[0].version;
    ASSERT_GE(done->events.at(0)->time, last_time);
    last_time = done->events[0]->time;
  }
  EXPECT_EQ(version, 1'000U * effort);
}

TEST(Pipeline, OneOfManyRacersInABatchWinsAndTheOthersSeeIt_O07) {
  Rig rig;
  std::vector<broker::Submission> batch;
  for (int i = 0; i < 64; ++i) {
    const std::string name = "racer-" + std::to_string(i);
    batch.push_back({name, delta(R"({"expect": {"fields": {"lock": 0}}, "set": {"lock": ")" + name + R"("}})")});
  }
  const auto done = rig.commit_all(batch);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->events.size(), 1U);
  EXPECT_FALSE(done->receipts[0].error.has_value());
  for (std::size_t i = 1; i < batch.size(); ++i) {
    ASSERT_EQ(code_of(done->receipts[i]), "stale");
    ASSERT_TRUE(done->receipts[i].error->guards.has_value());
    EXPECT_NE(codec::to_json(*done->receipts[i].error->guards).find("racer-0"), std::string::npos);
  }
}

TEST(Pipeline, ARetryTakesEffectOnceAlsoAfterARestart_O15) {
  Rig rig;
  const char* once = R"({"id": "d1", "incr": {"n": 1}})";
  const Receipt first = rig.commit(once);
  EXPECT_FALSE(first.duplicate);
  for (int resend = 0; resend < 3; ++resend) {
    if (resend == 1) rig.reopen();
    const Receipt again = rig.commit(once);
    EXPECT_TRUE(again.duplicate);
    EXPECT_EQ(text_of(again), text_of(first));
  }
  EXPECT_EQ(value_in(rig.store(), "n"), Value(1));
  const Receipt other = rig.commit(R"({"id": "d1", "incr": {"n": 2}})");
  EXPECT_EQ(code_of(other), "id_reused");
  EXPECT_EQ(value_in(rig.store(), "n"), Value(1));
}

TEST(Pipeline, ARetryInTheSameBatchIsADuplicate) {
  Rig rig;
  const auto done = rig.commit_all(
      {{"analyst", delta(R"({"id": "d", "incr": {"n": 1}})")}, {"analyst", delta(R"({"id": "d", "incr": {"n": 1}})")}});
  ASSERT_TRUE(done.has_value());
  EXPECT_FALSE(done->receipts[0].duplicate);
  EXPECT_TRUE(done->receipts[1].duplicate);
  EXPECT_EQ(value_in(rig.store(), "n"), Value(1));
}

TEST(Pipeline, TheSameIdOfAnotherActorIsAnotherDelta) {
  Rig rig;
  EXPECT_EQ(rig.commit(R"({"id": "d", "incr": {"n": 1}})", "analyst").version, 1U);
  const Receipt receipt = rig.commit(R"({"id": "d", "incr": {"n": 1}})", "booker");
  EXPECT_FALSE(receipt.duplicate);
  EXPECT_EQ(receipt.version, 2U);
}

TEST(Pipeline, RemembersWhatWasAcceptedWithoutTakingAVersion) {
  Rig rig;
  const char* blank = R"({"id": "d", "set": {"a": ""}})";
  const Receipt first = rig.commit(blank);
  EXPECT_EQ(first.version, 0U);
  EXPECT_EQ(first.ops.at(0).outcome, Outcome::ignored_blank);
  rig.commit(R"({"set": {"b": 1}})");
  rig.reopen();
  const Receipt again = rig.commit(blank);
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(text_of(again), text_of(first));
}

TEST(Pipeline, DoesNotRememberRejections) {
  Rig rig;
  const char* guarded = R"({"id": "d", "expect": {"version": 1}, "set": {"b": 2}})";
  EXPECT_EQ(code_of(rig.commit(guarded)), "stale");
  rig.commit(R"({"set": {"a": 1}})");
  const Receipt receipt = rig.commit(guarded);
  EXPECT_EQ(code_of(receipt), "none");
  EXPECT_FALSE(receipt.duplicate);
  EXPECT_EQ(receipt.version, 2U);
}

TEST(Pipeline, LooksAtTheIdBeforeTheEpochAndAtTheEpochBeforeTheBase) {
  Rig rig;
  const char* mine = R"({"id": "d", "epoch": "e1", "set": {"a": 1}})";
  rig.commit(mine);
  EXPECT_EQ(code_of(rig.commit(R"({"id": "d", "epoch": "e0", "set": {"a": 1}})")), "id_reused");
  const Receipt receipt = rig.commit(R"({"epoch": "e0", "base": 99, "set": {"a": 2}})");
  EXPECT_EQ(code_of(receipt), "wrong_epoch");
  EXPECT_EQ(receipt.error->found, Value("e1"));
  EXPECT_EQ(code_of(rig.commit(R"({"epoch": "e1", "base": 99, "expect": {"version": 0}, "set": {"a": 2}})")),
            "future_base");
}

TEST(Pipeline, ADryRunTellsTheVersionAndLeavesNothingBehind) {
  Rig rig;
  const auto done = rig.commit_all({{"analyst", delta(R"({"id": "d", "check": true, "set": {"a": 1}})")}});
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->receipts[0].version, 1U);
  EXPECT_EQ(done->receipts[0].ops.at(0).outcome, Outcome::applied);
  EXPECT_TRUE(done->events.empty());
  EXPECT_TRUE(value_in(rig.store(), "a").is_nil());
  const Receipt receipt = rig.commit(R"({"id": "d", "set": {"a": 1}})");
  EXPECT_EQ(code_of(receipt), "none");
  EXPECT_EQ(receipt.version, 1U);
}

TEST(Pipeline, AnswersThatChangeNothingCostNoSync) {
  Rig rig;
  rig.commit(R"({"id": "d", "set": {"a": 1}})");
  store::fail_commit(*rig.disk, 1, Fault::io);  // the next commit would fail
  const auto done = rig.commit_all({{"analyst", delta(R"({"id": "d", "set": {"a": 1}})")},
                                    {"analyst", delta(R"({"expect": {"version": 7}, "set": {"a": 2}})")},
                                    {"analyst", delta(R"({"check": true, "set": {"a": 2}})")},
                                    {"analyst", delta(R"({"set": {"a": null}})")}});
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_TRUE(done->receipts[0].duplicate);
  EXPECT_EQ(code_of(done->receipts[1]), "stale");
  EXPECT_EQ(done->receipts[2].version, 2U);
  EXPECT_EQ(done->receipts[3].ops.at(0).outcome, Outcome::ignored_blank);
}

TEST(Pipeline, GivesNoReceiptWhenTheCommitFails_O11) {
  Rig rig;
  store::fail_commit(*rig.disk, 1, Fault::io);
  const auto done = rig.commit_all({{"analyst", delta(R"({"id": "d", "incr": {"n": 1}})")}});
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().fault, Fault::io);
  rig.reopen();
  EXPECT_FALSE(rig.commit(R"({"id": "d", "incr": {"n": 1}})").duplicate);
  EXPECT_EQ(value_in(rig.store(), "n"), Value(1));
}

TEST(Pipeline, AFullStoreRefusesAdditionsAndAnswersEverythingElse) {
  Rig rig;
  rig.commit(R"({"id": "d1", "set": {"a": 1}})");
  const auto faults = std::make_shared<testing::Faults>();
  rig.put_under(std::make_unique<testing::FaultyKv>(store::open_memory(rig.disk), faults));
  faults->full = true;
  const auto done = rig.commit_all({{"analyst", delta(R"({"id": "d1", "set": {"a": 1}})")},
                                    {"analyst", delta(R"({"id": "d2", "set": {"b": 1}})")},
                                    {"analyst", delta(R"({"expect": {"version": 7}, "set": {"a": 2}})")}});
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_TRUE(done->receipts[0].duplicate);
  EXPECT_EQ(code_of(done->receipts[1]), "storage_full");
  EXPECT_TRUE(done->receipts[1].error->retryable);
  EXPECT_EQ(done->receipts[1].version, 1U);
  EXPECT_EQ(code_of(done->receipts[2]), "stale");
  EXPECT_TRUE(done->events.empty());

  faults->full = false;  // room again: it goes on by itself
  EXPECT_EQ(rig.commit(R"({"id": "d2", "set": {"b": 1}})").version, 2U);
}

TEST(Pipeline, WhatFitsIsCommittedWhenTheBatchDoesNot) {
  Rig rig;
  store::fail_commit(*rig.disk, 1, Fault::full);
  const auto done =
      rig.commit_all({{"analyst", delta(R"({"set": {"a": 1}})")}, {"analyst", delta(R"({"set": {"b": 1}})")}});
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->receipts[0].version, 1U);
  EXPECT_EQ(done->receipts[1].version, 2U);
  ASSERT_EQ(done->events.size(), 2U);
  EXPECT_EQ(done->events[1]->version, 2U);
}

TEST(Pipeline, ADamagedBoardDoesNotStopTheOthers) {
  Rig rig;
  rig.commit(R"({"set": {"a": 1}})");
  const auto faults = std::make_shared<testing::Faults>();
  rig.put_under(std::make_unique<testing::FaultyKv>(store::open_memory(rig.disk), faults));
  faults->damaged = testing::board;
  const auto done = rig.commit_all(
      {{"analyst", delta(R"({"set": {"a": 2}})")}, {"analyst", delta(R"({"set": {"a": 2}})", "acme/other")}});
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(code_of(done->receipts[0]), "unavailable");
  EXPECT_FALSE(done->receipts[0].error->retryable);
  EXPECT_EQ(code_of(done->receipts[1]), "none");
}

TEST(Pipeline, RefusesNamesThatAreNotWellFormed) {
  Rig rig;
  Delta odd = delta(R"({"set": {"a": 1}})");
  odd.board = "acme//1";
  auto done = rig.commit_all({{"analyst", odd}, {"an\nn", delta(R"({"set": {"a": 1}})")}});
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(code_of(done->receipts[0]), "bad_path");
  EXPECT_EQ(code_of(done->receipts[1]), "bad_value");
}

TEST(Pipeline, ChecksRightsInTheOrderOfTheLog) {
  Rig rig;
  Grant read_only{*Pattern::for_boards("**"), *Pattern::for_paths("**"), 1, confidence_highest};
  rig.roles.add_role("guest", {read_only});
  rig.roles.add_actor("*", {"guest"});
  EXPECT_EQ(code_of(rig.commit(R"({"set": {"a": 1}})")), "forbidden");
  EXPECT_TRUE(value_in(rig.store(), "a").is_nil());
}

TEST(Pipeline, ResultsDoNotDependOnHowDeltasAreBatched) {
  const auto run = [](std::size_t batch_size) {
    Rig rig;
    std::vector<broker::Submission> all;
    for (int i = 0; i < 60; ++i) {
      const std::string base = std::to_string(i / 3);
      all.push_back(
          {"a" + std::to_string(i % 4), delta(R"({"base": )" + base + R"(, "set": {"x": )" + std::to_string(i % 7) +
                                              R"(}, "patch": {"s": {"add": [)" + std::to_string(i % 5) + "]}}}")});
    }
    std::string receipts;
    for (std::size_t at = 0; at < all.size(); at += batch_size) {
      const auto last = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + batch_size));
      const auto done = rig.commit_all({all.begin() + static_cast<std::ptrdiff_t>(at), last});
      for (const Receipt& receipt : done->receipts) receipts += text_of(receipt);
    }
    return receipts;
  };
  const std::string alone = run(1);
  EXPECT_EQ(run(7), alone);
  EXPECT_EQ(run(60), alone);
}

}  // namespace
}  // namespace tafel
