// The load's own reading and writing against the codecs of the product.
#include "bench/tafel/messages.hpp"

#include <gtest/gtest.h>

#include "bench/tafel/pack_reader.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/protocol.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::bench {
namespace {

TEST(LoadMessages, ADeltaIsReadAsWhatItSays) {
  std::string bytes;
  const Update update{42, "e-0000000001", "e-0000000002", "field.07", "0123456789abcdef"};
  write_delta(bytes, "run", "bench/run/0", 17, update);
  const auto value = codec::decode(bytes);
  ASSERT_TRUE(value) << value.error().message;
  const auto delta = codec::delta_from_value(*value);
  ASSERT_TRUE(delta) << delta.error().message;
  EXPECT_EQ(delta->id, "run-42");
  EXPECT_EQ(delta->board, "bench/run/0");
  EXPECT_EQ(delta->base, 17U);
  ASSERT_EQ(delta->ops.size(), 2U);
  EXPECT_FALSE(delta->ops[0].malformed || delta->ops[1].malformed);
  EXPECT_EQ(codec::encode(*value).size(), bytes.size()) << "and it is in the shortest forms";
}

TEST(LoadMessages, ALargePreloadStaysBelowTheLimits) {
  const std::string bytes = preload_delta("bench/0123456789/0", "0123456789-preload", 0, 4'000);
  EXPECT_LT(bytes.size(), 60'000U);
  const auto value = codec::decode(bytes);
  ASSERT_TRUE(value);
  const auto delta = codec::delta_from_value(*value);
  ASSERT_TRUE(delta);
  EXPECT_FALSE(delta->ops.at(0).malformed);
}

TEST(LoadMessages, NumbersComeBackFromDeltaIds) {
  EXPECT_EQ(update_number("run", delta_id("run", 0)), 0U);
  EXPECT_EQ(update_number("run", delta_id("run", 12'345'678'901)), 12'345'678'901U);
  for (const std::string_view other : {"run", "run-", "ran-1", "run-1x", "runs-1", ""}) {
    EXPECT_FALSE(update_number("run", other)) << other;
  }
}

TEST(LoadMessages, ReceiptsTellVersionAndOutcome) {
  Receipt applied;
  applied.version = 300;
  applied.ops.resize(2);
  applied.ops[0].outcome = Outcome::unchanged;
  applied.ops[1].outcome = Outcome::kept_both;
  Receipt unchanged;
  unchanged.ops.resize(1);
  unchanged.ops[0].outcome = Outcome::unchanged;
  Receipt refused;
  refused.error = ErrorInfo{};
  const List list{codec::receipt_to_value(applied), codec::receipt_to_value(unchanged),
                  codec::receipt_to_value(refused)};
  std::vector<ReadReceipt> read;
  ASSERT_TRUE(read_receipts(codec::encode_message({std::string(codec::message::receipts), 9, list}), read));
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].version, 300U);
  EXPECT_TRUE(read[0].made_version);
  EXPECT_FALSE(read[0].is_error);
  EXPECT_FALSE(read[1].made_version);
  EXPECT_FALSE(read[1].is_error);
  EXPECT_TRUE(read[2].is_error);
}

TEST(LoadMessages, EventsTellVersionAndDelta) {
  codec::FeedEvent event;
  event.version = 70'000;
  event.time = 1'796'008'806'119;
  event.actor = "bench-1";
  event.delta_id = "run-5";
  const std::string one = codec::encode_feed_event(event);
  ++event.version;
  event.delta_id = "run-6";
  const std::string two = codec::encode_feed_event(event);
  std::string_view board;
  std::vector<ReadEvent> events;
  const std::string message = codec::encode_events_message("bench/run/0", {one, two});
  ASSERT_TRUE(read_events(message, board, events));
  EXPECT_EQ(board, "bench/run/0");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].version, 70'000U);
  EXPECT_EQ(events[0].delta_id, "run-5");
  EXPECT_EQ(events[1].version, 70'001U);
  EXPECT_EQ(events[1].delta_id, "run-6");
}

TEST(LoadMessages, WhatIsCutOffDoesNotRead) {
  const std::string message =
      codec::encode_message({std::string(codec::message::receipts), 9, List{Map{{"version", 1}}}});
  std::vector<ReadReceipt> receipts;
  for (std::size_t size = 0; size < message.size(); ++size) {
    EXPECT_FALSE(read_receipts(std::string_view(message).substr(0, size), receipts)) << size;
  }
  EXPECT_TRUE(read_receipts(message, receipts));
}

TEST(PackReader, SkipsItemsOfEveryForm) {
  const Value value = Map{{"integers", List{0, -1, 200, -200, 70'000, -70'000, 5'000'000'000, -5'000'000'000}},
                          {"floats", List{1.5, -2.25}},
                          {"texts", List{"", std::string(40, 'a'), std::string(300, 'b'), std::string(70'000, 'c')}},
                          {"others", List{true, false, Value()}},
                          {"long", List(std::vector<Value>(20, Value(1)))}};
  const std::string bytes = codec::encode(value) + codec::encode(Value(7));
  PackReader in(bytes);
  in.skip();
  EXPECT_EQ(in.unsigned_integer(), 7U);
  EXPECT_FALSE(in.failed());
  in.skip();
  EXPECT_TRUE(in.failed());
}

}  // namespace
}  // namespace tafel::bench
