// Fork, merge, tag, erase and expiry, through the commit pipeline (SEMANTICS 11, 13; FIELD O17, O18).
#include "broker/board_verbs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "blackboard/read.hpp"
#include "blackboard/store/layout.hpp"
#include "broker/log_view.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/event_pieces.hpp"
#include "common/codec/event_view.hpp"
#include "common/codec/json.hpp"
#include "common/codec/receipt_codec.hpp"
#include "tests/broker/rig.hpp"
#include "tests/effort.hpp"

namespace tafel {
namespace {

using testing::Rig;
using testing::value_in;

const std::string parent = "acme/trip";
const std::string fork_id = "acme/trip-b";

std::string code_of(const Receipt& receipt) {
  return receipt.error ? std::string(name_of(receipt.error->code)) : "none";
}

struct BoardVerbs : ::testing::Test {
  Receipt on(const std::string& board, const std::string& text, const std::string& actor = "analyst") {
    auto done = rig.commit_all({{actor, testing::delta(text, board)}});
    EXPECT_TRUE(done.has_value()) << done.error().message;
    for (const auto& event : done->events) events.push_back(event);
    return done->receipts.front();
  }
  Receipt fork(const std::string& board, const std::string& from, const std::string& version = "null") {
    return on(board,
              R"({"ops": [{"op": "fork", "value": {"parent": ")" + from + R"(", "version": )" + version + "}}]}");
  }
  Receipt merge(const std::string& into, const std::string& from) {
    return on(into, R"({"ops": [{"op": "merge", "value": {"fork": ")" + from + R"("}}]})");
  }
  Receipt erase(const std::string& board, const std::string& path) {
    return on(board, R"({"ops": [{"op": "erase", "path": ")" + path + R"("}]})");
  }
  std::string state(const std::string& board, std::optional<Version> version = {}) {
    const auto snapshot = *rig.store().snapshot();
    const auto loaded = snapshot->load(board, std::nullopt, version, 1ULL << 30U);
    EXPECT_TRUE(loaded) << loaded.error().message;
    Value state = blackboard::state(*loaded, {rig.now, nullptr});
    Value shown{Map{}};
    for (const auto& [key, value] : *state.get_if<Map>()) {
      if (!key.starts_with('$')) shown.set(key, value);
    }
    return codec::to_json(shown);
  }
  // With the elements of the set s in no order: one that a fork removed and added anew keeps its place in the parent.
  Value values(const std::string& board) {
    Value all = testing::json(state(board));
    Value* set = nullptr;
    for (auto& [key, value] : *all.get_if<Map>()) {
      if (key == "s") set = &value;
    }
    if (set == nullptr) return all;
    List& elements = *set->get_if<List>();
    std::sort(elements.begin(), elements.end(),
              [](const Value& a, const Value& b) { return canonical(a) < canonical(b); });
    return all;
  }
  void expect_sound(const std::string& board) {
    EXPECT_EQ((*rig.store().verify(board)).defects, std::vector<std::string>{}) << board;
  }
  // All records of the log of the board, as they lie in the store.
  std::string log_of(const std::string& board) {
    std::string all;
    const auto snapshot = *rig.store().snapshot();
    const auto records = *snapshot->event_records(board, 1, 1'000'000, 1ULL << 40U);
    for (const std::string& record : records) all += record;
    return all;
  }
  void scrub() {
    while (*rig.pipeline().scrub()) {
    }
  }

  Rig rig;
  std::vector<std::shared_ptr<const Event>> events;
};

// --- fork (SEMANTICS 11: a new board with parent and version) ---

TEST_F(BoardVerbs, AForkBeginsAsItsParentWasAndNamesIt) {
  on(parent, R"({"set": {"phase": "planning"}, "patch": {"国家": {"add": ["美国", "英国"]}}})");
  on(parent, R"({"set": {"phase": "booking"}})");
  const Receipt made = fork(fork_id, parent, "1");
  EXPECT_EQ(code_of(made), "none");
  EXPECT_EQ(made.version, 2U);
  EXPECT_EQ(state(fork_id), R"({"phase":"planning","国家":["美国","英国"]})");
  EXPECT_EQ(codec::to_json(value_in(rig.store(), "$fork", fork_id)), R"({"parent":"acme/trip","version":1})");
  on(fork_id, R"({"set": {"phase": "dreaming"}})");
  EXPECT_EQ(state(parent), R"({"phase":"booking","国家":["美国","英国"]})");
  EXPECT_EQ(state(fork_id, 1), R"({"phase":"planning","国家":["美国","英国"]})");
  expect_sound(fork_id);
  expect_sound(parent);
}

TEST_F(BoardVerbs, AForkWithoutAVersionIsOfTheHead) {
  on(parent, R"({"incr": {"n": 1}})");
  on(parent, R"({"incr": {"n": 1}})");
  EXPECT_EQ(fork(fork_id, parent).version, 3U);
  EXPECT_EQ(state(fork_id), R"({"n":2})");
}

TEST_F(BoardVerbs, AForkThatCanNotBeIsRefusedWithTheReason) {
  on(parent, R"({"set": {"a": 1}})");
  EXPECT_EQ(code_of(fork(fork_id, "acme/none")), "bad_value");
  EXPECT_EQ(code_of(fork(fork_id, parent, "2")), "future_base");
  EXPECT_EQ(code_of(fork(fork_id, parent, "0")), "base_too_old");
  EXPECT_EQ(code_of(fork(parent, parent)), "bad_value");
  EXPECT_EQ(code_of(on(fork_id, R"({"ops": [{"op": "fork", "value": "acme/trip"}]})")), "bad_value");
  EXPECT_EQ(code_of(on(fork_id, R"({"ops": [{"op": "fork", "value": {"parent": "acme/trip", "depth": 1}}]})")),
            "bad_value");
  EXPECT_EQ(code_of(fork(fork_id, parent)), "none");
  EXPECT_EQ(code_of(fork(fork_id, parent)), "stale");
}

TEST_F(BoardVerbs, ADryRunOfAForkMakesNone) {
  on(parent, R"({"set": {"a": 1}})");
  const Receipt tried = on(fork_id, R"({"check": true, "ops": [{"op": "fork", "value": {"parent": "acme/trip"}}]})");
  EXPECT_EQ(code_of(tried), "none");
  EXPECT_EQ(tried.version, 2U);
  EXPECT_FALSE(*(*rig.store().snapshot())->head(fork_id));
}

TEST_F(BoardVerbs, ARepeatedForkIsADuplicate) {
  on(parent, R"({"set": {"a": 1}})");
  const std::string once = R"({"id": "f1", "ops": [{"op": "fork", "value": {"parent": "acme/trip"}}]})";
  EXPECT_FALSE(on(fork_id, once).duplicate);
  EXPECT_TRUE(on(fork_id, once).duplicate);
}

TEST_F(BoardVerbs, AVerbOfABoardStandsAloneInItsDelta) {
  on(parent, R"({"set": {"a": 1}})");
  const Receipt two = on(parent, R"({"ops": [{"op": "erase", "path": "a"}, {"op": "set", "path": "b", "value": 1}]})");
  EXPECT_EQ(code_of(two), "bad_value");
  EXPECT_EQ(state(parent), R"({"a":1})");
}

TEST_F(BoardVerbs, ReservedPathsTakeNoOtherOp_Section13) {
  on(parent, R"({"set": {"a": 1}})");
  fork(fork_id, parent);
  EXPECT_EQ(code_of(on(fork_id, R"({"set": {"$fork": {"parent": "x"}}})")), "forbidden");
  EXPECT_EQ(code_of(on(fork_id, R"({"unset": ["$fork"]})")), "forbidden");
  EXPECT_EQ(code_of(on(fork_id, R"({"set": {"$tags.a": 1}})")), "forbidden");
  EXPECT_EQ(code_of(erase(fork_id, "$fork")), "forbidden");
}

// --- merge (SEMANTICS 11: the net changes as one delta with base = the fork point) ---

TEST_F(BoardVerbs, MergingWithoutAChangeOfTheParentGivesTheFork) {
  on(parent, R"({"set": {"a": 1, "gone": 1, "sure": {"x": 1}}, "patch": {"s": {"add": ["x", "y"]}}, "incr": {"n": 3},
                 "max": {"top": 5}, "append": {"log": "first"}})");
  fork(fork_id, parent);
  on(fork_id, R"({"set": {"a": 2, "new.b": [1, 2]}, "unset": ["gone"], "patch": {"s": {"add": ["z"], "remove": ["x"]}},
                  "incr": {"n": 4}, "max": {"top": 9}, "append": {"log": "second"}})");
  on(fork_id, R"({"confidence": "verified", "set": {"sure.x": 2}})");
  const Receipt merged = merge(parent, fork_id);
  EXPECT_EQ(code_of(merged), "none") << merged.error->message;
  EXPECT_EQ(state(parent), state(fork_id));
  EXPECT_EQ(events.back()->source.kind, "merge");
  EXPECT_EQ(events.back()->base, 1U);
  expect_sound(parent);
}

TEST_F(BoardVerbs, MergingKeepsWhatTheParentDidMeanwhile) {
  on(parent, R"({"patch": {"国家": {"add": ["美国", "新加坡"]}}, "incr": {"n": 1}})");
  fork(fork_id, parent);
  on(fork_id, R"({"patch": {"国家": {"reset": ["美国", "英国"]}}, "incr": {"n": 10}})");
  on(parent, R"({"patch": {"国家": {"reset": ["美国", "日本"]}}, "incr": {"n": 100}})");
  EXPECT_EQ(code_of(merge(parent, fork_id)), "none");
  EXPECT_EQ(state(parent), R"({"n":111,"国家":["美国","日本","英国"]})");
}

TEST_F(BoardVerbs, MergingTwiceChangesNothing) {
  on(parent, R"({"set": {"a": 1}})");
  fork(fork_id, parent);
  on(fork_id, R"({"set": {"a": 2}, "patch": {"s": {"add": ["x"]}}})");
  merge(parent, fork_id);
  const std::string once = state(parent);
  merge(parent, fork_id);
  EXPECT_EQ(state(parent), once);
}

TEST_F(BoardVerbs, OnlyAForkIsMergedIntoItsParent) {
  on(parent, R"({"set": {"a": 1}})");
  on("acme/other", R"({"set": {"a": 1}})");
  EXPECT_EQ(code_of(merge(parent, "acme/other")), "bad_value");
  fork(fork_id, parent);
  EXPECT_EQ(code_of(merge("acme/other", fork_id)), "bad_value");
}

// One random delta on a small board, in the short form.
std::string random_delta(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t bound) { return std::to_string(random() % bound); };
  const std::string confidence = random() % 4 == 0 ? R"("confidence": "confirmed", )" : "";
  switch (random() % 8) {
    case 0: return "{" + confidence + R"("set": {"r)" + below(3) + R"(": )" + below(5) + "}}";
    case 1:
      return "{" + confidence + R"("set": {"nested": {"a": )" + below(4) + R"(, "b": "北京)" + below(3) + R"("}}})";
    case 2: return "{" + confidence + R"("patch": {"s": {"add": [)" + below(6) + ", " + below(6) + "]}}}";
    case 3: return "{" + confidence + R"("patch": {"s": {"remove": [)" + below(6) + "]}}}";
    case 4: return R"({"incr": {"n": )" + below(9) + "}}";
    case 5: return R"({"max": {"top": )" + below(50) + "}}";
    case 6: return R"({"append": {"log": "line )" + below(100) + R"("}})";
    default: {
      const std::vector<std::string> paths{"r0", "r1", "nested", "s", "n", "top", "log"};
      return "{" + confidence + R"("unset": [")" + paths[random() % paths.size()] + R"("]})";
    }
  }
}

// Law: a merge into a parent that did not change gives the parent the fork's values.
TEST_F(BoardVerbs, MergingARandomForkIntoAnUnchangedParentGivesTheFork) {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 20 * effort; ++round) {
    const std::string board = "acme/law/" + std::to_string(round);
    for (std::uint64_t i = random() % 12 + 1; i > 0; --i) on(board, random_delta(random));
    if (!*(*rig.store().snapshot())->head(board)) continue;  // nothing came of it
    fork(board + "/b", board);
    for (std::uint64_t i = random() % 12; i > 0; --i) on(board + "/b", random_delta(random));
    const Receipt merged = merge(board, board + "/b");
    // A fork that nothing was written to has nothing to bring back.
    if (merged.error) EXPECT_EQ(code_of(merged), "none") << merged.error->message;
    EXPECT_EQ(codec::to_json(values(board)), codec::to_json(values(board + "/b"))) << "round " << round;
    expect_sound(board);
    expect_sound(board + "/b");
  }
}

// --- tag ---

TEST_F(BoardVerbs, ATagNamesAVersionAndGoes) {
  on(parent, R"({"set": {"a": 1}})");
  on(parent, R"({"set": {"a": 2}})");
  EXPECT_EQ(code_of(on(parent, R"({"ops": [{"op": "tag", "path": "$tags.签约", "value": 1}]})")), "none");
  EXPECT_EQ(value_in(rig.store(), "$tags.签约", parent), Value(1));
  const Receipt again = on(parent, R"({"ops": [{"op": "tag", "path": "$tags.签约", "value": 1}]})");
  EXPECT_EQ(again.ops[0].outcome, Outcome::unchanged);
  EXPECT_EQ(code_of(on(parent, R"({"ops": [{"op": "tag", "path": "$tags.x", "value": 99}]})")), "future_base");
  EXPECT_EQ(code_of(on(parent, R"({"ops": [{"op": "tag", "path": "$tags.x.y", "value": 1}]})")), "bad_path");
  EXPECT_EQ(code_of(on(parent, R"({"ops": [{"op": "tag", "path": "x", "value": 1}]})")), "bad_path");
  on(parent, R"({"ops": [{"op": "tag", "path": "$tags.签约", "value": null}]})");
  EXPECT_TRUE(value_in(rig.store(), "$tags.签约", parent).is_nil());
}

// --- erase (SEMANTICS 11; O18: one deletion covers every derived place) ---

const std::string canary = "1994-02-29-canary";

TEST_F(BoardVerbs, ErasingLeavesNothingInStateHistorySuggestionsAndReceipts_O18) {
  on(parent, R"({"id": "1", "set": {"profile": {"birthday": ")" + canary + R"(", "name": "李雷"}}})");
  on(parent, R"({"id": "2", "confidence": "guess", "set": {"profile.birthday": ")" + canary + R"(?"}})");
  on(parent,
     R"({"id": "3", "set": {"profile.birthday": ")" + canary + R"(", "phase": "x"}})");  // an echo beside a change
  on(parent, R"({"id": "4", "set": {"profile.birthday": ")" + canary + R"("}})");        // an echo alone
  on(parent, R"({"patch": {"profile.dates": {"add": [")" + canary + R"("]}}})");
  on(parent, R"({"patch": {"profile.dates": {"remove": [")" + canary + R"("]}}})");
  EXPECT_NE(log_of(parent).find(canary), std::string::npos);
  EXPECT_EQ(erase(parent, "profile").version, 6U);
  EXPECT_EQ(state(parent), R"({"phase":"x"})");
  EXPECT_EQ(state(parent, 3), R"({"phase":"x"})");
  scrub();
  EXPECT_EQ(log_of(parent).find("canary"), std::string::npos);
  EXPECT_EQ(log_of(parent).find("李雷"), std::string::npos);
  for (const char* id : {"1", "2", "3", "4"}) {
    const Receipt again =
        on(parent, R"({"id": ")" + std::string(id) + R"(", "set": {"profile.birthday": ")" + canary + R"("}})");
    EXPECT_TRUE(again.duplicate) << id;
    EXPECT_EQ(codec::to_json(codec::receipt_to_value(again)).find("canary"), std::string::npos) << id;
  }
  EXPECT_EQ((*rig.store().erasures(0, 10)).at(0).is_done, true);
  expect_sound(parent);
}

TEST_F(BoardVerbs, ErasingKeepsWhatElseTheDeltasSaid) {
  on(parent, R"({"set": {"secret": ")" + canary + R"("}, "incr": {"n": 1}})");
  erase(parent, "secret");
  scrub();
  EXPECT_EQ(state(parent, 1), R"({"n":1})");
  const auto records = *(*rig.store().snapshot())->event_records(parent, 1, 1, 1);
  const Event event = *codec::decode_event(records.at(0));
  EXPECT_TRUE(codec::is_op_erased(event, 0) != codec::is_op_erased(event, 1));
  EXPECT_EQ(codec::chain_hash(event), event.hash);
}

TEST_F(BoardVerbs, ErasingReachesForksAndForksOfForks) {
  on(parent, R"({"set": {"secret": ")" + canary + R"(", "a": 1}})");
  fork(fork_id, parent);
  on(fork_id, R"({"set": {"secret": ")" + canary + R"( too"}})");
  fork("acme/trip-c", fork_id);
  fork("acme/trip-d", parent);
  on("acme/trip-d", R"({"set": {"b": 1}})");
  erase(parent, "secret");
  scrub();
  for (const std::string& board : {parent, fork_id, std::string("acme/trip-c"), std::string("acme/trip-d")}) {
    EXPECT_EQ(state(board).find("canary"), std::string::npos) << board;
    EXPECT_EQ(state(board, 1).find("canary"), std::string::npos) << board;
    EXPECT_EQ(log_of(board).find("canary"), std::string::npos) << board;
    expect_sound(board);
  }
  EXPECT_EQ((*rig.store().erasures(0, 10)).size(), 4U);
}

TEST_F(BoardVerbs, AnErasureInAForkIsNotUndoneByReadsRevertsAndForks) {
  on(parent, R"({"set": {"sec.a": ")" + canary + R"("}, "patch": {"sec.s": {"add": [")" + canary + R"("]}}})");
  fork(fork_id, parent);
  on(fork_id, R"({"set": {"x": 2}})");
  erase(fork_id, "sec");
  EXPECT_EQ(state(fork_id, 3), R"({"x":2})");
  EXPECT_EQ(code_of(fork("acme/trip-g", fork_id, "3")), "base_too_old");
  on(fork_id, R"({"ops": [{"op": "revert", "path": "sec", "to": 3}]})");
  EXPECT_EQ(state(fork_id), R"({"x":2})");
  EXPECT_EQ(code_of(fork("acme/trip-g", fork_id)), "none");
  EXPECT_EQ(state("acme/trip-g"), R"({"x":2})");
  EXPECT_NE(state(parent).find(canary), std::string::npos);
  for (const std::string& board : {parent, fork_id, std::string("acme/trip-g")}) expect_sound(board);
}

TEST_F(BoardVerbs, AVersionFromBeforeAnErasureIsNotForked) {
  on(parent, R"({"set": {"a": 1, "b": 1}})");
  on(parent, R"({"set": {"b": 2}})");
  erase(parent, "a");
  EXPECT_EQ(code_of(fork(fork_id, parent, "2")), "base_too_old");
  EXPECT_EQ(code_of(fork(fork_id, parent, "3")), "none");
  expect_sound(fork_id);
}

TEST_F(BoardVerbs, WhatWasOnlyTriedIsErasedToo) {
  on(parent, R"({"atomic": false, "ops": [{"op": "set", "path": "x", "value": 1},
                                          {"op": "set", "path": "x.ssn", "value": ")" +
                 canary + R"("}]})");
  EXPECT_NE(log_of(parent).find("canary"), std::string::npos);
  EXPECT_EQ(erase(parent, "x.ssn").ops[0].reason, Reason::absent);
  scrub();
  EXPECT_EQ(log_of(parent).find("canary"), std::string::npos);
  EXPECT_EQ(state(parent), R"({"x":1})");
  expect_sound(parent);
}

TEST_F(BoardVerbs, TheLogTellsNoErrorsToThoseWhoMayNotReadEverything) {
  Event event;
  event.ops.resize(2);
  event.results.resize(2);
  for (Op& op : event.ops) op.path = "p";
  event.ops[1].malformed = Malformed{.message = "not " + canary};
  for (OpResult& result : event.results) {
    result.outcome = Outcome::rejected;
    result.error = ErrorInfo{};
    result.error->path = "p.ssn";
    result.error->message = "found " + canary;
    result.error->found = Value(canary);
  }
  Grant grant{*Pattern::for_boards("**"), *Pattern::for_paths("p"), 1U << static_cast<unsigned>(Right::read)};
  const Value seen = codec::event_to_map(broker::visible_part(event, Rights({grant})));
  EXPECT_EQ(codec::to_json(seen).find("canary"), std::string::npos);
  EXPECT_EQ(seen.find("ops")->get_if<List>()->size(), 2U);
  EXPECT_NE(codec::to_json(codec::event_to_map(broker::visible_part(event, Rights::everything()))).find("canary"),
            std::string::npos);
}

TEST_F(BoardVerbs, ErasingGoesOnAfterARestart) {
  for (int i = 0; i < 600; ++i) on(parent, R"({"set": {"secret": ")" + canary + std::to_string(i) + R"("}})");
  erase(parent, "secret");
  EXPECT_TRUE(*rig.pipeline().scrub());
  EXPECT_NE(log_of(parent).find("canary"), std::string::npos);
  rig.reopen();
  scrub();
  EXPECT_EQ(log_of(parent).find("canary"), std::string::npos);
  expect_sound(parent);
}

TEST_F(BoardVerbs, DamageStopsTheScrubAndNotTheServer) {
  on(parent, R"({"set": {"secret": ")" + canary + R"("}})");
  erase(parent, "secret");
  {
    const auto kv = store::open_memory(rig.disk);
    const auto write = *kv->write();
    ASSERT_TRUE(write->put(store::Table::events, store::event_key(store::BoardNumber{1}, 1), "no event"));
    ASSERT_TRUE(write->commit());
  }
  const auto scrubbed = rig.pipeline().scrub();
  ASSERT_TRUE(scrubbed);
  EXPECT_FALSE(*scrubbed);
  EXPECT_FALSE((*rig.store().erasures(0, 10)).at(0).is_done);
  EXPECT_EQ(code_of(on("acme/other", R"({"set": {"a": 1}})")), "none");
}

TEST_F(BoardVerbs, ErasingWhatIsNotThereChangesNothing) {
  on(parent, R"({"set": {"a": 1}})");
  const Receipt receipt = erase(parent, "b");
  EXPECT_EQ(receipt.version, 1U);
  EXPECT_EQ(receipt.ops[0].reason, Reason::absent);
}

TEST_F(BoardVerbs, WhatWasErasedMayBeWrittenAnew) {
  on(parent, R"({"patch": {"s": {"add": ["x"]}}})");
  erase(parent, "s");
  on(parent, R"({"patch": {"s": {"add": ["x", "y"]}}})");
  scrub();
  EXPECT_EQ(state(parent), R"({"s":["x","y"]})");
  expect_sound(parent);
}

// --- expiry (SEMANTICS 11; O17: an event with a version, and absent to every read before it) ---

TEST_F(BoardVerbs, ExpiryIsAnEventOfTheSystem_O17) {
  on(parent, R"({"ops": [{"op": "set", "path": "presence.x", "value": "here", "ttl_ms": 200}]})");
  rig.now += 199;
  EXPECT_TRUE((*rig.pipeline().expire(rig.now)).empty());
  rig.now += 1;
  EXPECT_EQ(state(parent), "{}");
  const auto expired = *rig.pipeline().expire(rig.now);
  ASSERT_EQ(expired.size(), 1U);
  EXPECT_EQ(expired[0]->actor, "system");
  EXPECT_EQ(expired[0]->version, 2U);
  EXPECT_EQ(expired[0]->source.kind, "expiry");
  EXPECT_FALSE(expired[0]->changes.at(0).change.image);
  EXPECT_TRUE((*rig.pipeline().expire(rig.now)).empty());
  expect_sound(parent);
}

TEST_F(BoardVerbs, TheSweepTakesOnlyWhatItJudged) {
  on(parent, R"({"ops": [{"op": "set", "path": "x", "value": 1, "ttl_ms": 100}]})");
  on(parent, R"({"ops": [{"op": "set", "path": "x", "value": 2, "ttl_ms": 300}]})");
  on(parent,
     R"({"ops": [{"op": "patch", "path": "s", "add": ["a"], "ttl_ms": 100}, {"op": "patch", "path": "s", "add": ["b"]}]})");
  rig.now += 150;
  const auto expired = *rig.pipeline().expire(rig.now);
  ASSERT_EQ(expired.size(), 1U);
  EXPECT_EQ(state(parent), R"({"s":["b"],"x":2})");
  rig.now += 150;
  EXPECT_EQ((*rig.pipeline().expire(rig.now)).size(), 1U);
  EXPECT_EQ(state(parent), R"({"s":["b"]})");
}

TEST_F(BoardVerbs, AClockSetBackRevivesNothing) {
  on(parent, R"({"ops": [{"op": "set", "path": "x", "value": 1, "ttl_ms": 100}]})");
  rig.now += 100;
  EXPECT_EQ((*rig.pipeline().expire(rig.now)).size(), 1U);
  rig.now -= 90;
  EXPECT_EQ(state(parent), "{}");
  on(parent, R"({"set": {"y": 1}})");
  EXPECT_EQ(state(parent), R"({"y":1})");
}

TEST_F(BoardVerbs, ExpiryAndErasureTellWhatIsMissingFromThenOn_Section12) {
  on(parent, R"({"ops": [{"op": "schema", "path": "$schema.board",
      "value": {"fields": {"major": {"required": true, "label": "目标专业"}, "gpa": {"required": true}}}}]})");
  on(parent,
     R"({"ops": [{"op": "set", "path": "major", "value": "CS", "ttl_ms": 100}, {"op": "set", "path": "gpa", "value": 3.8}]})");
  ASSERT_TRUE(events.back()->completeness);
  EXPECT_EQ(events.back()->completeness->score, 1.0);
  fork(fork_id, parent);
  rig.now += 100;
  const auto expired = *rig.pipeline().expire(rig.now);
  ASSERT_EQ(expired.size(), 1U);
  ASSERT_TRUE(expired[0]->completeness);
  EXPECT_EQ(expired[0]->completeness->score, 0.5);
  EXPECT_EQ(expired[0]->completeness->missing.at(0).label, "目标专业");
  events.clear();
  erase(parent, "gpa");
  ASSERT_EQ(events.size(), 2U);  // the fork's first
  EXPECT_EQ(events[0]->board, fork_id);
  for (const auto& event : events) {
    ASSERT_TRUE(event->completeness) << event->board;
    EXPECT_EQ(event->completeness->score, 0.0) << event->board;
  }
}

TEST_F(BoardVerbs, ExpiryIsFoundAfterARestartToo_O17) {
  on(parent, R"({"ops": [{"op": "set", "path": "presence.x", "value": "here", "ttl_ms": 200}]})");
  rig.now += 150;
  rig.reopen();
  rig.now += 100;
  EXPECT_EQ((*rig.pipeline().expire(rig.now)).size(), 1U);
  expect_sound(parent);
}

TEST_F(BoardVerbs, WhatAForkInheritsExpiresThereToo) {
  on(parent,
     R"({"ops": [{"op": "set", "path": "x", "value": 1, "ttl_ms": 100}, {"op": "set", "path": "y", "value": 1}]})");
  fork(fork_id, parent);
  rig.now += 100;
  EXPECT_EQ(state(fork_id), R"({"y":1})");
  EXPECT_EQ(code_of(on(fork_id, R"({"set": {"x": 2}})")), "none");
  EXPECT_EQ(state(fork_id), R"({"x":2,"y":1})");
  expect_sound(fork_id);
}

}  // namespace
}  // namespace tafel
