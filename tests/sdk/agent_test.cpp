#include "agents_sdk/cpp/agent.hpp"

#include "common/base/limits.hpp"
#include "tests/sdk/server_fixture.hpp"
#include "tests/tcp_port.hpp"

namespace tafel::sdk {
namespace {

const std::string trip = "acme/trips/42";

struct AgentTest : ::testing::TestWithParam<const char*> {
  TestServer server{GetParam()};
  std::unique_ptr<Agent> agent = server.connect("planner");
};

INSTANTIATE_TEST_SUITE_P(Transports, AgentTest, ::testing::Values("tcp://127.0.0.1:0", "ipc"),
                         [](const auto& each) { return std::string(each.param).substr(0, 3); });

TEST_P(AgentTest, KnowsTheEpochOfTheStoreOnceConnected) {
  EXPECT_EQ(agent->epoch(), server.epoch());
  EXPECT_TRUE(agent->connected());
  EXPECT_EQ(agent->actor(), "planner");
}

TEST_P(AgentTest, ReadsItsWritesFromTheMirror) {
  const auto board = join(*agent, trip);
  for (int i = 1; i <= 50; ++i) {
    const auto receipt = board->apply(DeltaBuilder().set("budget.max", i).add("countries", {"国" + std::to_string(i)}));
    ASSERT_TRUE(receipt) << receipt.error().message;
    ASSERT_FALSE(receipt->error);
    EXPECT_EQ(receipt->version, static_cast<Version>(i));
    EXPECT_EQ(board->get("budget.max"), Value(i));
  }
  EXPECT_EQ(board->state().find("countries")->get_if<List>()->size(), 50U);
  EXPECT_EQ(digest_of(*board), server_digest(*agent, trip));
}

TEST_P(AgentTest, ATicketGetsTheReceiptOfItsDelta) {
  const Ticket ticket = agent->submit(trip, DeltaBuilder().id("D1").set("a", 1));
  EXPECT_EQ(ticket.delta_id(), "D1");
  const auto receipt = ticket.wait(long_enough);
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->id, "D1");
  EXPECT_EQ(receipt->version, 1U);
  EXPECT_TRUE(ticket.done());
  EXPECT_EQ(agent->outbox_size(), 0U);
}

TEST_P(AgentTest, DeltasGetIdsOfTheirOwn) {
  const Ticket one = agent->submit(trip, DeltaBuilder().set("a", 1));
  const Ticket two = agent->submit(trip, DeltaBuilder().set("a", 1));
  EXPECT_EQ(one.delta_id().size(), 26U);
  EXPECT_NE(one.delta_id(), two.delta_id());
}

TEST_P(AgentTest, ManyDeltasAreCommittedInTheOrderOfTheirSubmission) {
  const int many = 500 * effort;
  std::vector<Ticket> tickets;
  for (int i = 0; i < many; ++i) tickets.push_back(agent->submit(trip, DeltaBuilder().set("n", i)));
  Version last = 0;
  for (const Ticket& ticket : tickets) {
    const auto receipt = ticket.wait(long_enough);
    ASSERT_TRUE(receipt) << receipt.error().message;
    EXPECT_EQ(receipt->version, last + 1);
    last = receipt->version;
  }
}

TEST_P(AgentTest, ARefusalIsAValueAtOnce) {
  const auto board = join(*agent, trip);
  ASSERT_TRUE(board->apply(DeltaBuilder().set("a", 1)));
  const auto receipt = board->apply(DeltaBuilder().set("a", 2).expect_version(0));
  ASSERT_TRUE(receipt);
  ASSERT_TRUE(receipt->error);
  EXPECT_EQ(receipt->error->code, ErrorCode::stale);
}

TEST_P(AgentTest, AnOversizeDeltaIsRefusedAtOnceAndTheConnectionStays) {
  const Ticket large =
      agent->submit(trip, DeltaBuilder().set("a", std::string(40'000, 'x')).set("b", std::string(40'000, 'y')));
  EXPECT_TRUE(large.done());
  const auto refused = large.wait(milliseconds(0));
  ASSERT_TRUE(refused);
  ASSERT_TRUE(refused->error);
  EXPECT_EQ(refused->error->code, ErrorCode::too_large);
  const auto next = agent->apply(trip, DeltaBuilder().set("a", std::string(30'000, 'x')));
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->error) << next->error->message;
}

TEST_P(AgentTest, ManyLargeDeltasAreSplitOverMessages) {
  std::vector<Ticket> tickets;
  for (int i = 0; i < 40; ++i)
    tickets.push_back(agent->submit(trip, DeltaBuilder().set("f" + std::to_string(i), std::string(20'000, 'x'))));
  for (const Ticket& ticket : tickets) {
    const auto receipt = ticket.wait(long_enough);
    ASSERT_TRUE(receipt);
    EXPECT_FALSE(receipt->error) << receipt->error->message;
  }
}

// Long lists of small numbers are few bytes but many objects, of which a message may hold only so many.
TEST_P(AgentTest, ManyDeltasOfLongListsAreSplitOverMessages) {
  std::vector<Ticket> tickets;
  for (int i = 0; i < 30; ++i) {
    tickets.push_back(agent->submit(trip, DeltaBuilder().set("f" + std::to_string(i), List(4000, Value(i % 10)))));
  }
  for (const Ticket& ticket : tickets) {
    const auto receipt = ticket.wait(long_enough);
    ASSERT_TRUE(receipt);
    EXPECT_FALSE(receipt->error) << receipt->error->message;
  }
}

TEST_P(AgentTest, AValueThatNoMessageCanCarrySpoilsNoOtherDelta) {
  const Ticket good = agent->submit(trip, DeltaBuilder().set("a", 1));
  const Ticket bad = agent->submit(trip, DeltaBuilder().set("b.c", std::numeric_limits<double>::infinity()));
  const auto refused = bad.wait(long_enough);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error->code, ErrorCode::bad_value);
  EXPECT_EQ(refused->error->path, "b.c");
  EXPECT_FALSE(good.wait(long_enough)->error);
}

// O15
TEST_P(AgentTest, ADeltaSentAgainUnderItsIdIsADuplicateAndNotDoubled) {
  const DeltaBuilder once = DeltaBuilder().id("D").incr("n");
  const auto first = agent->apply(trip, once);
  ASSERT_TRUE(first);
  const auto other = server.connect("planner");
  for (Agent* sender : {agent.get(), agent.get(), other.get()}) {
    const auto again = sender->apply(trip, once);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->duplicate);
    EXPECT_EQ(again->version, first->version);
  }
  server.stop();
  server.start();
  const auto after_restart = agent->apply(trip, once);
  ASSERT_TRUE(after_restart);
  EXPECT_TRUE(after_restart->duplicate);
  const auto reused = agent->apply(trip, DeltaBuilder().id("D").incr("n", 2));
  ASSERT_TRUE(reused);
  EXPECT_EQ(reused->error->code, ErrorCode::id_reused);
  EXPECT_EQ(join(*agent, trip)->get("n"), Value(1));
}

TEST_P(AgentTest, SeesWhatOthersWrite) {
  const auto mine = join(*agent, trip);
  const auto other = server.connect("critic");
  const auto theirs = join(*other, trip);
  const auto receipt = theirs->apply(DeltaBuilder().set("visa", "needed"));
  ASSERT_TRUE(receipt);
  ASSERT_TRUE(mine->wait_for(receipt->version, long_enough));
  EXPECT_EQ(mine->get("visa"), Value("needed"));
  EXPECT_EQ(mine->digest(), theirs->digest());
}

TEST_P(AgentTest, ADryRunIsNotWaitedFor) {
  const auto board = join(*agent, trip);
  const auto receipt = board->apply(DeltaBuilder().set("a", 1).check());
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->version, 1U);
  EXPECT_EQ(board->version(), 0U);
}

TEST_P(AgentTest, ADeltaMadeFromAContextCarriesWhatWasSeen) {
  const auto board = join(*agent, trip);
  ASSERT_TRUE(board->apply(DeltaBuilder().set("budget.max", 10'000).confidence(Confidence::confirmed)));
  context::Request request;
  request.system = "You plan trips.";
  request.pinned = {"budget"};
  const auto seen = board->context(request);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->base, 1U);
  ASSERT_TRUE(board->apply(DeltaBuilder().set("budget.max", 20'000).confidence(Confidence::confirmed)));
  // Made from the older context: the newer value was not seen, so it is not overwritten silently.
  const auto receipt = board->apply(DeltaBuilder(*seen).set("budget.max", 12'000).confidence(Confidence::confirmed));
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->ops[0].outcome, Outcome::kept_both);
  const auto elsewhere = agent->apply("acme/trips/43", DeltaBuilder(*seen).set("a", 1));
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->error->code, ErrorCode::bad_value);
}

TEST_P(AgentTest, AnswersQueriesAndGivesTheServersWordsWhenRefused) {
  ASSERT_TRUE(agent->apply(trip, DeltaBuilder().set("a.b", 7)));
  const auto answer = agent->query(Map{{"what", "get"}, {"board", trip}, {"path", "a"}}, long_enough);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->find("value")->find("b")->as_int64(), 7);
  const auto refused = agent->query(Map{{"what", "nonsense"}}, long_enough);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::refused);
  EXPECT_NE(refused.error().message.find("nonsense"), std::string::npos);
}

TEST_P(AgentTest, AQuestionLargerThanTheServerTakesIsRefusedHere) {
  const auto refused = agent->query(Map{{"what", "get"}, {"board", std::string(100'000, 'x')}}, long_enough);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::refused);
  EXPECT_TRUE(agent->query(Map{{"what", "stat"}}, long_enough));
}

TEST_P(AgentTest, ABoardJoinedTwiceIsOneBoard) {
  const auto one = join(*agent, trip);
  EXPECT_EQ(join(*agent, trip), one);
}

TEST_P(AgentTest, ABoardMayBeLeftAndJoinedAgain) {
  for (int i = 1; i <= 5; ++i) {
    const auto board = join(*agent, trip);
    EXPECT_EQ(board->version(), static_cast<Version>(i - 1));
    ASSERT_TRUE(board->apply(DeltaBuilder().set("n", i)));
  }
}

TEST_P(AgentTest, ABoardOutlivesItsAgentAndSaysThatItIsClosed) {
  const auto board = join(*agent, trip);
  ASSERT_TRUE(board->apply(DeltaBuilder().set("a", 1)));
  agent.reset();
  EXPECT_EQ(board->get("a"), Value(1));
  const auto receipt = board->apply(DeltaBuilder().set("a", 2));
  ASSERT_FALSE(receipt);
  EXPECT_EQ(receipt.error().fault, Fault::closed);
  EXPECT_EQ(board->wait_for(99, milliseconds(10)).error().fault, Fault::closed);
}

TEST_P(AgentTest, ClosingWhileOthersWriteAndReadEndsEveryTicket) {
  const auto board = join(*agent, trip);
  board->watch([board = board.get()](const BoardEvent&) { static_cast<void>(board->state()); });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0;; ++n) {
        const auto receipt = board->submit(DeltaBuilder().set("f" + std::to_string(i), n)).wait(long_enough);
        static_cast<void>(board->snapshot()->digest());
        if (receipt) continue;
        EXPECT_EQ(receipt.error().fault, Fault::closed) << receipt.error().message;
        return;
      }
    });
  }
  EXPECT_TRUE(wait_until([&] { return board->version() > 50; }));
  agent.reset();
  for (std::thread& thread : threads) thread.join();
}

TEST_P(AgentTest, ABoardWithABadNameIsRefused) {
  EXPECT_FALSE(agent->join("a//b"));
  EXPECT_FALSE(agent->follow("a//b", 0, {}, [](const BoardEvent&) {}));
  const auto receipt = agent->apply("a//b", DeltaBuilder().set("a", 1));
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->error->code, ErrorCode::bad_path);
}

TEST_P(AgentTest, ADeltaWhoseReceiptIsLateStaysInTheOutboxAndClosingEndsIt) {
  server.stop();
  const Ticket ticket = agent->submit(trip, DeltaBuilder().set("a", 1));
  const auto late = ticket.wait(milliseconds(20));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().fault, Fault::unreachable);
  EXPECT_EQ(agent->outbox_size(), 1U);
  agent.reset();
  const auto closed = ticket.wait(milliseconds(0));
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().fault, Fault::closed);
}

TEST_P(AgentTest, AFullOutboxSaysBusy) {
  const auto small = server.connect("small", 3);
  server.stop();
  std::vector<Ticket> tickets;
  for (int i = 0; i < 4; ++i) tickets.push_back(small->submit(trip, DeltaBuilder().id(std::to_string(i)).set("a", i)));
  const auto refused = tickets[3].wait(milliseconds(0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::busy);
  server.start();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(tickets[static_cast<std::size_t>(i)].wait(long_enough));
  EXPECT_TRUE(small->apply(trip, DeltaBuilder().set("a", 9)));
}

TEST(AgentConnect, AnActorWithABadNameIsRefused) {
  for (const std::string& actor : {std::string(), std::string(129, 'a'), std::string("a\nb"), std::string("\xFF")}) {
    AgentOptions options;
    options.actor = actor;
    const auto agent = Agent::connect(options);
    ASSERT_FALSE(agent);
    EXPECT_EQ(agent.error().fault, Fault::bad_config);
  }
}

TEST(AgentConnect, AnActorThatTheServerRefusesIsToldSo) {
  TestServer server;
  AgentOptions options;
  options.server = server.endpoint();
  options.actor = "system";
  options.connect_timeout = long_enough;
  const auto agent = Agent::connect(options);
  ASSERT_FALSE(agent);
  EXPECT_EQ(agent.error().fault, Fault::refused);
  EXPECT_NE(agent.error().message.find("system"), std::string::npos);
}

TEST(AgentConnect, AnUnreachableServerIsToldWithinTheTimeout) {
  AgentOptions options;
  options.server = "tcp://127.0.0.1:1";
  options.actor = "a";
  options.connect_timeout = milliseconds(100);
  const auto begin = std::chrono::steady_clock::now();
  const auto agent = Agent::connect(options);
  ASSERT_FALSE(agent);
  EXPECT_EQ(agent.error().fault, Fault::unreachable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(5000));
}

TEST(AgentConnect, WhatIsNoEndpointIsToldAtOnce) {
  AgentOptions options;
  options.server = "here://there";
  options.actor = "a";
  options.connect_timeout = long_enough;
  const auto agent = Agent::connect(options);
  ASSERT_FALSE(agent);
  EXPECT_EQ(agent.error().fault, Fault::bad_config);
}

TEST(AgentConnect, AServerThatComesLaterIsFound) {
  std::unique_ptr<Agent> agent;
  TestServer server;
  server.stop();
  std::optional<testing::TcpPort> port(server.port());
  std::thread connecting([&] { agent = server.connect("early"); });
  port->await_connection();  // by an agent that finds no server
  port.reset();
  server.start();
  connecting.join();
  ASSERT_TRUE(agent);
  EXPECT_TRUE(agent->connected());
}

RoleTable readers_of_public() {
  RoleTable roles;
  Grant read{*Pattern::for_boards("**"), *Pattern::for_paths("public.**"), 1U << static_cast<unsigned>(Right::read),
             confidence_highest};
  Grant all{*Pattern::for_boards("**"), *Pattern::for_paths("**"), ~0U, confidence_highest};
  roles.add_role("reader", {read});
  roles.add_role("writer", {all});
  roles.add_actor("reader", {"reader"});
  roles.add_actor("writer", {"writer"});
  return roles;
}

TEST(AgentRights, AMirrorHoldsWhatItsActorMayReadAndStillCountsEveryVersion) {
  TestServer server("tcp://127.0.0.1:0", readers_of_public());
  const auto writer = server.connect("writer");
  const auto reader = server.connect("reader");
  ASSERT_TRUE(writer->apply(trip, DeltaBuilder().set("public.a", 1).set("secret.b", 2)));
  const auto mirror = join(*reader, trip);
  EXPECT_EQ(mirror->get("public.a"), Value(1));
  EXPECT_EQ(mirror->get("secret.b"), std::nullopt);
  const auto hidden = writer->apply(trip, DeltaBuilder().set("secret.b", 3));
  ASSERT_TRUE(hidden);
  ASSERT_TRUE(mirror->wait_for(hidden->version, long_enough));
  EXPECT_EQ(mirror->get("secret.b"), std::nullopt);
  EXPECT_EQ(mirror->resyncs(), 0U);
}

TEST(AgentRights, ABoardOfWhichNothingMayBeReadIsNotJoined) {
  TestServer server("tcp://127.0.0.1:0", readers_of_public());
  const auto stranger = server.connect("stranger");
  const auto joined = stranger->join(trip);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().fault, Fault::refused);
  EXPECT_NE(joined.error().message.find("forbidden"), std::string::npos);
  const auto followed = stranger->follow(trip, 0, {}, [](const BoardEvent&) {});
  ASSERT_FALSE(followed);
  EXPECT_EQ(followed.error().fault, Fault::refused);
}

}  // namespace
}  // namespace tafel::sdk
