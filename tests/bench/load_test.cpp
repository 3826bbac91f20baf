// Short runs of the load against a real server in this process: the checks hold, and they fail when something is lost.
#include <gtest/gtest.h>

#include <mutex>

#include "bench/load/report_line.hpp"
#include "bench/load/run.hpp"
#include "bench/tafel/embedded_server.hpp"
#include "bench/tafel/tafel_peer.hpp"
#include "common/codec/json.hpp"
#include "tests/temporary_directory.hpp"

namespace tafel::bench {
namespace {

Settings short_run(Shape shape) {
  Settings settings;
  settings.shape = shape;
  settings.elements = 100;
  settings.seconds = 0.3;
  settings.warmup_seconds = 0.1;
  settings.is_embedded = true;
  return settings;
}

void expect_right(Shape shape) {
  const testing::TemporaryDirectory folder;
  const auto server = EmbeddedServer::start(folder.path());
  ASSERT_TRUE(server) << server.error().message;
  TafelPeer peer((*server)->endpoint(), "run");
  const Settings settings = short_run(shape);
  const auto outcome = run_load(peer, settings);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->is_right(shape)) << plain_line("tafel", settings, *outcome);
  EXPECT_EQ(outcome->unchanged, 0U);
  EXPECT_EQ(outcome->events, outcome->receipts * shape.subscribers);
  EXPECT_GE(outcome->ack_ns.count(), outcome->acked);
  EXPECT_TRUE(codec::parse_json(json_line("tafel", settings, *outcome)));
}

TEST(Load, OneAgentWithoutSubscribers) { expect_right({.agents = 1, .depth = 1, .subscribers = 0, .boards = 1}); }
TEST(Load, ManyAgentsAndSubscribers) { expect_right({.agents = 8, .depth = 8, .subscribers = 3, .boards = 1}); }
TEST(Load, SeveralBoards) { expect_right({.agents = 4, .depth = 4, .subscribers = 2, .boards = 3}); }

// Answers at once, and loses or repeats what it is told to.
class FakePeer final : public Peer {
 public:
  enum class Wrong { nothing, hides_version, loses_event, repeats_event, skips_version, refuses };
  explicit FakePeer(Wrong wrong) : wrong_(wrong) {}

  std::string name() const override { return "fake"; }
  Result<void> prepare(const Shape&, std::uint64_t) override { return {}; }
  Result<void> start_agents(std::size_t) override { return {}; }
  Result<void> start_subscribers(std::size_t) override { return {}; }
  void submit(std::size_t agent, const Update& update) override {
    const std::lock_guard lock(mutex_);
    const bool is_faulty = update.number == 10;
    acks_.push_back({agent, true, is_faulty && wrong_ == Wrong::refuses});
    ++version_;
    if (is_faulty && wrong_ == Wrong::skips_version) ++version_;
    if (is_faulty && wrong_ == Wrong::loses_event) return;
    deliveries_.push_back({0, 0, version_, update.number});
    if (is_faulty && wrong_ == Wrong::repeats_event) deliveries_.push_back(deliveries_.back());
    if (is_faulty && wrong_ == Wrong::hides_version) ++counted_;
  }
  Result<void> flush() override { return {}; }
  Result<void> poll_acks(std::chrono::milliseconds, std::vector<Ack>& acks) override {
    const std::lock_guard lock(mutex_);
    acks.swap(acks_);
    return {};
  }
  Result<void> poll_deliveries(std::chrono::milliseconds, std::vector<Delivery>& deliveries) override {
    const std::lock_guard lock(mutex_);
    deliveries.swap(deliveries_);
    return {};
  }
  Result<std::uint64_t> versions() override { return version_ + counted_; }

 private:
  const Wrong wrong_;
  std::mutex mutex_;
  std::vector<Ack> acks_;
  std::vector<Delivery> deliveries_;
  std::uint64_t version_ = 0;
  std::uint64_t counted_ = 0;  // versions that nobody was told of
};

TEST(Load, NoticesWhatAPeerDoesWrong) {
  using Wrong = FakePeer::Wrong;
  Settings settings = short_run({.agents = 2, .depth = 2, .subscribers = 1, .boards = 1});
  settings.seconds = 0.02;
  settings.warmup_seconds = 0;
  for (const Wrong wrong :
       {Wrong::nothing, Wrong::hides_version, Wrong::repeats_event, Wrong::skips_version, Wrong::refuses}) {
    FakePeer peer(wrong);
    const auto outcome = run_load(peer, settings);
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_GT(outcome->receipts, 10U);
    EXPECT_EQ(outcome->is_right(settings.shape), wrong == Wrong::nothing) << static_cast<int>(wrong);
  }
}

TEST(Load, DoesNotWaitForeverForWhatIsLost) {
  Settings settings = short_run({.agents = 2, .depth = 2, .subscribers = 1, .boards = 1});
  settings.seconds = 0.02;
  settings.warmup_seconds = 0;
  settings.drain_seconds = 0.2;
  FakePeer peer(FakePeer::Wrong::loses_event);
  const auto outcome = run_load(peer, settings);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().fault, Fault::unreachable);
}

}  // namespace
}  // namespace tafel::bench
