#include "agents_sdk/cpp/outbox.hpp"

#include <gtest/gtest.h>

#include <random>

#include "agents_sdk/cpp/encode.hpp"
#include "common/base/limits.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/protocol.hpp"
#include "tests/effort.hpp"

namespace tafel::sdk {
namespace {

constexpr std::size_t roomy = 64 * 1024;

Outbox::Entry entry(const std::string& id, std::size_t value_bytes = 10) {
  DeltaBuilder builder;
  builder.id(id).set("a", std::string(value_bytes, 'x'));
  Delta delta = builder.delta();
  delta.board = "t/b";
  const auto encoded = encode_delta(delta, 1024 * 1024);
  EXPECT_TRUE(encoded);
  return {"t/b", id, encoded->bytes, encoded->objects, "", std::make_shared<Ticket::State>(id)};
}

std::vector<std::string> ids_in(const Outbox::Message& message) {
  std::vector<std::string> ids;
  const auto decoded = codec::decode_message(message.bytes);
  EXPECT_TRUE(decoded);
  for (const Value& delta : *decoded->body.get_if<List>()) ids.push_back(*delta.find("id")->get_if<std::string>());
  return ids;
}

Receipt receipt(const std::string& id) {
  Receipt made;
  made.id = id;
  made.board = "t/b";
  return made;
}

ErrorInfo error(ErrorCode code, bool retryable = true) {
  ErrorInfo made;
  made.code = code;
  made.retryable = retryable;
  return made;
}

Receipt refusal(const std::string& id, ErrorCode code) {
  Receipt made = receipt(id);
  made.error = error(code);
  return made;
}

std::vector<std::string> ids_of(const std::vector<Outbox::Done>& done) {
  std::vector<std::string> ids;
  for (const auto& one : done) ids.push_back(one.entry.delta_id);
  return ids;
}

using Ids = std::vector<std::string>;

struct OutboxTest : testing::Test {
  std::optional<Outbox::Message> next(std::size_t bytes_max = roomy) {
    return outbox.next(++last_id, bytes_max, now, refused);
  }
  std::vector<Outbox::Done> answer(std::vector<Receipt> receipts) {
    return outbox.receipts(last_id, std::move(receipts), now);
  }

  Outbox outbox;
  std::uint64_t last_id = 0;
  std::int64_t now = 1000;
  std::vector<Outbox::Done> refused;
};

TEST_F(OutboxTest, OneDeltaGoesAtOnce) {
  outbox.add(entry("1"));
  const auto message = next();
  ASSERT_TRUE(message);
  EXPECT_EQ(ids_in(*message), Ids{"1"});
}

TEST_F(OutboxTest, WhatQueuedWhileAMessageWasOnItsWayGoesAsOneMessage) {
  outbox.add(entry("1"));
  ASSERT_TRUE(next());
  outbox.add(entry("2"));
  outbox.add(entry("3"));
  EXPECT_FALSE(outbox.next(99, roomy, now, refused));
  EXPECT_EQ(ids_of(answer({receipt("1")})), Ids{"1"});
  EXPECT_EQ(ids_in(*next()), (Ids{"2", "3"}));
  EXPECT_EQ(ids_of(answer({receipt("2"), receipt("3")})), (Ids{"2", "3"}));
  EXPECT_EQ(outbox.size(), 0U);
}

TEST_F(OutboxTest, MessagesStayBelowTheServersLimit) {
  for (int i = 0; i < 50; ++i) outbox.add(entry(std::to_string(i), 500));
  Ids sent;
  int messages = 0;
  while (const auto message = next(4096)) {
    EXPECT_LE(message->bytes.size(), 4096U);
    const Ids ids = ids_in(*message);
    ++messages;
    std::vector<Receipt> receipts;
    for (const auto& id : ids) receipts.push_back(receipt(id));
    answer(receipts);
    sent.insert(sent.end(), ids.begin(), ids.end());
  }
  EXPECT_LT(messages, 10);
  ASSERT_EQ(sent.size(), 50U);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(sent[static_cast<std::size_t>(i)], std::to_string(i));
}

TEST_F(OutboxTest, ADeltaAboveTheLimitOfAServerThatCameBackIsRefusedAndTheOthersGo) {
  outbox.add(entry("large", 5000));
  outbox.add(entry("small"));
  EXPECT_EQ(ids_in(*next(4096)), Ids{"small"});
  ASSERT_EQ(ids_of(refused), Ids{"large"});
  EXPECT_EQ(refused[0].receipt.error->code, ErrorCode::too_large);
}

TEST_F(OutboxTest, AReconnectSendsAgainUnderTheSameIdsBeforeAnythingNewer) {
  outbox.add(entry("1"));
  outbox.add(entry("2"));
  ASSERT_TRUE(next());
  outbox.add(entry("3"));
  outbox.reconnected();
  EXPECT_EQ(ids_in(*next()), (Ids{"1", "2", "3"}));
}

TEST_F(OutboxTest, AnAnswerToAnOlderMessageIsIgnored) {
  outbox.add(entry("1"));
  ASSERT_TRUE(next());
  outbox.reconnected();
  ASSERT_TRUE(next());
  EXPECT_TRUE(outbox.receipts(1, {receipt("1")}, now).empty());
  EXPECT_EQ(ids_of(answer({receipt("1")})), Ids{"1"});
}

TEST_F(OutboxTest, WhatWillNotPassLaterEitherIsAVerdict) {
  outbox.add(entry("1"));  // on a board whose data are damaged
  ASSERT_TRUE(next());
  Receipt damaged = receipt("1");
  damaged.error = error(ErrorCode::unavailable, false);
  EXPECT_EQ(ids_of(answer({damaged})), Ids{"1"});
  EXPECT_EQ(outbox.size(), 0U);
}

TEST_F(OutboxTest, AnAnswerThatDoesNotComeIsNotWaitedForForEver) {
  outbox.add(entry("1"));
  ASSERT_TRUE(next());
  outbox.add(entry("2"));
  EXPECT_FALSE(next());
  ASSERT_TRUE(outbox.retry_at());
  now = *outbox.retry_at();
  EXPECT_EQ(ids_in(*next()), Ids{"1"});
}

// A server that needs longer than the wait must not drown in repeats whose answers are all ignored.
TEST_F(OutboxTest, TheAnswerToTheFirstSendingStillCountsAfterARepeat) {
  for (const char* id : {"1", "2", "3"}) outbox.add(entry(id));
  const auto first = next();
  ASSERT_TRUE(first);
  now = *outbox.retry_at();
  const auto again = next();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id, first->id);
  EXPECT_EQ(again->bytes, first->bytes);
  const auto answered = [&](std::vector<Receipt> receipts) {
    return ids_of(outbox.receipts(first->id, std::move(receipts), now));
  };
  EXPECT_EQ(answered({receipt("1"), receipt("2")}), (Ids{"1", "2"}));
  EXPECT_EQ(answered({receipt("1"), receipt("2"), receipt("3")}), Ids{"3"});
  EXPECT_EQ(answered({receipt("3")}), Ids{});
  EXPECT_EQ(outbox.size(), 0U);
}

TEST_F(OutboxTest, TheWaitForAnAnswerGrowsWithEachRepeatAndIsBounded) {
  outbox.add(entry("1"));
  ASSERT_TRUE(next());
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 7; ++i) {
    waits.push_back(*outbox.retry_at() - now);
    now = *outbox.retry_at();
    ASSERT_TRUE(next());
  }
  const std::vector<std::int64_t> expected{10'000, 20'000, 40'000, 80'000, 160'000, 160'000, 160'000};
  EXPECT_EQ(waits, expected);
}

TEST_F(OutboxTest, ReceiptsMayComeInSeveralMessages) {
  for (const char* id : {"1", "2", "3"}) outbox.add(entry(id));
  ASSERT_TRUE(next());
  EXPECT_EQ(ids_of(answer({receipt("1")})), Ids{"1"});
  EXPECT_TRUE(outbox.awaits_answer());
  EXPECT_EQ(ids_of(answer({receipt("2"), receipt("3")})), (Ids{"2", "3"}));
  EXPECT_FALSE(outbox.awaits_answer());
}

TEST_F(OutboxTest, AReconnectBetweenTwoPartsSendsTheRest) {
  for (const char* id : {"1", "2", "3"}) outbox.add(entry(id));
  ASSERT_TRUE(next());
  answer({receipt("1")});
  outbox.reconnected();
  EXPECT_EQ(ids_in(*next()), (Ids{"2", "3"}));
}

TEST_F(OutboxTest, DeltasThatWerePutOffAreSentAgainInOrderAfterAWhile) {
  for (const char* id : {"1", "2", "3"}) outbox.add(entry(id));
  ASSERT_TRUE(next());
  outbox.add(entry("4"));
  const auto done = answer({refusal("1", ErrorCode::busy), receipt("2"), refusal("3", ErrorCode::unavailable)});
  EXPECT_EQ(ids_of(done), Ids{"2"});
  EXPECT_FALSE(next());
  ASSERT_TRUE(outbox.retry_at());
  EXPECT_GT(*outbox.retry_at(), now);
  now = *outbox.retry_at();
  EXPECT_EQ(ids_in(*next()), (Ids{"1", "3", "4"}));
}

TEST_F(OutboxTest, StorageFullIsGivenToTheCaller) {
  outbox.add(entry("1"));
  ASSERT_TRUE(next());
  const auto done = answer({refusal("1", ErrorCode::storage_full)});
  ASSERT_EQ(ids_of(done), Ids{"1"});
  EXPECT_EQ(done[0].receipt.error->code, ErrorCode::storage_full);
}

TEST_F(OutboxTest, TheWaitAfterRefusalsGrowsAndIsBounded) {
  outbox.add(entry("1"));
  std::int64_t longest = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(next());
    EXPECT_TRUE(outbox.refused(last_id, error(ErrorCode::busy), now).empty());
    longest = std::max(longest, *outbox.retry_at() - now);
    now = *outbox.retry_at();
  }
  EXPECT_EQ(longest, limits::retry_ms_max);
}

TEST_F(OutboxTest, ARefusedMessageIsSplitSoThatOneDeltaCannotSpoilTheOthers) {
  for (const char* id : {"1", "2", "3"}) outbox.add(entry(id));
  ASSERT_TRUE(next());
  EXPECT_TRUE(outbox.refused(last_id, error(ErrorCode::bad_request), now).empty());
  EXPECT_EQ(ids_in(*next()), Ids{"1"});
  answer({receipt("1")});
  EXPECT_EQ(ids_in(*next()), Ids{"2"});
  const auto done = outbox.refused(last_id, error(ErrorCode::bad_request), now);
  ASSERT_EQ(ids_of(done), Ids{"2"});
  EXPECT_EQ(done[0].receipt.error->code, ErrorCode::bad_request);
  EXPECT_EQ(done[0].receipt.id, "2");
  outbox.add(entry("4"));
  EXPECT_EQ(ids_in(*next()), Ids{"3"});
  answer({receipt("3")});
  EXPECT_EQ(ids_in(*next()), Ids{"4"});
}

TEST_F(OutboxTest, ReceiptsOfOtherDeltasAreNobodysVerdict) {
  outbox.add(entry("1"));
  outbox.add(entry("2"));
  ASSERT_TRUE(next());
  EXPECT_TRUE(answer({receipt("2"), receipt("1")}).empty());
  EXPECT_EQ(outbox.size(), 2U);
}

TEST_F(OutboxTest, DeltasWithVersionsOfAnotherStoreAreNotSentToTheNewOne) {
  Outbox::Entry with_base = entry("based");
  with_base.epoch = "old";
  outbox.add(entry("free"));
  outbox.add(std::move(with_base));
  const auto done = outbox.epoch_is("new");
  ASSERT_EQ(ids_of(done), Ids{"based"});
  EXPECT_EQ(done[0].receipt.error->code, ErrorCode::wrong_epoch);
  EXPECT_EQ(ids_in(*next()), Ids{"free"});
}

TEST_F(OutboxTest, GivingUpReturnsEverythingWithoutAReceipt) {
  for (const char* id : {"1", "2"}) outbox.add(entry(id));
  ASSERT_TRUE(next());
  outbox.add(entry("3"));
  EXPECT_EQ(outbox.give_up().size(), 3U);
  EXPECT_EQ(outbox.size(), 0U);
}

// Against a server that loses connections, is busy, splits its receipts, and remembers what it has accepted: each delta
// gets exactly one verdict, and what is accepted for the first time comes in the order of submission.
TEST(OutboxLaw, EveryDeltaGetsOneVerdictAndFirstAcceptancesKeepTheOrder) {
  for (std::uint32_t seed = 1; seed <= 200 * effort; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto chance = [&](unsigned of) { return random() % of == 0; };
    Outbox outbox;
    std::vector<Outbox::Done> refused;
    std::vector<int> accepted;  // in order
    std::vector<int> verdicts(40, 0);
    const auto count = [&](const std::vector<Outbox::Done>& done) {
      for (const auto& one : done) ++verdicts[static_cast<std::size_t>(std::stoi(one.entry.delta_id))];
    };
    int submitted = 0;
    std::int64_t now = 0;
    std::uint64_t id = 0;
    // One entry a message that is busy would let a later one pass: the server here refuses from some delta on.
    while (submitted < 40 || outbox.size() > 0) {
      while (submitted < 40 && chance(2)) outbox.add(entry(std::to_string(submitted++), 40));
      const auto message = outbox.next(++id, 1200, now, refused);
      now += 7;
      if (!message) continue;
      if (chance(5)) {
        outbox.reconnected();
        continue;
      }  // never came there
      std::vector<Receipt> receipts;
      bool busy = false;
      for (const auto& delta : ids_in(*message)) {
        busy = busy || chance(12);
        if (busy) {
          receipts.push_back(refusal(delta, ErrorCode::busy));
        } else {
          const int number = std::stoi(delta);
          if (std::find(accepted.begin(), accepted.end(), number) == accepted.end()) accepted.push_back(number);
          receipts.push_back(receipt(delta));
        }
      }
      if (chance(5)) {
        outbox.reconnected();
        continue;
      }  // the answer was lost
      const auto cut = static_cast<std::ptrdiff_t>(random() % (receipts.size() + 1));
      if (cut > 0) count(outbox.receipts(id, {receipts.begin(), receipts.begin() + cut}, now));
      if (chance(6)) {
        outbox.reconnected();
        continue;
      }  // in the middle of the answer
      if (receipts.begin() + cut != receipts.end())
        count(outbox.receipts(id, {receipts.begin() + cut, receipts.end()}, now));
    }
    ASSERT_EQ(accepted.size(), 40U);
    EXPECT_TRUE(std::is_sorted(accepted.begin(), accepted.end()));
    EXPECT_EQ(verdicts, std::vector<int>(40, 1));
  }
}

TEST(EncodeDelta, RefusesWhatIsLargerThanTheServerTakes) {
  DeltaBuilder builder;
  builder.id("1").set("a", std::string(2000, 'x'));
  Delta delta = builder.delta();
  delta.board = "t/b";
  const auto encoded = encode_delta(delta, 1000);
  ASSERT_FALSE(encoded);
  EXPECT_EQ(encoded.error().code, ErrorCode::too_large);
  EXPECT_NE(encoded.error().message.find("1000"), std::string::npos);
}

TEST(EncodeDelta, NamesTheOpWhoseValueNoMessageCanCarry) {
  Delta delta = DeltaBuilder().id("1").set("a", 1).set("b.c", std::numeric_limits<double>::quiet_NaN()).delta();
  delta.board = "t/b";
  const auto encoded = encode_delta(delta, roomy);
  ASSERT_FALSE(encoded);
  EXPECT_EQ(encoded.error().code, ErrorCode::bad_value);
  EXPECT_EQ(encoded.error().op, 1U);
  EXPECT_EQ(encoded.error().path, "b.c");
}

TEST(EncodeDelta, RefusesTextThatIsNoUtf8Anywhere) {
  Delta delta = DeltaBuilder().id("1").set("a\xFF", 1).delta();
  delta.board = "t/b";
  EXPECT_FALSE(encode_delta(delta, roomy));
  delta = DeltaBuilder().id("1\xFF").set("a", 1).delta();
  delta.board = "t/b";
  EXPECT_FALSE(encode_delta(delta, roomy));
  delta = DeltaBuilder().id("1").set("a", 1).expect_value("b", "\xFF").delta();
  delta.board = "t/b";
  EXPECT_FALSE(encode_delta(delta, roomy));
}

TEST(DeltaBuilderTest, MakesTheOpsInTheOrderOfTheCalls) {
  const Delta delta = DeltaBuilder(7)
                          .set("a", 1)
                          .op_confidence(Confidence::verified)
                          .add("s", {"x"})
                          .remove("s", {"y"})
                          .incr("n", 2)
                          .append("l", "m")
                          .ttl(milliseconds(500))
                          .unset("u")
                          .expect_version(7)
                          .expect("a", 3)
                          .confidence(Confidence::guess)
                          .delta();
  ASSERT_EQ(delta.ops.size(), 6U);
  EXPECT_EQ(delta.base, 7U);
  EXPECT_EQ(delta.ops[0].confidence, Confidence::verified);
  EXPECT_EQ(delta.ops[1].add, std::vector<Value>{"x"});
  EXPECT_EQ(delta.ops[2].remove, std::vector<Value>{"y"});
  EXPECT_EQ(delta.ops[3].value, Value(2));
  EXPECT_EQ(delta.ops[4].ttl_ms, Value(500));
  EXPECT_EQ(delta.ops[5].verb, Verb::unset);
  EXPECT_EQ(delta.expect.version, 7U);
}

TEST(DeltaBuilderTest, AModifierWithoutAnOpDoesNothing) {
  EXPECT_TRUE(DeltaBuilder().assert_().ttl(milliseconds(5)).op_confidence(Confidence::guess).delta().ops.empty());
}

}  // namespace
}  // namespace tafel::sdk
