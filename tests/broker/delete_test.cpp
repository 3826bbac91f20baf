// Deleting a board, through the pipeline, the queries and the feed (FIELD RO9: the tombstone decides at commit).
#include <gtest/gtest.h>

#include <algorithm>

#include "broker/feed_service.hpp"
#include "broker/query_service.hpp"
#include "common/codec/event_view.hpp"
#include "common/codec/receipt_codec.hpp"
#include "tests/broker/service_fixture.hpp"

namespace tafel::broker::test {
namespace {

const std::string board = "acme/trip";
const std::string remove_it = R"({"ops": [{"op": "delete", "path": "$board"}]})";
const std::string remove_once = R"({"id": "the end", "ops": [{"op": "delete"}]})";

std::string code_of(const Receipt& receipt) {
  return receipt.error ? std::string(name_of(receipt.error->code)) : "none";
}

struct DeleteBoard : ::testing::Test {
  Submission submission(const std::string& on, const std::string& text, const std::string& actor = "analyst") {
    Value body = from_json(text);
    body.set("board", on);
    auto delta = codec::delta_from_value(body);
    EXPECT_TRUE(delta) << text << ": " << (delta ? "" : delta.error().message);
    return {actor, delta ? *delta : Delta()};
  }
  std::vector<Receipt> send(const std::vector<Submission>& batch) {
    auto done = fixture.pipeline->commit(batch, fixture.now += 10);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    if (!done) return std::vector<Receipt>(batch.size());
    events = done->events;
    return std::move(done->receipts);
  }
  Receipt on(const std::string& to, const std::string& text, const std::string& actor = "analyst") {
    return send({submission(to, text, actor)}).front();
  }
  Receipt fork(const std::string& to, const std::string& from) {
    return on(to, R"({"ops": [{"op": "fork", "value": {"parent": ")" + from + R"("}}]})");
  }
  void purge() {
    while (*fixture.pipeline->scrub()) {
    }
  }
  void expect_sound(const std::string& of) {
    EXPECT_EQ((*fixture.store->verify(of)).defects, std::vector<std::string>{}) << of;
  }
  codec::Message ask(const std::string& question, const std::string& actor = "analyst") {
    QueryService service(*fixture.store, fixture.roles, fixture.welcome(), nullptr);
    service.handle({hello(actor, actor)}, fixture.now, 0);
    auto answers =
        service.handle({{actor, message_bytes(codec::message::query, 5, from_json(question))}}, fixture.now, 0);
    while (answers.empty()) answers = service.handle({}, fixture.now, 0);  // a verification
    return decoded(answers.front().bytes);
  }

  ServiceFixture fixture;
  std::vector<std::shared_ptr<const Event>> events;  // of the last commit
};

TEST_F(DeleteBoard, IsOneLastEventAndRefusesAllThatComesAfter_RO9) {
  on(board, R"({"set": {"a": 1}, "patch": {"国家": {"add": ["美国"]}}})");
  const Receipt deleted = on(board, remove_it, "officer");
  EXPECT_EQ(code_of(deleted), "none");
  EXPECT_EQ(deleted.version, 2U);
  EXPECT_EQ(deleted.ops.at(0).outcome, Outcome::applied);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(takes_board(*events[0]));
  EXPECT_EQ(events[0]->actor, "officer");
  for (const char* text :
       {R"({"set": {"a": 2}})", R"({"id": "x", "incr": {"n": 1}})", R"({"ops": [{"op": "erase", "path": "a"}]})",
        R"({"ops": [{"op": "fork", "value": {"parent": "acme/other"}}]})", R"({"check": true, "set": {"a": 2}})",
        R"({"ops": [{"op": "tag", "path": "$tags.x", "value": 1}]})", R"({"epoch": "another", "set": {"a": 2}})",
        R"({"ops": [{"op": "schema", "path": "$schema.board", "value": null}]})", R"({"set": {"": 1}})",
        R"({"ops": [{"op": "delete"}]})"}) {
    const Receipt refused = on(board, text);
    EXPECT_EQ(code_of(refused), "deleted") << text;
    EXPECT_EQ(refused.version, 2U);
    EXPECT_FALSE(refused.error->retryable);
    EXPECT_TRUE(events.empty());
  }
  const Receipt refused = on(board, R"({"set": {"a": 2}})");
  EXPECT_EQ(refused.error->message,
            "the board acme/trip was deleted at version 2 by officer, 1970-01-01T00:16:40.020Z; its name is not used "
            "again");
  EXPECT_EQ(refused.error->found, Value(2));
  purge();
  EXPECT_EQ(code_of(on(board, R"({"set": {"a": 3}})")), "deleted");
  EXPECT_EQ(fixture.head(board).version, 2U);
  expect_sound(board);
}

TEST_F(DeleteBoard, WhatWasInFlightIsDecidedByItsPlaceInTheBatch_RO9) {
  on(board, R"({"set": {"a": 1}})");
  const auto receipts =
      send({submission(board, R"({"incr": {"n": 1}})"), submission(board, remove_it),
            submission(board, R"({"incr": {"n": 1}})"), submission(board, R"({"base": 1, "set": {"a": 1}})"),
            submission("acme/other", R"({"incr": {"n": 1}})")});
  EXPECT_EQ(code_of(receipts[0]), "none");
  EXPECT_EQ(code_of(receipts[1]), "none");
  EXPECT_EQ(receipts[1].version, 3U);
  EXPECT_EQ(code_of(receipts[2]), "deleted");
  EXPECT_EQ(code_of(receipts[3]), "deleted");
  EXPECT_EQ(code_of(receipts[4]), "none");
  expect_sound(board);
}

TEST_F(DeleteBoard, AResendOfTheDeletionGetsItsFirstReceiptAndOfNothingElse) {
  on(board, R"({"id": "first", "set": {"a": 1}})");
  EXPECT_EQ(on(board, remove_once).version, 2U);
  for (int i = 0; i < 2; ++i) {
    const Receipt again = on(board, remove_once);
    EXPECT_EQ(code_of(again), "none");
    EXPECT_TRUE(again.duplicate);
    EXPECT_EQ(again.version, 2U);
    EXPECT_EQ(code_of(on(board, R"({"id": "first", "set": {"a": 1}})")), "deleted") << "purged: " << i;
    EXPECT_EQ(code_of(on(board, remove_once, "somebody else")), "deleted");
    EXPECT_EQ(code_of(on(board, R"({"id": "the end", "set": {"a": 1}})")), "deleted");
    purge();
  }
}

TEST_F(DeleteBoard, StandsAloneInItsDeltaAndTakesTheGuardsOfAll) {
  on(board, R"({"set": {"a": 1}})");
  on(board, R"({"set": {"a": 2}})");
  EXPECT_EQ(code_of(on(board, R"({"ops": [{"op": "delete"}, {"op": "set", "path": "b", "value": 1}]})")), "bad_value");
  EXPECT_EQ(code_of(on(board, R"({"ops": [{"op": "delete", "path": "a"}]})")), "bad_path");
  EXPECT_EQ(code_of(on(board, R"({"ops": [{"op": "delete", "ttl_ms": 5}]})")), "bad_value");
  EXPECT_EQ(code_of(on(board, R"({"ops": [{"op": "delete", "value": 1}]})")), "bad_value");
  EXPECT_EQ(code_of(on(board, R"({"base": 3, "ops": [{"op": "delete"}]})")), "future_base");
  EXPECT_EQ(code_of(on(board, R"({"epoch": "x", "ops": [{"op": "delete"}]})")), "wrong_epoch");
  EXPECT_EQ(code_of(on(board, R"({"expect": {"version": 1}, "ops": [{"op": "delete"}]})")), "stale");
  EXPECT_EQ(code_of(on(board, R"({"expect": {"values": {"a": 1}}, "ops": [{"op": "delete"}]})")), "stale");
  EXPECT_EQ(code_of(on("acme/never", remove_it)), "bad_value");
  const Receipt tried = on(board, R"({"check": true, "ops": [{"op": "delete"}]})");
  EXPECT_EQ(code_of(tried), "none");
  EXPECT_EQ(tried.version, 3U);
  EXPECT_EQ(code_of(on(board, R"({"set": {"a": 3}})")), "none");
  EXPECT_EQ(code_of(on(board, R"({"expect": {"version": 3}, "base": 1, "ops": [{"op": "delete"}]})")), "none");
}

TEST_F(DeleteBoard, TakesARightOfItsOwn) {
  const auto grant = [&](const std::string& actor, std::uint32_t rights) {
    fixture.roles.add_role("of " + actor,
                           {{*Pattern::for_boards("**"), *Pattern::for_paths("**"), rights, confidence_highest}});
    fixture.roles.add_actor(actor, {"of " + actor});
  };
  const auto bit = [](Right right) { return 1U << static_cast<unsigned>(right); };
  grant("writer", bit(Right::read) | bit(Right::set) | bit(Right::erase));
  grant("officer", bit(Right::delete_board));
  grant("lead", ~0U);
  on(board, R"({"set": {"a": 1}})", "writer");
  EXPECT_EQ(code_of(on(board, remove_it, "writer")), "forbidden");
  on("acme/schemas", R"({"set": {"a": 1}})", "writer");
  on("acme/schemas", R"({"ops": [{"op": "schema", "path": "$schema.below", "value": {"fields": {}}}]})", "lead");
  EXPECT_EQ(code_of(on("acme/schemas", remove_it, "officer")), "forbidden");
  EXPECT_EQ(code_of(on("acme/schemas", remove_it, "lead")), "none");
  EXPECT_EQ(code_of(on(board, remove_it, "officer")), "none");
  // Who may not read is not told by whom.
  const Receipt refused = on(board, R"({"set": {"a": 1}})", "officer");
  EXPECT_EQ(refused.error->message, "the board acme/trip was deleted; its name is not used again");
  EXPECT_FALSE(refused.error->found);
}

TEST_F(DeleteBoard, OneWithForksIsRefusedAndNamesThem) {
  on(board, R"({"set": {"a": 1}})");
  for (int i = 10; i < 35; ++i) EXPECT_EQ(code_of(fork("acme/fork/" + std::to_string(i), board)), "none");
  const Receipt refused = on(board, remove_it);
  EXPECT_EQ(code_of(refused), "structure_conflict");
  EXPECT_NE(refused.error->message.find("acme/fork/10, acme/fork/11, "), std::string::npos) << refused.error->message;
  EXPECT_NE(refused.error->message.find("acme/fork/29 and 5 others"), std::string::npos) << refused.error->message;
  for (int i = 10; i < 35; ++i) {
    EXPECT_EQ(code_of(on("acme/fork/" + std::to_string(i), remove_it)), "none");
  }
  EXPECT_EQ(code_of(on(board, remove_it)), "none");
  purge();
  for (const std::string id : {"acme/fork/10", "acme/fork/34", "acme/trip"}) expect_sound(id);
}

TEST_F(DeleteBoard, IsNoParentAndNoForkOfAnybody) {
  on(board, R"({"set": {"a": 1}})");
  fork("acme/trip-b", board);
  on("acme/trip-b", R"({"set": {"b": 1}})");
  on("acme/trip-b", remove_it);
  const Receipt merged = on(board, R"({"ops": [{"op": "merge", "value": {"fork": "acme/trip-b"}}]})");
  EXPECT_EQ(code_of(merged), "deleted");
  EXPECT_NE(merged.error->message.find("acme/trip-b was deleted"), std::string::npos);
  EXPECT_EQ(code_of(fork("acme/trip-c", "acme/trip-b")), "deleted");
  EXPECT_EQ(code_of(fork("acme/trip-b", board)), "deleted");
  EXPECT_EQ(code_of(on(board, R"({"ops": [{"op": "erase", "path": "a"}]})")), "none");
  purge();
  EXPECT_EQ(fixture.head("acme/trip-b").version, 4U);
  expect_sound(board);
}

TEST_F(DeleteBoard, ItsSchemaReachesNobodyAnyMore) {
  on("acme", R"({"ops": [{"op": "schema", "path": "$schema.below",
                  "value": {"strict": true, "fields": {"n": {"type": "integer", "required": true}}}}]})");
  on(board, R"({"set": {"n": 1}})");
  EXPECT_EQ(code_of(on(board, R"({"set": {"n": "one"}})")), "schema_violation");
  EXPECT_EQ(code_of(on("acme", remove_it)), "none");
  EXPECT_FALSE(events.front()->completeness);
  const Receipt free = on(board, R"({"set": {"n": "one", "其他": 1}})");
  EXPECT_EQ(code_of(free), "none");
  EXPECT_FALSE(free.completeness);
  const auto schema = ask(R"({"what": "schema", "board": "acme/trip"})");
  EXPECT_TRUE(at(schema.body, "schema").is_nil());
}

TEST_F(DeleteBoard, NothingOfItExpiresAndTheSweepGoesOn) {
  on(board, R"({"ops": [{"op": "set", "path": "x", "value": 1, "ttl_ms": 100}]})");
  on("acme/other", R"({"ops": [{"op": "set", "path": "x", "value": 1, "ttl_ms": 200}]})");
  on(board, remove_it);
  fixture.now += 1000;
  const auto expired = *fixture.pipeline->expire(fixture.now);
  ASSERT_EQ(expired.size(), 1U);
  EXPECT_EQ(expired[0]->board, "acme/other");
  EXPECT_EQ(fixture.head(board).version, 2U);
}

TEST_F(DeleteBoard, IsRefusedAnAnswerToEveryQuestion) {
  on(board, R"({"set": {"a": 1}})");
  on(board, remove_it);
  for (int i = 0; i < 2; ++i) {
    for (const char* question :
         {R"({"what": "get", "board": "acme/trip"})", R"({"what": "get", "board": "acme/trip", "at": 1})",
          R"({"what": "full", "board": "acme/trip"})", R"({"what": "cells", "board": "acme/trip"})",
          R"({"what": "log", "board": "acme/trip"})", R"({"what": "history", "board": "acme/trip", "path": "a"})",
          R"({"what": "blame", "board": "acme/trip"})", R"({"what": "diff", "board": "acme/trip", "from": 1})",
          R"({"what": "touched", "board": "acme/trip", "actor": "analyst"})",
          R"({"what": "suggestions", "board": "acme/trip"})", R"({"what": "schema", "board": "acme/trip"})",
          R"({"what": "context", "board": "acme/trip", "request": {}})"}) {
      const auto answer = ask(question);
      EXPECT_EQ(answer.type, "error") << question;
      EXPECT_EQ(text_of(at(answer.body, "code")), "deleted") << question;
      EXPECT_EQ(at(answer.body, "found"), Value(2)) << question;
    }
    const auto verified = ask(R"({"what": "verify", "board": "acme/trip"})");
    EXPECT_EQ(at(verified.body, "defects"), Value(List{}));
    EXPECT_EQ(at(verified.body, "events"), i == 0 ? Value(2) : Value(1));
    purge();
  }
}

TEST_F(DeleteBoard, BoardsLeavesItOutAndTellsItWhenAsked) {
  on(board, R"({"set": {"a": 1}})");
  on("acme/other", R"({"set": {"a": 1}})");
  on(board, remove_it, "officer");
  const auto ids = [&](const std::string& question) {
    std::vector<std::string> found;
    for (const Value& each : list_at(ask(question).body, "boards")) found.push_back(text_of(at(each, "board")));
    return found;
  };
  EXPECT_EQ(ids(R"({"what": "boards"})"), std::vector<std::string>{"acme/other"});
  EXPECT_EQ(ids(R"({"what": "boards", "deleted": true})"), std::vector<std::string>{"acme/trip"});
  const auto told = [&] { return codec::to_json(ask(R"({"what": "boards", "deleted": true})").body); };
  EXPECT_EQ(
      told(),
      R"({"boards":[{"actor":"officer","board":"acme/trip","done":false,"time":1000030,"version":2}],"next":null})");
  purge();
  EXPECT_NE(told().find(R"("done":true)"), std::string::npos);
  EXPECT_EQ(text_of(at(ask(R"({"what": "boards", "deleted": 1})").body, "code")), "bad_request");
  const auto ledger = list_at(ask(R"({"what": "erasures"})").body, "erasures");
  ASSERT_EQ(ledger.size(), 1U);
  EXPECT_EQ(
      codec::to_json(ledger[0]),
      R"({"actor":"officer","board":"acme/trip","done":true,"path":"$board","sequence":0,"time":1000030,"version":2})");
}

TEST_F(DeleteBoard, ThePurgeGoesOnAfterARestart) {
  for (int i = 0; i < 3000; ++i) on(board, R"({"id": "d)" + std::to_string(i) + R"(", "append": {"log": "line"}})");
  on(board, remove_once);
  EXPECT_TRUE(*fixture.pipeline->scrub());
  fixture.pipeline = std::make_unique<Pipeline>(*fixture.store, fixture.roles);  // as after a start
  const auto done = [&] { return (*(*(*fixture.store->snapshot())->deletion(board))).is_purged; };
  EXPECT_FALSE(done());
  purge();
  EXPECT_TRUE(done());
  EXPECT_FALSE(*fixture.pipeline->scrub());
  EXPECT_TRUE(on(board, remove_once).duplicate);
  expect_sound(board);
}

// --- the feed ---

struct DeletedFeed : DeleteBoard {
  DeletedFeed() : service(*fixture.store, fixture.roles, fixture.welcome()) {}

  void follow(const PeerId& peer, Version from, const std::vector<std::string>& paths = {},
              const std::string& actor = "analyst") {
    service.handle({hello(peer, actor)}, 0);
    answers = service.handle(
        {{peer, message_bytes(codec::message::subscribe, 7, codec::to_value(codec::Subscribe{board, from, paths}))}},
        0);
  }
  Send sender() {
    return [this](const PeerId& peer, std::string_view bytes) {
      if (peer == full) return SendResult::full;
      sent[peer].push_back(decoded(bytes));
      return SendResult::sent;
    };
  }
  void catch_up() {
    for (int i = 0; i < 100 && service.catch_up(sender()); ++i) {
    }
  }
  void commit(const std::string& text, const std::string& actor = "analyst") {
    on(board, text, actor);
    service.publish(events, sender());
  }
  std::vector<std::string> types(const PeerId& peer) {
    std::vector<std::string> found;
    for (const codec::Message& message : sent[peer]) found.push_back(message.type);
    return found;
  }
  // The versions that the peer was sent, and whether the last one emptied its copy.
  std::vector<Version> versions(const PeerId& peer) {
    std::vector<Version> found;
    copy = {};
    for (const codec::Message& message : sent[peer]) {
      if (message.type != codec::message::events) continue;
      const auto page = codec::events_from_value(message.body);
      for (const codec::FeedEvent& event : page->events) {
        copy.apply(event.version, event.changes);
        EXPECT_EQ(event.digest.value_or(copy.digest()), copy.digest());
        found.push_back(event.version);
      }
    }
    return found;
  }

  FeedService service;
  std::vector<Outbound> answers;
  std::map<PeerId, std::vector<codec::Message>> sent;
  PeerId full;
  blackboard::Board copy;
};

using Types = std::vector<std::string>;
using Versions = std::vector<Version>;

TEST_F(DeletedFeed, AFollowerGetsTheLastEventAndThenNothing) {
  commit(R"({"set": {"a": 1}})");
  follow("live", 0);
  catch_up();
  commit(R"({"set": {"a": 2}})");
  commit(remove_it);
  EXPECT_EQ(versions("live"), (Versions{1, 2, 3}));
  EXPECT_TRUE(copy.cells().empty());
  EXPECT_EQ(copy.digest(), Sum128{});
  purge();
  catch_up();
  service.heartbeat(0, sender());
  EXPECT_EQ(types("live"), (Types{"subscribed", "events", "live", "events", "events", "heartbeat"}));
}

TEST_F(DeletedFeed, OneThatIsJustBeforeItGetsItFromTheLog) {
  commit(R"({"set": {"a": 1}})");
  on(board, R"({"set": {"a": 2}})");
  follow("late", 2);
  on(board, remove_it);  // it does not come through publish
  purge();
  service.heartbeat(0, sender());
  service.heartbeat(0, sender());
  catch_up();
  EXPECT_EQ(versions("late"), (Versions{3}));
}

TEST_F(DeletedFeed, OneThatIsFurtherBehindIsToldSo) {
  commit(R"({"set": {"a": 1}})");
  commit(R"({"set": {"a": 2}})");
  follow("behind", 0);
  full = "behind";
  catch_up();
  commit(remove_it);
  full.clear();
  for (int i = 0; i < 10; ++i) {
    service.heartbeat(0, sender());
    catch_up();
  }
  EXPECT_TRUE(versions("behind").empty());
  const auto told = std::find_if(sent["behind"].begin(), sent["behind"].end(),
                                 [](const codec::Message& message) { return message.type == codec::message::error; });
  ASSERT_NE(told, sent["behind"].end());
  EXPECT_EQ(told->id, 7U);
  EXPECT_EQ(text_of(at(told->body, "code")), "deleted");
  EXPECT_EQ(at(told->body, "found"), Value(3));
  EXPECT_EQ(service.stats().subscriptions, 0U);
}

TEST_F(DeletedFeed, NobodyCanFollowItAnyMore) {
  commit(R"({"set": {"a": 1}})");
  commit(remove_it);
  for (const Version from : {0U, 1U, 2U, 9U}) {
    follow("new", from);
    ASSERT_EQ(answers.size(), 1U);
    const auto answer = decoded(answers.front().bytes);
    EXPECT_EQ(answer.type, "error");
    EXPECT_EQ(text_of(at(answer.body, "code")), "deleted") << from;
  }
}

TEST_F(DeletedFeed, ThatItIsGoneIsForThoseWhoSeeAPartToo) {
  fixture.give_role("reader", "acme/**", {"public.**"});
  fixture.give_everything("analyst");
  commit(R"({"set": {"public.a": 1, "hidden": 2}})");
  follow("part", 0, {}, "reader");
  follow("path", 0, {"public"});
  catch_up();
  commit(remove_it);
  for (const char* peer : {"part", "path"}) {
    EXPECT_EQ(versions(peer), (Versions{1, 2})) << peer;
    EXPECT_TRUE(copy.cells().empty()) << peer;
  }
}

TEST_F(DeletedFeed, WhatItsSchemaKeptBackStaysOffTheOpenFeed) {
  fixture.give_everything("analyst");
  fixture.roles.add_role("all", {{*Pattern::for_boards("**"), *Pattern::for_paths("**"), 1U, confidence_highest}});
  fixture.roles.add_actor("*", {"all"});
  on("acme/open", R"({"set": {"a": 1}})", "analyst");
  EXPECT_TRUE(service.is_open("acme/open"));
  fixture.roles.add_actor("lead", {});
  fixture.roles.add_role("lead", {{*Pattern::for_boards("**"), *Pattern::for_paths("**"), ~0U, confidence_highest}});
  fixture.roles.add_actor("lead", {"lead"});
  const Receipt marked = on(board, R"({"ops": [{"op": "schema", "path": "$schema.board",
      "value": {"fields": {"生日": {"type": "string", "sensitivity": "personal"}}}}]})",
                            "lead");
  ASSERT_EQ(code_of(marked), "none") << marked.error->message;
  // Both in one batch: when the event with the value is published, the schema is gone already.
  const auto receipts =
      send({submission(board, R"({"set": {"生日": "1994"}})", "lead"), submission(board, remove_it, "lead")});
  ASSERT_EQ(code_of(receipts[1]), "none");
  service.publish(events, sender());
  EXPECT_FALSE(service.is_open(board));
  on("acme/open", remove_it, "lead");
  service.publish(events, sender());
  EXPECT_TRUE(service.is_open("acme/open"));
}

// --- the words of the log ---

TEST_F(DeleteBoard, TheEventIsToldInWords) {
  on(board, R"({"set": {"a": 1}})");
  on(board, remove_it);
  const Value words = codec::event_to_map(*events.front());
  EXPECT_EQ(codec::to_json(at(words, "changes")), R"([{"gone":true,"part":"board","path":"$board","value":null}])");
  EXPECT_EQ(codec::to_json(at(words, "ops")), R"([{"op":"delete","path":"$board"}])");
}

}  // namespace
}  // namespace tafel::broker::test
