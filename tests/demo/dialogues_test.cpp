#include "demo/dialogues.hpp"

#include <gtest/gtest.h>

#include <string>

#include "demo/team.hpp"
#include "demo/turn_facts.hpp"

namespace tafel::demo {
namespace {

using testing::Test;

constexpr const char* line = R"({"id":"7","messages":[
 {"role":"usr","content":"找一家经济型的酒店","dialog_act":[["Inform","酒店","酒店类型","经济型"],["Request","酒店","名称",""]],
  "user_state":[[1,"酒店","酒店类型","经济型",true],[1,"酒店","评分","4分以上",false],[1,"酒店","周边景点",[],false]]},
 {"role":"sys","content":"青竹和湖畔","dialog_act":[["Recommend","酒店","名称","青竹"],["Recommend","酒店","名称","湖畔"],["Inform","酒店","价格","260元"]],
  "sys_state":{"酒店":{"名称":"","酒店类型":"经济型","评分":"","selectedResults":["青竹","湖畔"]},"景点":{"名称":"","selectedResults":[]}}},
 {"role":"usr","content":"评分4分以上","dialog_act":[["Inform","酒店","评分","4分以上"]],"user_state":[[1,"酒店","评分","4分以上",true]]},
 {"role":"sys","content":"那就青竹","dialog_act":[["Inform","酒店","名称","青竹"]],
  "sys_state":{"酒店":{"名称":"青竹","酒店类型":"经济型","评分":"4分以上","selectedResults":["青竹"]},"景点":{"名称":"","selectedResults":[]}}}]})";

std::string flat(std::string text) {
  std::erase(text, '\n');
  return text;
}

class Dialogues : public Test {
 protected:
  Dialogue dialogue = *dialogue_from_json(flat(line));
};

TEST_F(Dialogues, AUserMessageAndItsReplyAreATurn) {
  ASSERT_EQ(dialogue.turns.size(), 2U);
  EXPECT_EQ(dialogue.board(), "demo/7");
  EXPECT_EQ(dialogue.turns[0].user, "找一家经济型的酒店");
  EXPECT_EQ(dialogue.turns[1].system, "那就青竹");
}

TEST_F(Dialogues, TheUserStatesInformsAndGoalsThatAreMentioned) {
  EXPECT_EQ(stated_by_user(dialogue, 0), (std::vector<Fact>{{"酒店", "酒店类型", "经济型"}}));
  EXPECT_EQ(stated_by_user(dialogue, 1), (std::vector<Fact>{{"酒店", "评分", "4分以上"}}));
}

TEST_F(Dialogues, TheSystemTellsFactsAndNamesResults) {
  EXPECT_EQ(told_by_system(dialogue.turns[0]), (std::vector<Fact>{{"酒店", "价格", "260元"}}));
  EXPECT_EQ(named_by_system(dialogue.turns[0]),
            (std::vector<Fact>{{"酒店", "selectedResults", "青竹"}, {"酒店", "selectedResults", "湖畔"}}));
}

TEST_F(Dialogues, BothSidesAgreeWhenTheRecordHoldsTheUsersWord) {
  EXPECT_EQ(agreed(dialogue, 0), (std::vector<Fact>{{"酒店", "酒店类型", "经济型"}}));
  EXPECT_EQ(agreed(dialogue, 1), (std::vector<Fact>{{"酒店", "酒店类型", "经济型"}, {"酒店", "评分", "4分以上"}}));
}

TEST_F(Dialogues, ResultsThatTheListHasNoMoreAreDropped) {
  EXPECT_EQ(dropped(dialogue, 1, "酒店"), std::vector<std::string>{"湖畔"});
  EXPECT_EQ(dropped(dialogue, 1, "景点"), std::vector<std::string>{});
}

TEST_F(Dialogues, ATurnIsAboutTheDomainsItSpeaksOf) {
  EXPECT_EQ(active_domains(dialogue, 0), std::vector<std::string>{"酒店"});
  EXPECT_EQ(domains_of({dialogue}), (std::vector<std::string>{"景点", "酒店"}));
}

TEST(DialogueFormat, ComplaintsSayWhatIsWrong) {
  EXPECT_NE(dialogue_from_json(R"({"id":"a//b","messages":[]})").error().message.find("\"id\""), std::string::npos);
  EXPECT_NE(dialogue_from_json(R"({"id":"a","messages":[]})").error().message.find("at least one message"),
            std::string::npos);
  EXPECT_NE(dialogue_from_json(R"({"id":"a","messages":[{"role":"bot"}]})").error().message.find("usr or sys"),
            std::string::npos);
  EXPECT_NE(dialogue_from_json(R"({"id":"a","messages":[{"role":"usr"},{"role":"sys","sys_state":{"x":{"y":1}}}]})")
                .error()
                .message.find("must be text"),
            std::string::npos);
}

TEST(Team, SixAgentsAreEnoughAndMoreShareTheDomains) {
  const auto six = make_team(6, {"a", "b", "c"});
  ASSERT_EQ(six.size(), 6U);
  EXPECT_EQ(six.back().domains, (std::vector<std::string>{"a", "b", "c"}));
  const auto nine = make_team(9, {"a", "b", "c"});
  ASSERT_EQ(nine.size(), 9U);
  EXPECT_EQ(nine[5].domains, std::vector<std::string>{"a"});
  EXPECT_EQ(nine[8].name, "specialist-3");
  EXPECT_EQ(nine[8].domains, std::vector<std::string>{"c"});
  EXPECT_EQ(make_team(11, {"a"}).back().name, "chatter-5");
}

}  // namespace
}  // namespace tafel::demo
