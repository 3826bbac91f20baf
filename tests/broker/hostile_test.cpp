// Peers that send what they like (RELIABILITY: malformed frames, huge frames, messages without an end, silence), while
// an honest client goes on working.
#include <gtest/gtest.h>

#include <functional>

#include "broker/server.hpp"
#include "common/base/limits.hpp"
#include "common/base/random.hpp"
#include "tests/broker/rig.hpp"
#include "tests/broker/wire_client.hpp"
#include "tests/effort.hpp"

namespace tafel {
namespace {

using testing::RawPeer;
using testing::WireClient;

constexpr std::size_t mebibyte = 1U << 20U;

class Hostile : public ::testing::Test {
 protected:
  void SetUp() override {
    broker::ServerOptions options;
    options.data = folder.path() / "data";
    options.listen = {"tcp://127.0.0.1:0"};
    options.open_feed_listen = "tcp://127.0.0.1:0";
    auto started = broker::Server::start(options);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    server = std::move(*started);
    honest = std::make_unique<WireClient>(context, request());
    honest->greet("honest");
  }

  std::string request() const { return server->endpoints().request.front(); }
  std::vector<std::string> all_endpoints() const {
    return {request(), server->endpoints().query, server->endpoints().feed, server->endpoints().open_feed};
  }

  void expect_work() {
    const auto receipt = honest->submit(Map{{"board", testing::board}, {"incr", Map{{"n", 1}}}});
    ASSERT_TRUE(receipt.has_value());
    EXPECT_FALSE(receipt->error.has_value());
    EXPECT_EQ(receipt->version, ++version);
  }

  testing::TemporaryDirectory folder;
  net::Context context;
  std::unique_ptr<broker::Server> server;
  std::unique_ptr<WireClient> honest;
  Version version = 0;
};

// What the peers below may make the process hold, at the worst: 8 MiB in frames of three bytes, for each of which
// libzmq keeps 64 before the watch over the connection looks again, is 171 MiB. The address sanitizer keeps freed
// memory and pads what is live; the thread sanitizer has five bytes beside each that was ever touched.
constexpr std::size_t growth_max = (is_thread_sanitized ? 1536 : is_sanitized ? 512 : 256) * mebibyte;

TEST_F(Hostile, RandomBytesHarmNobody) {
  SeededRandom random(11);
  for (int round = 0; round < 40; ++round) {
    for (const std::string& endpoint : all_endpoints()) {
      RawPeer peer(endpoint);
      if (round % 3 == 1) peer.send(testing::zmtp_greeting());
      if (round % 3 == 2) {
        ASSERT_TRUE(peer.shake_hands(endpoint == all_endpoints().back() ? "SUB" : "DEALER"));
      }
      peer.send(random.bytes(1 + static_cast<std::size_t>(round) * 37));
    }
    if (round % 10 == 0) expect_work();
  }
  expect_work();
}

TEST_F(Hostile, FramesOfRubbishAreAnsweredAndForgotten) {
  SeededRandom random(12);
  RawPeer peer(request());
  ASSERT_TRUE(peer.shake_hands());
  for (std::size_t round = 0; round < 200; ++round)
    ASSERT_TRUE(peer.send(testing::zmtp_frame(random.bytes(round), false)));
  expect_work();
}

TEST_F(Hostile, AFrameThatDeclaresTooMuchIsCut) {
  const std::size_t before = testing::resident_bytes();
  for (const std::string& endpoint : all_endpoints()) {
    RawPeer peer(endpoint);
    ASSERT_TRUE(peer.shake_hands(endpoint == all_endpoints().back() ? "SUB" : "DEALER"));
    const std::string gibibyte("\x02\x00\x00\x00\x00\x40\x00\x00\x00", 9);
    peer.send(gibibyte + std::string(mebibyte, 'x'));
    EXPECT_TRUE(peer.is_cut()) << endpoint;
  }
  for (int handshake = 0; handshake < 2; ++handshake) {  // the same in place of the handshake, from a stranger
    RawPeer peer(request());
    peer.send(testing::zmtp_greeting());
    peer.send(std::string("\x06\x00\x00\x00\x00\x40\x00\x00\x00", 9) + std::string(mebibyte, 'x'));
    EXPECT_TRUE(peer.is_cut());
  }
  EXPECT_LT(testing::resident_bytes(), before + 64 * mebibyte);
  expect_work();
}

TEST_F(Hostile, AMessageWithoutAnEndIsCutOff) {
  const std::size_t before = testing::resident_bytes();
  const std::string large = testing::zmtp_frame(std::string(limits::request_bytes_max - 100, 'x'), true);
  std::string small;
  while (small.size() < large.size()) small += testing::zmtp_frame("x", true);
  for (const std::string& endpoint : {request(), server->endpoints().query, server->endpoints().feed}) {
    for (const std::string& parts : {large, small}) {
      RawPeer peer(endpoint);
      ASSERT_TRUE(peer.shake_hands());
      std::size_t sent = 0;
      while (sent < 8 * mebibyte && peer.send(parts)) {
        sent += parts.size();
        if (sent % mebibyte < parts.size()) expect_work();
      }
      EXPECT_TRUE(peer.is_cut()) << endpoint;
      expect_work();
    }
  }
  EXPECT_LT(testing::resident_bytes(), before + growth_max);
}

TEST_F(Hostile, ABusyHonestClientIsNotTakenForAnEndlessOne) {
  // Far more than one peer may have in an unfinished message, in whole ones. (Each word of a large message that libzmq
  // sends costs the thread sanitizer a suppressed report.)
  const std::size_t plenty = is_thread_sanitized ? mebibyte / 2 : std::size_t{16 * effort} * mebibyte;
  std::size_t sent = 0;
  std::uint64_t number = 0;
  std::uint64_t answered = 0;
  while (sent < plenty) {
    const Value delta =
        Map{{"board", testing::board}, {"check", true}, {"set", Map{{"x", Value(std::string(30'000, 'x'))}}}};
    const std::string bytes = codec::encode_message({"submit", 1000 + ++number, List{delta, delta}});
    ASSERT_TRUE(testing::eventually([&] { return honest->try_send(bytes); }));
    sent += bytes.size();
    while (number - answered > 100) {
      ASSERT_TRUE(honest->receive().has_value());
      ++answered;
    }
  }
  for (; answered < number; ++answered) ASSERT_TRUE(honest->receive().has_value());
  expect_work();
}

TEST_F(Hostile, SilentConnectionsAreClosed) {
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 200; ++i) peers.push_back(std::make_unique<RawPeer>(request()));
  expect_work();
  for (const auto& peer : peers) EXPECT_TRUE(peer->is_cut());
}

TEST_F(Hostile, AClientThatReadsNothingHarmsNobody) {
  RawPeer peer(request());
  ASSERT_TRUE(peer.shake_hands());
  codec::Hello hello;
  hello.actor = "deaf";
  peer.send(testing::zmtp_frame(codec::encode_message({"hello", 1, codec::to_value(hello)}), false));
  std::string pings;
  for (std::uint64_t i = 0; i < 5'000U * effort; ++i)
    pings += testing::zmtp_frame(codec::encode_message({"ping", i, Value()}), false);
  const std::size_t before = testing::resident_bytes();
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(peer.send(pings));
    expect_work();
  }
  EXPECT_LT(testing::resident_bytes(), before + growth_max);
}

}  // namespace
}  // namespace tafel
