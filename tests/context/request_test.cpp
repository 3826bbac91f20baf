#include <gtest/gtest.h>

#include "common/codec/json.hpp"
#include "common/model/rights.hpp"
#include "context/context.hpp"
#include "tests/blackboard/board_builder.hpp"

namespace tafel::context {
namespace {

using testing::BoardBuilder;
using testing::json;

std::string refusal(std::string_view text) {
  const auto request = request_from_value(json(text));
  return request ? "accepted" : request.error().code + ": " + request.error().message;
}

TEST(Request, AnEmptyMapIsTheDefaults) {
  const auto request = request_from_value(json("{}"));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->system, "");
  EXPECT_EQ(request->facts_from, Confidence::confirmed);
  EXPECT_EQ(request->dialogue, "dialogue");
  EXPECT_EQ(request->turns, 6U);
  EXPECT_EQ(request->budget_tokens, 4000U);
  EXPECT_FALSE(request->task);
  EXPECT_TRUE(request->count);
}

TEST(Request, EveryMemberIsRead) {
  const auto request =
      request_from_value(json(R"({"system": "你是旅行顾问。", "pinned": ["budget", "a\\.b"], "facts_from": "verified",
      "dialogue": "chat.log", "turns": 4.0, "budget_tokens": 900, "task": "Answer."})"));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->system, "你是旅行顾问。");
  EXPECT_EQ(request->pinned, (std::vector<std::string>{"budget", "a\\.b"}));
  EXPECT_EQ(request->facts_from, Confidence::verified);
  EXPECT_EQ(request->dialogue, "chat.log");
  EXPECT_EQ(request->turns, 4U);
  EXPECT_EQ(request->budget_tokens, 900U);
  EXPECT_EQ(request->task, "Answer.");
}

TEST(Request, NullIsTheDefault) { EXPECT_EQ(refusal(R"({"task": null, "turns": null})"), "accepted"); }

TEST(Request, AnUnknownMemberIsRefusedByName) {
  EXPECT_EQ(refusal(R"({"buget_tokens": 5})"),
            "bad_request: there is no member \"buget_tokens\"; there are system, pinned, facts_from, dialogue, turns, "
            "budget_tokens, task");
}

TEST(Request, ARefusalNamesTheMemberAndWhatWouldBeRight) {
  EXPECT_EQ(refusal("[]"),
            "bad_request: a context request is a map with the members system, pinned, facts_from, dialogue, turns, "
            "budget_tokens, task");
  EXPECT_EQ(refusal(R"({"system": 5})"), "bad_request: system: it must be text");
  EXPECT_EQ(refusal(R"({"pinned": "budget"})"), "bad_request: pinned: it must be a list of dot paths");
  EXPECT_EQ(refusal(R"({"pinned": ["a..b"]})"), "bad_request: pinned: \"a..b\": a segment is empty");
  EXPECT_EQ(refusal(R"({"facts_from": "sure"})"),
            "bad_request: facts_from: it must be one of guess, inferred, stated, confirmed, verified");
  EXPECT_EQ(refusal(R"({"dialogue": ""})"), "bad_request: dialogue: a segment is empty");
  EXPECT_EQ(refusal(R"({"turns": -1})"), "bad_request: turns: it must be an integer from 0 to 1000");
  EXPECT_EQ(refusal(R"({"turns": 2.5})"), "bad_request: turns: it must be an integer from 0 to 1000");
  EXPECT_EQ(refusal(R"({"budget_tokens": 0})"), "bad_request: budget_tokens: it must be an integer from 1 to 10000000");
  EXPECT_EQ(refusal(R"({"budget_tokens": 18446744073709551615})"),
            "bad_request: budget_tokens: it must be an integer from 1 to 10000000");
  EXPECT_EQ(refusal(R"({"budget_tokens": "4000"})"),
            "bad_request: budget_tokens: it must be an integer from 1 to 10000000");
}

TEST(Request, AContextIsAMapOfBoardBaseMessagesAndTrace) {
  const Context context{"acme/t",
                        7,
                        {{"system", "s"}, {"tool", "18 °C", json(R"({"tool_call_id": "c1"})")}},
                        {100, 20, 10, {"budget"}, {{"turn 1", "budget", 90}}}};
  EXPECT_EQ(codec::to_json(context_to_value(context)),
            R"({"base":7,"board":"acme/t","messages":[{"content":"s","role":"system"},)"
            R"({"content":"18 °C","role":"tool","tool_call_id":"c1"}],)"
            R"("trace":{"budget_tokens":100,"included":["budget"],"mandatory_tokens":10,)"
            R"("omitted":[{"reason":"budget","tokens":90,"what":"turn 1"}],"used_tokens":20}})");
}

}  // namespace
}  // namespace tafel::context
