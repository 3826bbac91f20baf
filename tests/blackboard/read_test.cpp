#include "blackboard/read.hpp"

#include <gtest/gtest.h>

#include "tests/blackboard/board_builder.hpp"

namespace tafel::blackboard {
namespace {

using testing::BoardBuilder;
using testing::json;
using testing::path_of;
using testing::Write;

constexpr Reader everyone{.now = 1000, .rights = nullptr};

std::string text(const Value& value) { return codec::to_json(value); }

TEST(Read, AnEmptyBoardIsAnEmptyMap) {
  EXPECT_EQ(text(state(Board(), everyone)), "{}");
  EXPECT_EQ(text(fields_map(Board(), std::nullopt, everyone)), "{}");
  EXPECT_EQ(text(suggestions_map(Board(), std::nullopt, everyone, true)), "{}");
  EXPECT_FALSE(value_at(Board(), path_of("a"), everyone));
}

TEST(Read, StateNestsByLiteralSegments) {
  const Board board = BoardBuilder().set("a.b", 1).set("a.c.d", 2).set("a\\.b", 3).set("学校.名称", "清华").board();
  EXPECT_EQ(text(state(board, everyone)), R"({"a":{"b":1,"c":{"d":2}},"a.b":3,"学校":{"名称":"清华"}})");
}

TEST(Read, ReservedFieldsShowOnlyToOneWhoAsksForThem) {
  const Board board = BoardBuilder().set("a", 1).set("$tags.v1", 7).set("a.$x", 2).board();
  EXPECT_EQ(text(fields_map(board, std::nullopt, everyone)).find("$tags"), std::string::npos);
  EXPECT_NE(text(fields_map(board, std::nullopt, everyone)).find("a.$x"), std::string::npos);
  EXPECT_EQ(text(*value_at(board, path_of("$tags"), everyone)), R"({"v1":7})");
}

TEST(Read, FieldsAreNamedByEscapedPathText) {
  const Board board = BoardBuilder().set("a\\.b.c", 3).board();
  EXPECT_EQ(text(fields_map(board, std::nullopt, everyone)),
            R"({"a\\.b.c":{"confidence":"stated","kind":"register","value":3,"version":1}})");
}

TEST(Read, ASiblingThatSharesAPrefixOfTheNameIsNotBelow) {
  const Board board = BoardBuilder().set("a.b", 1).set("a-b", 2).set("ab", 3).set("a.b2", 4).board();
  EXPECT_EQ(text(*value_at(board, path_of("a"), everyone)), R"({"b":1,"b2":4})");
  EXPECT_EQ(text(*value_at(board, path_of("a.b"), everyone)), "1");
  EXPECT_EQ(text(fields_map(board, path_of("a.b"), everyone)),
            R"({"a.b":{"confidence":"stated","kind":"register","value":1,"version":1}})");
}

TEST(Read, TheWriterWhoSawMoreIsShownAndTheOthersAreConflicts) {  // SEMANTICS 6
  const Board board = BoardBuilder()
                          .set("a", 3, {.base = 0})
                          .set("a", 4, {.actor = "seer", .base = 1})
                          .set("a", 5, {.base = 0})
                          .board();
  EXPECT_EQ(text(fields_map(board, std::nullopt, everyone)),
            R"({"a":{"confidence":"stated","conflicts":[3,5],"kind":"register","value":4,"version":2}})");
  const auto views = fields(board, std::nullopt, everyone);
  ASSERT_EQ(views.size(), 1U);
  EXPECT_EQ(views[0].actor, "seer");
}

TEST(Read, ASetIsOrderedByFirstAdditionAndHasAConfidencePerElement) {
  const Board board = BoardBuilder()
                          .add("countries", "美国", {.confidence = Confidence::verified})
                          .add("countries", "SG")
                          .add("countries", 1.0, {.confidence = Confidence::guess})
                          .add("countries", "美国", {.confidence = Confidence::guess, .actor = "late"})
                          .board();
  EXPECT_EQ(text(fields_map(board, std::nullopt, everyone)),
            R"({"countries":{"confidence":{"\"SG\"":"stated","\"美国\"":"verified","1":"guess"},"kind":"set",)"
            R"("value":["美国","SG",1.0]}})");
  const auto views = fields(board, std::nullopt, everyone);
  EXPECT_EQ(views[0].version, 4U);
  EXPECT_EQ(views[0].actor, "late");
  EXPECT_EQ(views[0].confidence, Confidence::verified);
}

TEST(Read, ElementsOfOneOpKeepTheirPlaces) {
  Board board;
  const Dot dot{{7, 1}, 6, Confidence::stated, "a", nullptr, 7000, std::nullopt};
  for (std::uint32_t place = 0; place < 3; ++place) {
    const Value element = std::string(1, static_cast<char>('z' - static_cast<char>(place)));
    board.put(element_key(path_of("s"), element), ElementCell{element, dot.mark, place, {dot}});
  }
  EXPECT_EQ(text(state(board, everyone)), R"({"s":["z","y","x"]})");
}

TEST(Read, CountersExtremaAndLogsShowKindAndValueOnly) {
  const Board board = BoardBuilder()
                          .counter("visits", 3)
                          .extremum("best", true, 105)
                          .extremum("least", false, 2.5)
                          .append("log", "a")
                          .append("log", "b")
                          .board();
  EXPECT_EQ(text(fields_map(board, std::nullopt, everyone)),
            R"({"best":{"kind":"max","value":105},"least":{"kind":"min","value":2.5},)"
            R"("log":{"kind":"log","value":["a","b"]},"visits":{"kind":"counter","value":3}})");
}

TEST(Read, AMapThatIsStoredWholeIsOneValue) {
  const Board board = BoardBuilder().set("profile", json(R"({"a":{"b":1}})")).board();
  EXPECT_EQ(text(state(board, everyone)), R"({"profile":{"a":{"b":1}}})");
  EXPECT_FALSE(value_at(board, path_of("profile.a"), everyone));
}

TEST(Read, WhatHasExpiredIsAbsent) {  // SEMANTICS 5.7
  const Board board = BoardBuilder()
                          .set("r", "kept", {.base = 0})
                          .set("r", "gone", {.base = 1, .expires = 1000})
                          .set("q", "gone", {.expires = 1000})
                          .add("s", "gone", {.expires = 999})
                          .add("s", "kept", {.expires = 1001})
                          .append("log", "gone", {.expires = 1000})
                          .board();
  EXPECT_EQ(text(state(board, everyone)), R"({"r":"kept","s":["kept"]})");
  EXPECT_FALSE(value_at(board, path_of("q"), everyone));
}

TEST(Read, APathWhoseLeafHasExpiredMayHoldAnotherKind) {
  const Board board = BoardBuilder().set("a", 1, {.expires = 10}).add("a", "new").board();
  EXPECT_EQ(text(state(board, everyone)), R"({"a":["new"]})");
}

TEST(Read, WhatTheReaderHasNoRightToIsLeftOut) {
  const Board board = BoardBuilder()
                          .set("budget.max", 1)
                          .set("secret.key", 2)
                          .hold("secret.key", SuggestionCell::Act::set, 3)
                          .hold("budget.max", SuggestionCell::Act::set, 4)
                          .board();
  Grant grant{*Pattern::for_boards("**"), *Pattern::for_paths("budget.**"), 1U << static_cast<unsigned>(Right::read)};
  const Rights rights({grant});
  const Reader reader{.now = 1000, .rights = &rights};
  EXPECT_EQ(text(state(board, reader)), R"({"budget":{"max":1}})");
  EXPECT_FALSE(value_at(board, path_of("secret"), reader));
  EXPECT_FALSE(suggestions_map(board, std::nullopt, reader, false).find("secret.key"));
  EXPECT_TRUE(suggestions_map(board, std::nullopt, reader, false).find("budget.max"));
  const Rights none({});
  EXPECT_EQ(text(state(board, {.now = 1000, .rights = &none})), "{}");
}

TEST(Read, SuggestionsAreListedByPathAndVersionAndOutliveTheirField) {
  auto source = std::make_shared<Source>(Source{.kind = "turn", .ref = "turn-5", .evidence = {"E-17"}, .trace = {}});
  const Board board =
      BoardBuilder()
          .hold("toefl", SuggestionCell::Act::set, "随便看看吧", {.confidence = Confidence::guess, .source = source})
          .hold("toefl", SuggestionCell::Act::unset, {}, {.actor = "cleaner"})
          .hold("a\\.b", SuggestionCell::Act::remove, List{"US"})
          .board();
  EXPECT_EQ(text(suggestions_map(board, std::nullopt, everyone, false)),
            R"({"a\\.b":[{"confidence":"stated","op":"remove","value":["US"],"version":3}],)"
            R"("toefl":[{"confidence":"guess","op":"set","value":"随便看看吧","version":1},)"
            R"({"confidence":"stated","op":"unset","value":null,"version":2}]})");
  const Value detailed = suggestions_map(board, path_of("toefl"), everyone, true);
  EXPECT_EQ(
      text((*detailed.find("toefl")->get_if<List>())[0]),
      R"({"actor":"planner","confidence":"guess","id":"1.0","op":"set",)"
      R"("source":{"evidence":["E-17"],"kind":"turn","ref":"turn-5"},"time":1000,"value":"随便看看吧","version":1})");
  EXPECT_EQ(text(state(board, everyone)), "{}");
}

TEST(Read, SuggestionsOfOneVersionAreOrderedByTheirOp) {
  Board board;
  for (const std::uint32_t op : {10U, 2U}) {
    const Dot dot{{300, op}, 1, Confidence::guess, "a", nullptr, 0, std::nullopt};
    board.put(suggestion_key(path_of("a"), dot.mark), SuggestionCell{SuggestionCell::Act::set, std::int64_t{op}, dot});
  }
  const auto views = suggestions(board, std::nullopt, everyone);
  ASSERT_EQ(views.size(), 2U);
  EXPECT_EQ(views[0].suggestion.dot.mark.op, 2U);
}

}  // namespace
}  // namespace tafel::blackboard
