#include "broker/query_service.hpp"

#include <thread>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/cell_codec.hpp"
#include "tests/broker/service_fixture.hpp"

namespace tafel::broker::test {
namespace {

const std::string board = "acme/trips/42";

class QueryServiceTest : public ::testing::Test {
 protected:
  QueryService& service() {
    if (!service_) {
      service_ = std::make_unique<QueryService>(*fixture.store, fixture.roles, fixture.welcome(), [] {
        return Value(Map{{"answered", 7}});
      });
    }
    return *service_;
  }

  // The bytes of the one answer to a question.
  std::string ask_bytes(const Value& question, const std::string& actor = "analyst") {
    service().handle({hello(actor, actor)}, fixture.now, 0);
    auto answers = service().handle({{actor, message_bytes(codec::message::query, 5, question)}}, fixture.now, 0);
    while (answers.empty() && (service().is_verifying() || service().has_waiting())) {
      std::this_thread::yield();
      answers = service().handle({}, fixture.now, 0);
    }
    EXPECT_EQ(answers.size(), 1U);
    return answers.empty() ? std::string() : answers.front().bytes;
  }
  codec::Message ask(const Value& question, const std::string& actor = "analyst") {
    const codec::Message message = decoded(ask_bytes(question, actor));
    EXPECT_EQ(message.id, 5U);
    return message;
  }
  Value answer(const std::string& question, const std::string& actor = "analyst") {
    const codec::Message message = ask(from_json(question), actor);
    EXPECT_EQ(message.type, "answer") << question << codec::to_json(message.body);
    return message.body;
  }
  std::string json(const std::string& question, const std::string& actor = "analyst") {
    return codec::to_json(answer(question, actor));
  }
  std::string error_code(const std::string& question, const std::string& actor = "analyst") {
    const codec::Message message = ask(from_json(question), actor);
    EXPECT_EQ(message.type, "error") << question << codec::to_json(message.body);
    return text_of(at(message.body, "code"));
  }
  std::string error_text(const std::string& question) { return text_of(at(ask(from_json(question)).body, "message")); }

  ServiceFixture fixture;

 private:
  std::unique_ptr<QueryService> service_;
};

TEST_F(QueryServiceTest, GetShowsALeafASubtreeAndTheWholeBoard) {
  fixture.commit(board, {R"({"set": {"budget": {"max": 12, "min": 3}, "city": "上海"}})"});
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42", "path": "budget.max"})"),
            R"({"found":true,"head":1,"value":12,"version":1})");
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42", "path": "budget"})"),
            R"({"found":true,"head":1,"value":{"max":12,"min":3},"version":1})");
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42"})"),
            R"({"found":true,"head":1,"value":{"budget":{"max":12,"min":3},"city":"上海"},"version":1})");
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42", "path": "nothing"})"),
            R"({"found":false,"head":1,"value":null,"version":1})");
}

TEST_F(QueryServiceTest, ABoardThatWasNeverWrittenToIsEmptyAtVersionZero) {
  EXPECT_EQ(json(R"({"what": "get", "board": "no/where"})"), R"({"found":true,"head":0,"value":{},"version":0})");
  EXPECT_EQ(
      json(R"({"what": "full", "board": "no/where", "at": 0})"),
      R"({"digest":"00000000000000000000000000000000","fields":{},"head":0,"state":{},"suggestions":{},"version":0})");
  EXPECT_EQ(json(R"({"what": "cells", "board": "no/where"})"),
            R"({"cells":[],"digest":"00000000000000000000000000000000","epoch":"e0e1","next":null,"version":0})");
  EXPECT_EQ(json(R"({"what": "log", "board": "no/where"})"), R"({"events":[],"next":null,"version":0})");
  EXPECT_EQ(json(R"({"what": "verify", "board": "no/where"})"),
            R"({"board":"no/where","cells":0,"defects":[],"events":0,"version":0})");
}

TEST_F(QueryServiceTest, AnOldVersionIsShownAsItWas) {
  fixture.commit(board, {R"({"set": {"a": 1}})", R"({"set": {"a": 2, "b": 1}})", R"({"unset": ["a"]})"});
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42", "at": 0})"),
            R"({"found":true,"head":3,"value":{},"version":0})");
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42", "at": 1})"),
            R"({"found":true,"head":3,"value":{"a":1},"version":1})");
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42", "at": 2})"),
            R"({"found":true,"head":3,"value":{"a":2,"b":1},"version":2})");
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42", "at": 3})"),
            R"({"found":true,"head":3,"value":{"b":1},"version":3})");
  EXPECT_EQ(error_code(R"({"what": "get", "board": "acme/trips/42", "at": 4})"), "future_base");
}

TEST_F(QueryServiceTest, WhatHasExpiredIsAbsentNowAndPresentInItsOwnTime) {
  fixture.commit(board, {R"({"ops": [{"op": "set", "path": "here", "value": true, "ttl_ms": 5}]})"});
  fixture.commit(board, {R"({"set": {"b": 1}})"});
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42"})"),
            R"({"found":true,"head":2,"value":{"b":1},"version":2})");
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42", "at": 1})"),
            R"({"found":true,"head":2,"value":{"here":true},"version":1})");
}

TEST_F(QueryServiceTest, FullShowsStateFieldsSuggestionsAndDigest) {
  fixture.commit(
      board, {R"({"confidence": "verified", "set": {"toefl": 105}})",
              R"({"confidence": "guess", "base": 1, "ops": [{"op": "set", "path": "toefl", "value": "随便看看吧"}]})"});
  const Value full = answer(R"({"what": "full", "board": "acme/trips/42", "detail": true})");
  EXPECT_EQ(codec::to_json(at(full, "state")), R"({"toefl":105})");
  EXPECT_EQ(codec::to_json(at(full, "fields")),
            R"({"toefl":{"confidence":"verified","kind":"register","value":105,"version":1}})");
  const Value suggestions = at(at(full, "suggestions"), "toefl");
  ASSERT_NE(suggestions.get_if<List>(), nullptr);
  ASSERT_EQ(suggestions.get_if<List>()->size(), 1U);
  EXPECT_EQ(text_of(at(suggestions.get_if<List>()->front(), "id")), "2.0");
  EXPECT_EQ(text_of(at(full, "digest")), to_hex(to_bytes(fixture.head(board).digest)));
}

TEST_F(QueryServiceTest, TheDigestOfAnOldVersionIsThatOfItsEvent) {
  const auto events = fixture.commit(board, {R"({"set": {"a": 1}})", R"({"set": {"a": 2}})"});
  const Value full = answer(R"({"what": "full", "board": "acme/trips/42", "at": 1})");
  EXPECT_EQ(text_of(at(full, "digest")), to_hex(to_bytes(events.front()->digest)));
}

TEST_F(QueryServiceTest, PagesOfCellsMakeAnExactCopy) {
  const std::string text(2'000, 'x');
  for (int i = 0; i < 400; ++i) {
    fixture.commit(board, {R"({"set": {"field)" + std::to_string(i) + R"(": ")" + text +
                           R"("}, "patch": {"s": {"add": [)" + std::to_string(i) + "]}}}"});
  }
  blackboard::Board copy;
  std::size_t pages = 0;
  Value question = Map{{"what", "cells"}, {"board", board}};
  for (Value next = true; !next.is_nil(); ++pages) {
    const codec::Message page = ask(question);
    ASSERT_EQ(page.type, "answer") << codec::to_json(page.body);
    for (const Value& pair : list_at(page.body, "cells")) {
      const List& items = *pair.get_if<List>();
      copy.put(*codec::cell_key_from_value(items[0]), *codec::cell_from_value(items[1]));
    }
    next = at(page.body, "next");
    question.set("cursor", next);
  }
  EXPECT_GT(pages, 2U);
  EXPECT_EQ(copy.cells().size(), 800U);
  EXPECT_EQ(copy.digest(), fixture.head(board).digest);
}

TEST_F(QueryServiceTest, CellsBelowAPathAreThoseCellsOnly) {
  fixture.commit(board, {R"({"set": {"a": {"b": 1, "c": 2}, "ab": 3}})"});
  const Value page = answer(R"({"what": "cells", "board": "acme/trips/42", "path": "a"})");
  EXPECT_EQ(list_at(page, "cells").size(), 2U);
}

TEST_F(QueryServiceTest, TheLogIsPagedWithoutGapOrRepeat) {
  const std::string text(1'500, 'y');
  for (int i = 0; i < 150; ++i) fixture.commit(board, {R"({"set": {"a": ")" + text + std::to_string(i) + R"("}})"});
  std::int64_t expected = 1;
  std::size_t pages = 0;
  Value question = Map{{"what", "log"}, {"board", board}};
  for (Value next = true; !next.is_nil(); ++pages) {
    const codec::Message page = ask(question);
    for (const Value& event : list_at(page.body, "events")) EXPECT_EQ(at(event, "version"), Value(expected++));
    next = at(page.body, "next");
    question.set("from", next);
  }
  EXPECT_GT(pages, 2U);
  EXPECT_EQ(expected, 151);
}

TEST_F(QueryServiceTest, TheLogTakesItsBoundsAndRefusesVersionsThatDoNotExist) {
  fixture.commit(board, {R"({"set": {"a": 1}})", R"({"set": {"a": 2}})", R"({"set": {"a": 3}})"});
  const auto versions = [&](const std::string& bounds) {
    std::string text;
    const Value page = answer(R"({"what": "log", "board": "acme/trips/42")" + bounds + "}");
    for (const Value& event : list_at(page, "events")) text += codec::to_json(at(event, "version"));
    return text;
  };
  EXPECT_EQ(versions(""), "123");
  EXPECT_EQ(versions(R"(, "from": 0)"), "123");
  EXPECT_EQ(versions(R"(, "from": 2)"), "23");
  EXPECT_EQ(versions(R"(, "from": 2, "to": 2)"), "2");
  EXPECT_EQ(versions(R"(, "to": 99)"), "123");
  EXPECT_EQ(versions(R"(, "from": 3, "to": 2)"), "");
  EXPECT_EQ(versions(R"(, "from": 4)"), "");  // the next one, not yet there
  EXPECT_EQ(error_code(R"({"what": "log", "board": "acme/trips/42", "from": 5})"), "future_base");
}

TEST_F(QueryServiceTest, BoardsAreListedInPages) {
  for (const char* id : {"acme/c", "acme/a", "acme/b"}) fixture.commit(id, {R"({"set": {"a": 1}})"});
  const Value first = answer(R"({"what": "boards", "count": 2})");
  EXPECT_EQ(text_of(at(list_at(first, "boards").at(0), "board")), "acme/a");
  EXPECT_EQ(text_of(at(first, "next")), "acme/b");
  const Value second = answer(R"({"what": "boards", "count": 2, "after": "acme/b"})");
  EXPECT_EQ(list_at(second, "boards").size(), 1U);
  EXPECT_TRUE(at(second, "next").is_nil());
}

TEST_F(QueryServiceTest, VerifyFindsNothingWrongWithASoundBoard) {
  fixture.commit(board, {R"({"set": {"a": 1, "b": 2}})", R"({"unset": ["a"]})"});
  EXPECT_EQ(json(R"({"what": "verify", "board": "acme/trips/42"})"),
            R"({"board":"acme/trips/42","cells":1,"defects":[],"events":2,"version":2})");
}

TEST_F(QueryServiceTest, ContextIsAssembledFromTheNewestVersion) {
  fixture.commit(board, {R"({"set": {"budget": 12000}})"});
  const Value context =
      answer(R"({"what": "context", "board": "acme/trips/42", "request": {"system": "Plan.", "pinned": ["budget"]}})");
  EXPECT_EQ(at(context, "base"), Value(1));
  EXPECT_NE(codec::to_json(context).find("12000"), std::string::npos);
  EXPECT_EQ(error_code(R"({"what": "context", "board": "acme/trips/42", "request": {"sistem": "Plan."}})"),
            "bad_request");
  EXPECT_EQ(
      error_code(
          R"({"what": "context", "board": "acme/trips/42", "request": {"system": "Plan, plan, plan, plan", "budget_tokens": 1}})"),
      "too_large");
}

TEST_F(QueryServiceTest, StatAddsTheStorageToTheServersCounters) {
  const Value counters = answer(R"({"what": "stat"})");
  EXPECT_EQ(at(counters, "answered"), Value(7));
  EXPECT_NE(at(counters, "storage").find("quota"), nullptr);
}

TEST_F(QueryServiceTest, ABadQuestionIsToldWhatWouldBeRight) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"([])",
       "one of: get, full, cells, log, history, blame, diff, touched, suggestions, boards, erasures, verify, "
       "context, "},
      {R"({"what": "gett", "board": "a"})", "one of: get, full"},
      {R"({"what": "get"})", "\"board\""},
      {R"({"what": "get", "board": "a//b"})", "1 to 8 segments"},
      {R"({"what": "get", "board": 7})", "\"board\" must be text"},
      {R"({"what": "get", "board": "a", "path": "b..c"})", "leave it out for the whole board"},
      {R"({"what": "get", "board": "a", "at": -1})", "\"at\" must be an integer of 0 or more"},
      {R"({"what": "get", "board": "a", "att": 1})", "its members are: what, board, path, at"},
      {R"({"what": "full", "board": "a", "detail": 1})", "\"detail\" must be true or false"},
      {R"({"what": "cells", "board": "a", "cursor": 1})", "\"cursor\" must be text"},
      {R"({"what": "boards", "count": 0})", "\"count\" must be from 1 to 1000"},
      {R"({"what": "stat", "board": "a"})", "no members but \"what\""},
      {R"({"what": "log", "board": "a", "at": 1})", "its members are: what, board, from, to"},
  };
  for (const auto& [question, text] : cases) {
    EXPECT_EQ(error_code(question), "bad_request") << question;
    EXPECT_NE(error_text(question).find(text), std::string::npos) << question << ": " << error_text(question);
  }
}

TEST_F(QueryServiceTest, MembersThatAreNullCountAsAbsent) {
  fixture.commit(board, {R"({"set": {"a": 1}})"});
  EXPECT_EQ(json(R"({"what": "get", "board": "acme/trips/42", "path": null, "at": null})"),
            R"({"found":true,"head":1,"value":{"a":1},"version":1})");
}

TEST_F(QueryServiceTest, AnInventedCursorIsRefused) {
  fixture.commit(board, {R"({"set": {"a": 1}})"});
  EXPECT_EQ(error_code(R"({"what": "cells", "board": "acme/trips/42", "cursor": "!"})"), "bad_request");
}

TEST_F(QueryServiceTest, WhatIsTooLargeForOneAnswerIsReadInPages) {
  const std::string text(30'000, 'z');
  for (int i = 0; i < 300; ++i)
    fixture.commit(board, {R"({"set": {"f)" + std::to_string(i) + R"(": ")" + text + R"("}})"});
  EXPECT_EQ(error_code(R"({"what": "get", "board": "acme/trips/42"})"), "too_large");
  EXPECT_EQ(error_code(R"({"what": "full", "board": "acme/trips/42"})"), "too_large");
  EXPECT_NE(error_text(R"({"what": "full", "board": "acme/trips/42"})").find("`cells`"), std::string::npos);
  EXPECT_EQ(at(answer(R"({"what": "get", "board": "acme/trips/42", "path": "f7"})"), "found"), Value(true));
  EXPECT_LT(ask_bytes(from_json(R"({"what": "cells", "board": "acme/trips/42"})")).size(), 2 * limits::page_bytes);
}

// --- talking to it ---

TEST_F(QueryServiceTest, WithoutHelloThereIsNoSession) {
  const auto answers =
      service().handle({{"p", message_bytes(codec::message::query, 3, from_json(R"({"what": "stat"})"))}}, 0, 0);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(decoded(answers[0].bytes).id, 3U);
  EXPECT_EQ(text_of(at(decoded(answers[0].bytes).body, "code")), "no_session");
}

TEST_F(QueryServiceTest, PingIsAnsweredAndOtherTypesAreRefused) {
  service().handle({hello("p", "analyst")}, 0, 0);
  const auto answers = service().handle({{"p", message_bytes(codec::message::ping, 3, Value())},
                                         {"p", message_bytes(codec::message::subscribe, 4, Value())},
                                         {"p", "\xC1 no message"}},
                                        0, 0);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(decoded(answers[0].bytes).type, "pong");
  EXPECT_EQ(decoded(answers[1].bytes).type, "error");
  EXPECT_EQ(text_of(at(decoded(answers[2].bytes).body, "code")), "bad_request");
}

TEST_F(QueryServiceTest, ASilentSessionIsForgotten) {
  service().handle({hello("p", "analyst")}, 0, 0);
  service().tick(limits::session_idle_ms + 1);
  const auto answers =
      service().handle({{"p", message_bytes(codec::message::ping, 3, Value())}}, 0, limits::session_idle_ms + 1);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(text_of(at(decoded(answers[0].bytes).body, "code")), "no_session");
}

TEST_F(QueryServiceTest, ALongQueueOfHeavyQuestionsIsAnsweredInBoundedTurnsAndInOrder) {
  const std::string text(30'000, 'w');
  for (int i = 0; i < 30; ++i)
    fixture.commit(board, {R"({"set": {"f)" + std::to_string(i) + R"(": ")" + text + R"("}})"});
  service().handle({hello("p", "analyst")}, fixture.now, 0);
  std::vector<Inbound> questions;
  for (std::uint64_t id = 1; id <= 20; ++id) {
    questions.push_back({"p", message_bytes(codec::message::query, id, Map{{"what", "get"}, {"board", board}})});
  }
  std::uint64_t expected = 1;
  std::size_t turns = 0;
  auto answers = service().handle(questions, fixture.now, 0);
  for (;; answers = service().handle({}, fixture.now, 0)) {
    ++turns;
    EXPECT_LE(answers.size(), 2U);  // each of them is nearly a turn's worth
    for (const Outbound& answer : answers) EXPECT_EQ(decoded(answer.bytes).id, expected++);
    if (!service().has_waiting()) break;
  }
  EXPECT_EQ(expected, 21U);
  EXPECT_GE(turns, 10U);
}

TEST_F(QueryServiceTest, WhenTooManyQuestionsWaitTheNextIsToldToComeAgain) {
  service().handle({hello("p", "analyst")}, 0, 0);
  const std::string question = message_bytes(codec::message::query, 9, from_json(R"({"what": "stat"})"));
  const std::vector<Inbound> flood(limits::queries_per_peer_max + 1, Inbound{"p", question});
  const auto answers = service().handle(flood, 0, 0);
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(text_of(at(decoded(answers[0].bytes).body, "code")), "busy");
  EXPECT_EQ(at(decoded(answers[0].bytes).body, "retryable"), Value(true));
}

TEST_F(QueryServiceTest, NobodyWaitsBehindAllThatAnotherAsks) {
  for (int i = 0; i < 32; ++i) {
    fixture.commit(board, {R"({"set": {"f)" + std::to_string(i) + R"(": ")" + std::string(30'000, 'x') + R"("}})"});
  }
  service().handle({hello("greedy", "analyst"), hello("modest", "analyst")}, fixture.now, 0);
  const std::string large = message_bytes(codec::message::query, 1, Map{{"what", "full"}, {"board", board}});
  const std::string small =
      message_bytes(codec::message::query, 2, Map{{"what", "get"}, {"board", board}, {"path", "f0"}});
  std::vector<Inbound> asked(100, Inbound{"greedy", large});
  asked.push_back({"modest", small});
  std::size_t before_modest = 0;
  bool answered = false;
  for (auto answers = service().handle(asked, fixture.now, 0); !answered;
       answers = service().handle({}, fixture.now, 0)) {
    for (const Outbound& answer : answers) {
      answered = answered || answer.peer == "modest";
      if (!answered) ++before_modest;
    }
    ASSERT_TRUE(answered || service().has_waiting());
  }
  EXPECT_LE(before_modest, 1U);
  service().forget("greedy");  // it is gone, and nothing is computed for it any more
  EXPECT_FALSE(service().has_waiting());
  EXPECT_TRUE(service().handle({}, fixture.now, 0).empty());
}

// --- rights ---

const std::vector<std::string> questions_of_a_board{
    R"({"what": "get", "board": "acme/trips/42"})",
    R"({"what": "get", "board": "acme/trips/42", "at": 2})",
    R"({"what": "get", "board": "acme/trips/42", "path": "secret"})",
    R"({"what": "full", "board": "acme/trips/42", "detail": true})",
    R"({"what": "full", "board": "acme/trips/42", "path": "secret", "at": 2})",
    R"({"what": "cells", "board": "acme/trips/42"})",
    R"({"what": "cells", "board": "acme/trips/42", "path": "secret"})",
    R"({"what": "log", "board": "acme/trips/42"})",
    R"({"what": "context", "board": "acme/trips/42", "request": {"system": "s", "pinned": ["secret", "open"], "facts_from": "guess"}})",
};

class QueryRightsTest : public QueryServiceTest {
 protected:
  // Everything that lies at or below `secret` says CANARY: in values, paths, elements, log entries, suggestions, ids
  // and sources.
  void fill() {
    fixture.give_everything("analyst");
    fixture.give_role("booker", "acme/**", {"open.**", "both"});
    fixture.give_role("eve", "other/**", {"**"});
    fixture.commit(board,
                   {R"({"set": {"open": {"a": 1}, "secret": {"CANARY1": "CANARY2"}}})",
                    R"({"id": "CANARY3", "source": {"kind": "turn", "ref": "CANARY4"}, "confidence": "verified",
                               "set": {"secret": {"deep": {"x": "CANARY5"}}}})",
                    R"({"patch": {"secret.set": {"add": ["CANARY6"]}}, "append": {"secret.log": "CANARY7"}})",
                    R"({"confidence": "guess", "ops": [{"op": "set", "path": "secret.deep.x", "value": "CANARY8"}]})",
                    R"({"atomic": false, "ops": [{"op": "set", "path": "secret.deep.x.y", "value": "CANARY9"},
                                                        {"op": "set", "path": "open.b", "value": 2}]})",
                    R"({"set": {"both": 1}})", R"({"unset": ["secret.CANARY1"]})"},
                   "analyst");
  }
};

TEST_F(QueryRightsTest, NoAnswerToldToAReaderOfSomePathsHoldsAnythingOfTheOthers) {
  fill();
  for (const std::string& question : questions_of_a_board) {
    EXPECT_NE(ask_bytes(from_json(question), "analyst").find("CANARY"), std::string::npos)
        << question << " tests nothing";
    const std::string bytes = ask_bytes(from_json(question), "booker");
    EXPECT_EQ(decoded(bytes).type, "answer") << question;
    EXPECT_EQ(bytes.find("CANARY"), std::string::npos) << question << ": " << codec::to_json(decoded(bytes).body);
  }
}

TEST_F(QueryRightsTest, WhatMayBeReadIsStillShown) {
  fill();
  EXPECT_EQ(codec::to_json(at(answer(R"({"what": "get", "board": "acme/trips/42"})", "booker"), "value")),
            R"({"both":1,"open":{"a":1,"b":2}})");
  EXPECT_EQ(list_at(answer(R"({"what": "cells", "board": "acme/trips/42"})", "booker"), "cells").size(), 3U);
  EXPECT_EQ(at(answer(R"({"what": "get", "board": "acme/trips/42", "path": "secret"})", "booker"), "found"),
            Value(false));
}

TEST_F(QueryRightsTest, TheDigestIsForThoseWhoMayReadEverything) {
  fill();
  for (const char* question :
       {R"({"what": "full", "board": "acme/trips/42"})", R"({"what": "cells", "board": "acme/trips/42"})"}) {
    EXPECT_FALSE(at(answer(question, "analyst"), "digest").is_nil());
    EXPECT_TRUE(at(answer(question, "booker"), "digest").is_nil());
  }
  for (const Value& event : list_at(answer(R"({"what": "log", "board": "acme/trips/42"})", "booker"), "events")) {
    EXPECT_TRUE(at(event, "digest").is_nil());
  }
}

TEST_F(QueryRightsTest, TheLogKeepsEveryVersionAndShowsTheReadableOpsWithTheirResults) {
  fill();
  const Value page = answer(R"({"what": "log", "board": "acme/trips/42"})", "booker");
  const List events = list_at(page, "events");
  ASSERT_EQ(events.size(), 7U);
  const Value& hidden = events[1];
  EXPECT_EQ(at(hidden, "version"), Value(2));
  EXPECT_EQ(text_of(at(hidden, "actor")), "");
  const Value& part = events[4];  // the second of its two ops may be read
  EXPECT_EQ(text_of(at(part, "actor")), "analyst");
  ASSERT_EQ(list_at(part, "ops").size(), 1U);
  EXPECT_EQ(text_of(at(list_at(part, "ops").front(), "path")), "open.b");
  ASSERT_EQ(list_at(part, "results").size(), 1U);
  EXPECT_EQ(text_of(at(list_at(part, "results").front(), "outcome")), "applied");
}

TEST_F(QueryRightsTest, AMapOfWhichALeafMayNotBeReadIsNotShownInTheLog) {
  fixture.give_everything("analyst");
  fixture.give_role("booker", "acme/**", {"person", "person.name"});
  fixture.commit(board,
                 {R"({"ops": [{"op": "set", "path": "person", "value": {"name": "Li", "birthday": "CANARY"}}]})"},
                 "analyst");
  const std::string bytes = ask_bytes(from_json(R"({"what": "log", "board": "acme/trips/42"})"), "booker");
  EXPECT_EQ(bytes.find("CANARY"), std::string::npos);
  EXPECT_NE(bytes.find("Li"), std::string::npos);  // in the changes
}

TEST_F(QueryRightsTest, AnActorWhoMayReadNothingIsRefusedEverywhereAndSeesNoBoard) {
  fill();
  for (const std::string& question : questions_of_a_board) {
    EXPECT_EQ(error_code(question, "eve"), "forbidden") << question;
    EXPECT_EQ(error_code(question, "nobody"), "forbidden") << question;
  }
  EXPECT_EQ(list_at(answer(R"({"what": "boards"})", "eve"), "boards").size(), 0U);
  EXPECT_EQ(list_at(answer(R"({"what": "boards"})", "booker"), "boards").size(), 1U);
}

TEST_F(QueryRightsTest, APageOfBoardsThatMayNotBeReadStillLeadsOn) {
  fixture.give_everything("analyst");
  fixture.give_role("booker", "acme/z", {"**"});
  for (const char* id : {"acme/a", "acme/b", "acme/z"}) fixture.commit(id, {R"({"set": {"a": 1}})"}, "analyst");
  const Value first = answer(R"({"what": "boards", "count": 2})", "booker");
  EXPECT_EQ(list_at(first, "boards").size(), 0U);
  EXPECT_EQ(text_of(at(first, "next")), "acme/b");
  EXPECT_EQ(list_at(answer(R"({"what": "boards", "count": 2, "after": "acme/b"})", "booker"), "boards").size(), 1U);
}

TEST_F(QueryRightsTest, VerifyNeedsTheRightToReadEverything) {
  fill();
  EXPECT_EQ(error_code(R"({"what": "verify", "board": "acme/trips/42"})", "booker"), "forbidden");
  EXPECT_EQ(at(answer(R"({"what": "verify", "board": "acme/trips/42"})", "analyst"), "events"), Value(7));
}

// Random grants on a board where each leaf says its own name: an answer tells a leaf exactly when the grants let its
// reader read it.
TEST_F(QueryRightsTest, RandomGrantsDecideAboutEachLeafInEveryAnswer) {
  const std::vector<std::string> paths{"a", "b.c", "b.d", "b.e.f", "b.e.g", "h.i.j.k", "l"};
  const std::vector<std::string> patterns{"**", "*", "a", "b.*", "b.**", "b.e.**", "*.e.*", "h.**.k", "**.g", "l", "h"};
  fixture.give_everything("analyst");
  std::string ops;
  for (const std::string& path : paths) {
    ops +=
        (ops.empty() ? "" : ",") + (R"({"op": "set", "path": ")" + path) + R"(", "value": "TOKEN<)" + path + R"(>"})";
  }
  fixture.commit(board, {R"({"ops": [)" + ops + "]}"}, "analyst");
  const std::vector<std::string> questions{
      R"({"what": "get", "board": "acme/trips/42"})", R"({"what": "full", "board": "acme/trips/42"})",
      R"({"what": "cells", "board": "acme/trips/42"})", R"({"what": "log", "board": "acme/trips/42"})"};
  SeededRandom random(20'261'130);
  for (int round = 0; round < 300; ++round) {
    const std::string actor = "reader" + std::to_string(round);
    std::vector<std::string> readable;
    for (std::size_t i = 0, count = static_cast<std::uint8_t>(random.bytes(1)[0]) % 4; i < count; ++i) {
      readable.push_back(patterns[static_cast<std::uint8_t>(random.bytes(1)[0]) % patterns.size()]);
    }
    fixture.give_role(actor, "acme/**", readable);
    for (const std::string& question : questions) {
      const std::string bytes = ask_bytes(from_json(question), actor);
      for (const std::string& path : paths) {
        const auto segments = Path::parse(path)->segments();
        const bool may = std::any_of(readable.begin(), readable.end(), [&](const std::string& pattern) {
          return Pattern::for_paths(pattern)->matches(segments);
        });
        EXPECT_EQ(bytes.find("TOKEN<" + path + ">") != std::string::npos, may)
            << "round " << round << ", " << question << ", " << path;
      }
    }
  }
}

}  // namespace
}  // namespace tafel::broker::test
