#include "agents_sdk/cpp/extractor.hpp"

#include "agents_sdk/embedded/embedded.hpp"
#include "tests/sdk/server_fixture.hpp"

namespace tafel::sdk {
namespace {

// Answers by the lines that it was given.
class Script final : public Extractor {
 public:
  explicit Script(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  bool may_change_facts(const DialogueTurn& turn) override { return turn.user != "谢谢"; }
  Result<std::string> ask(const ExtractionQuestion& question) override {
    corrections.push_back(question.correction);
    known = question.known;
    return lines_.at(corrections.size() - 1);
  }
  std::vector<std::string> corrections;
  std::string known;

 private:
  std::vector<std::string> lines_;
};

std::string answer(const std::string& path, const std::string& value, const std::string& intent = "OVERWRITE") {
  return R"({"fields": {")" + path + R"(": {"intent": ")" + intent + R"(", "value": )" + value +
         R"(, "confidence": "stated"}}, "unset": null})";
}

struct ExtractorTest : ::testing::Test {
  ExtractorTest() {
    auto opened = Embedded::open({.data = directory.path() / "data", .listen = {}, .quota_bytes = 0});
    EXPECT_TRUE(opened) << opened.error().message;
    embedded = std::move(*opened);
    agent = std::move(*embedded->connect("extractor"));
    board = join(*agent, "acme/申请/42");
    const Value fields = Map{{"gpa", Map{{"type", "number"}, {"range", List{0, 5}}}},
                             {"phase", Map{{"transitions", Map{{"谈", List{"定"}}}}}}};
    EXPECT_TRUE(board->apply(DeltaBuilder().schema(Map{{"fields", fields}})));
    auto told = schema_of(*agent, board->id());
    EXPECT_TRUE(told);
    schema = std::move(*told);
  }
  testing::TemporaryDirectory directory;
  std::unique_ptr<Embedded> embedded;
  std::unique_ptr<Agent> agent;
  std::shared_ptr<BoardHandle> board;
  Schema schema;
};

TEST_F(ExtractorTest, ATurnBecomesADeltaWithItsSource) {
  ASSERT_TRUE(board->apply(DeltaBuilder().set("phase", "谈").confidence(Confidence::confirmed)));
  Script script({answer("gpa", "3.8")});
  const auto outcome = extract(*board, schema, script, {"turn-5", "三点八", ""});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->receipt);
  EXPECT_EQ(board->get("gpa"), Value(3.8));
  EXPECT_NE(script.known.find("phase"), std::string::npos);
  EXPECT_EQ(script.known.find("gpa"), std::string::npos);
}

TEST_F(ExtractorTest, Section12_TheMirrorTellsHowCompleteTheBoardIs) {
  EXPECT_EQ(*board->completeness(), std::nullopt);
  const Value fields =
      Map{{"gpa", Map{{"required", true}, {"label", "GPA 绩点"}}}, {"major", Map{{"required", true}, {"weight", 3}}}};
  auto receipt = board->apply(DeltaBuilder().schema(Map{{"fields", fields}}));
  ASSERT_TRUE(receipt && receipt->completeness);
  EXPECT_EQ(receipt->completeness->score, 0);
  receipt = board->apply(DeltaBuilder().set("major", "金融"));
  const Completeness expected{0.75, {{*Path::parse("gpa"), "GPA 绩点"}}};
  EXPECT_EQ(receipt->completeness, expected);
  EXPECT_EQ(*board->completeness(), expected);
  const auto late = std::move(*embedded->connect("late"));
  EXPECT_EQ(*join(*late, board->id())->completeness(), expected);  // before any event
}

TEST_F(ExtractorTest, NoFactualChangeAsksNobodyAndWritesNothing) {
  Script script({});
  const auto thanks = extract(*board, schema, script, {"turn-1", "谢谢", ""});
  ASSERT_TRUE(thanks);
  EXPECT_FALSE(thanks->receipt);
  EXPECT_EQ(thanks->answers, 0U);
  Script chatter({answer("gpa", "5", "IGNORE")});
  const Version before = board->version();
  const auto ignored = extract(*board, schema, chatter, {"turn-2", "要是满分就好了", ""});
  ASSERT_TRUE(ignored);
  EXPECT_FALSE(ignored->receipt);
  EXPECT_EQ(ignored->ignored, (std::vector<std::string>{"IGNORE gpa: 5"}));
  EXPECT_EQ(board->version(), before);
}

TEST_F(ExtractorTest, WhatDoesNotReadOrIsRefusedByTheBoardGoesBack) {
  ASSERT_TRUE(board->apply(DeltaBuilder().set("phase", "定")));
  Script script({"我不知道", answer("gpa", "9"), answer("phase", "\"谈\""), answer("gpa", "4")});
  const auto outcome = extract(*board, schema, script, {"turn-5", "x", ""}, 4);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->answers, 4U);
  EXPECT_NE(script.corrections[1].find("no JSON object"), std::string::npos);
  EXPECT_NE(script.corrections[2].find("from 0 to 5"), std::string::npos);
  EXPECT_NE(script.corrections[3].find("may not become"), std::string::npos);  // only the board knows the state
  Script stubborn({"x", "y", "z"});
  const auto refused = extract(*board, schema, stubborn, {"turn-6", "x", ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::refused);
}

}  // namespace
}  // namespace tafel::sdk
