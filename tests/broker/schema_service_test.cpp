// What a schema changes in answers and on the feed: who sees what is personal or secret, and how complete a board is.
#include "broker/feed_service.hpp"
#include "broker/queries.hpp"
#include "tests/broker/service_fixture.hpp"

namespace tafel::broker::test {
namespace {

const std::string board = "acme/trips/42";

class SchemaServiceTest : public ::testing::Test {
 protected:
  SchemaServiceTest() {
    const auto bit = [](Right right) { return 1U << static_cast<unsigned>(right); };
    const std::uint32_t all_but_sensitive = ~(bit(Right::read_personal) | bit(Right::read_secret));
    fixture.roles.add_role("all", {{*Pattern::for_boards("**"), *Pattern::for_paths("**"), ~0U, confidence_highest}});
    fixture.roles.add_role(
        "plain", {{*Pattern::for_boards("**"), *Pattern::for_paths("**"), all_but_sensitive, confidence_highest}});
    fixture.roles.add_actor("analyst", {"all"});
    fixture.roles.add_actor("*", {"plain"});
  }

  void declare(const std::string& document, const std::string& on = board, const std::string& place = "$schema.board") {
    publish(fixture.commit(on, {R"({"ops":[{"op":"schema","path":")" + place + R"(","value":)" + document + "}]}"}));
  }
  void publish(const std::vector<std::shared_ptr<const Event>>& events) {
    feed.publish(events, send);
    while (feed.catch_up(send)) {
    }
  }
  std::string ask(const std::string& question, const std::string& actor) {
    const auto asked = question_from_value(from_json(question));
    EXPECT_TRUE(asked) << question;
    const auto answer = answer_from_store(*fixture.store, *asked, {actor, fixture.roles, fixture.now});
    EXPECT_TRUE(answer) << question << (answer ? "" : answer.error().message);
    return answer ? codec::to_json(*codec::decode(*answer, codec::answer_limits)) : "";
  }

  void follow(const PeerId& peer, const std::string& actor, Version from = 0) {
    feed.handle({hello(peer, actor)}, 0);
    feed.handle({{peer, message_bytes(codec::message::subscribe, 2, Map{{"board", board}, {"from", from}})}}, 0);
    while (feed.catch_up(send)) {
    }
  }

  ServiceFixture fixture;
  FeedService feed{*fixture.store, fixture.roles, fixture.welcome()};
  std::map<PeerId, std::vector<std::string>> sent;
  Send send = [this](const PeerId& peer, std::string_view bytes) {
    sent[peer].emplace_back(bytes);
    return SendResult::sent;
  };
};

TEST_F(SchemaServiceTest, Section12_WhatIsPersonalIsInNoAnswerToWhoMayOnlyRead) {
  declare(R"({"fields":{"id":{"sensitivity":"personal"},"keys.*":{"sensitivity":"secret","kind":"set"}}})");
  fixture.commit(
      board, {R"({"confidence":"confirmed","set":{"id":"P1234567","city":"上海"},"patch":{"keys.a":{"add":["K999"]}}})",
              R"({"confidence":"guess","set":{"id":"P0000000"}})"});
  for (const char* question :
       {R"({"what":"get","board":"acme/trips/42"})", R"({"what":"get","board":"acme/trips/42","path":"id"})",
        R"({"what":"full","board":"acme/trips/42","detail":true})", R"({"what":"full","board":"acme/trips/42","at":2})",
        R"({"what":"cells","board":"acme/trips/42"})", R"({"what":"log","board":"acme/trips/42"})",
        R"({"what":"context","board":"acme/trips/42","request":{"pinned":["id","keys"]}})"}) {
    const std::string plain = ask(question, "bot");
    EXPECT_EQ(plain.find("P1234567"), std::string::npos) << plain;
    EXPECT_EQ(plain.find("P0000000"), std::string::npos) << plain;
    EXPECT_EQ(plain.find("K999"), std::string::npos) << plain;
    EXPECT_NE(ask(question, "analyst").find("P1234567"), std::string::npos) << question;
  }
  EXPECT_NE(ask(R"({"what":"get","board":"acme/trips/42"})", "bot").find("上海"), std::string::npos);
}

TEST_F(SchemaServiceTest, TheFeedLeavesOutWhatIsPersonal) {
  declare(R"({"fields":{"id":{"sensitivity":"personal"}}})");
  follow("p1", "bot");
  follow("p2", "analyst");
  publish(fixture.commit(board, {R"({"set":{"id":"P1234567","city":"上海"}})"}));
  const auto told = [&](const PeerId& peer) {
    std::string text;
    for (const std::string& bytes : sent[peer]) text += bytes;
    return text;
  };
  EXPECT_EQ(told("p1").find("P1234567"), std::string::npos);
  EXPECT_NE(told("p1").find("上海"), std::string::npos);
  EXPECT_NE(told("p2").find("P1234567"), std::string::npos);
}

TEST_F(SchemaServiceTest, FollowersBeginAnewWhenASchemaChangesWhatTheyMaySee) {
  fixture.commit(board, {R"({"set":{"city":"上海"}})"});
  follow("p1", "bot", 1);
  follow("p2", "analyst", 1);
  declare(R"({"fields":{"id":{"sensitivity":"personal"}}})", "acme", "$schema.below");
  EXPECT_EQ(decoded(sent["p1"].back()).type, codec::message::resync);
  EXPECT_NE(decoded(sent["p2"].back()).type, codec::message::resync);  // it may see everything before and after
  sent.clear();
  publish(fixture.commit(board, {R"({"set":{"id":"P1234567"}})"}));
  EXPECT_TRUE(sent["p1"].empty());
  follow("p1", "bot", 1);
  std::string text;
  for (const std::string& bytes : sent["p1"]) text += bytes;
  EXPECT_EQ(text.find("P1234567"), std::string::npos);
  EXPECT_EQ(decoded(sent["p1"].back()).type, codec::message::live);
}

TEST_F(SchemaServiceTest, TheOpenFeedIsClosedForBoardsWithSensitiveFields) {
  fixture.commit(board, {R"({"set":{"city":"上海"}})"});
  EXPECT_TRUE(feed.is_open(board));
  declare(R"({"fields":{"id":{"sensitivity":"secret"}}})");
  EXPECT_FALSE(feed.is_open(board));
  EXPECT_TRUE(feed.is_open("acme/trips/43"));
  declare("null");
  EXPECT_TRUE(feed.is_open(board));
}

TEST_F(SchemaServiceTest, Section12_TheSchemaIsToldWithItsDocumentsAndCompleteness) {
  declare(
      R"({"strict":true,"fields":[{"path":"z","type":"string","required":true,"weight":3,"label":"目标专业"},{"path":"a","required":true,"label":"甲"}]})");
  declare(R"({"fields":{"z":{"type":"number"},"n":{"kind":"counter"}}})", "acme", "$schema.below");
  EXPECT_EQ(
      ask(R"({"what":"schema","board":"acme/trips/42"})", "bot"),
      R"({"completeness":{"missing":[{"label":"目标专业","path":"z"},{"label":"甲","path":"a"}],"score":0.0},)"
      R"("documents":[{"board":"acme/trips/42","path":"$schema.board","value":{"fields":[{"label":"目标专业","path":"z","required":true,"type":"string","weight":3},)"
      R"({"label":"甲","path":"a","required":true}],"strict":true},"version":1},)"
      R"({"board":"acme","path":"$schema.below","value":{"fields":{"n":{"kind":"counter"},"z":{"type":"number"}}},"version":1}],)"
      R"("schema":{"fields":[{"label":"目标专业","path":"z","required":true,"type":"string","weight":3},{"label":"甲","path":"a","required":true},)"
      R"({"kind":"counter","path":"n"}],"strict":true},"version":1})");
  fixture.commit(board, {R"({"set":{"z":"计算机"}})"});
  EXPECT_NE(ask(R"({"what":"schema","board":"acme/trips/42"})", "bot").find(R"("score":0.75)"), std::string::npos);
  EXPECT_EQ(ask(R"({"what":"schema","board":"other"})", "bot"),
            R"({"completeness":null,"documents":[],"schema":null,"version":0})");
}

}  // namespace
}  // namespace tafel::broker::test
