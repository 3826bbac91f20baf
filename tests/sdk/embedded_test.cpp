#include "agents_sdk/embedded/embedded.hpp"

#include "tests/sdk/server_fixture.hpp"

namespace tafel::sdk {
namespace {

const std::string board_id = "acme/board";

struct EmbeddedTest : ::testing::Test {
  std::unique_ptr<Embedded> open(std::vector<std::string> listen = {}) {
    EmbeddedOptions options;
    options.data = directory.path() / "data";
    options.listen = std::move(listen);
    auto opened = Embedded::open(options);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  std::unique_ptr<Agent> connect(Embedded& embedded, const std::string& actor) {
    auto agent = embedded.connect(actor);
    EXPECT_TRUE(agent) << agent.error().message;
    return agent ? std::move(*agent) : nullptr;
  }
  testing::TemporaryDirectory directory;
};

TEST_F(EmbeddedTest, AgentsOfOneProcessShareABoard) {
  const auto embedded = open();
  EXPECT_TRUE(embedded->endpoints().empty());
  const auto planner = connect(*embedded, "planner");
  const auto critic = connect(*embedded, "critic");
  const auto plans = join(*planner, board_id);
  const auto views = join(*critic, board_id);
  Recorder recorder;
  views->watch(recorder.watcher());
  for (int i = 1; i <= 50; ++i) ASSERT_TRUE(plans->apply(DeltaBuilder().set("n", i)));
  ASSERT_TRUE(recorder.wait_for_version(50));
  EXPECT_EQ(recorder.versions(), up_to(50));
  EXPECT_EQ(views->get("n"), Value(50));
  EXPECT_EQ(digest_of(*views), server_digest(*planner, board_id));
}

TEST_F(EmbeddedTest, WhatWasAcknowledgedIsThereAfterOpeningAgain) {
  std::string epoch;
  {
    const auto embedded = open();
    const auto agent = connect(*embedded, "a");
    epoch = agent->epoch();
    ASSERT_TRUE(agent->apply(board_id, DeltaBuilder().set("a", "kept")));
  }
  const auto embedded = open();
  const auto agent = connect(*embedded, "a");
  EXPECT_EQ(agent->epoch(), epoch);
  EXPECT_EQ(join(*agent, board_id)->get("a"), Value("kept"));
}

TEST_F(EmbeddedTest, OtherProcessesMayJoinOverFurtherEndpoints) {
  const auto embedded = open({"tcp://127.0.0.1:0"});
  ASSERT_EQ(embedded->endpoints().size(), 1U);
  const auto inside = connect(*embedded, "inside");
  AgentOptions options;
  options.server = embedded->endpoints().front();
  options.actor = "outside";
  options.connect_timeout = long_enough;
  const auto outside = Agent::connect(options);
  ASSERT_TRUE(outside) << outside.error().message;
  const auto far = join(**outside, board_id);
  const auto near = join(*inside, board_id);
  ASSERT_TRUE(near->apply(DeltaBuilder().set("a", 1)));
  ASSERT_TRUE(far->wait_for(1, long_enough));
  ASSERT_TRUE(far->apply(DeltaBuilder().set("a", 2)));
  EXPECT_EQ(far->get("a"), Value(2));
}

TEST_F(EmbeddedTest, ADirectoryIsOpenedOnce) {
  const auto embedded = open();
  EmbeddedOptions options;
  options.data = directory.path() / "data";
  const auto second = Embedded::open(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().fault, Fault::locked);
}

TEST_F(EmbeddedTest, TwoOfThemInOneProcessAreStrangers) {
  const auto embedded = open();
  testing::TemporaryDirectory elsewhere;
  EmbeddedOptions options;
  options.data = elsewhere.path() / "data";
  const auto other = Embedded::open(options);
  ASSERT_TRUE(other) << other.error().message;
  const auto here = connect(*embedded, "a");
  const auto there = connect(**other, "a");
  EXPECT_NE(here->epoch(), there->epoch());
}

}  // namespace
}  // namespace tafel::sdk
