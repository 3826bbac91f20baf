// Questions about the past: history, blame, diff, touched, reads at a version or a time, and what nobody may see.
#include <algorithm>

#include "broker/queries.hpp"
#include "common/base/limits.hpp"
#include "tests/broker/service_fixture.hpp"

namespace tafel::broker::test {
namespace {

class HistoryQueriesTest : public ::testing::Test {
 protected:
  Answer ask(const std::string& members, const std::string& actor = "analyst") {
    Value body = from_json("{" + members + "}");
    body.set("board", board_id);
    const auto question = question_from_value(body);
    if (!question) return tl::unexpected(question.error());
    return answer_from_store(*fixture.store, *question, {actor, fixture.roles, fixture.now});
  }
  Value answer(const std::string& members, const std::string& actor = "analyst") {
    const auto answer = ask(members, actor);
    EXPECT_TRUE(answer) << members << ": " << (answer ? "" : answer.error().message);
    return answer ? *codec::decode(*answer, codec::answer_limits) : Value();
  }
  std::string json(const std::string& members, const std::string& actor = "analyst") {
    return codec::to_json(answer(members, actor));
  }
  std::string error(const std::string& members, const std::string& actor = "analyst") {
    const auto answer = ask(members, actor);
    EXPECT_FALSE(answer) << members;
    return answer ? "" : std::string(name_of(answer.error().code));
  }
  void write(const std::string& delta, const std::string& actor = "analyst") {
    fixture.commit(board_id, {delta}, actor);
  }

  // "7 bot set applied 1": of each revision.
  std::vector<std::string> revisions(const std::string& members, const std::string& actor = "analyst") {
    std::vector<std::string> lines;
    for (const Value& revision : list_at(answer("\"what\":\"history\"," + members, actor), "revisions")) {
      std::string line = codec::to_json(at(revision, "version")) + " " + text_of(at(revision, "actor")) + " " +
                         text_of(at(revision, "path")) + " " + text_of(at(revision, "op")) + " " +
                         text_of(at(revision, "outcome"));
      for (const char* member : {"value", "gone", "kind"}) {
        if (const Value* found = revision.find(member)) line += " " + codec::to_json(*found);
      }
      for (const char* list : {"added", "removed", "held", "dropped"}) {
        const Value* found = revision.find(list);
        if (found == nullptr) continue;
        line += std::string(" ") + list;
        for (const Value& item : *found->get_if<List>()) line += " " + codec::to_json(at(item, "value"));
      }
      lines.push_back(line);
    }
    return lines;
  }

  std::string board_id = "acme/旅行/42";
  ServiceFixture fixture;
};

using Lines = std::vector<std::string>;

TEST_F(HistoryQueriesTest, HistoryTellsEveryRevisionNewestFirst) {
  write(R"({"id": "d1", "source": {"ref": "turn-1"}, "set": {"城市": "上海"}})", "ann");
  write(R"({"set": {"other": 1}})");
  write(R"({"confidence": "verified", "set": {"城市": "北京"}})", "bot");
  write(R"({"confidence": "guess", "set": {"城市": "随便"}})", "model");
  write(R"({"confidence": "verified", "unset": ["城市"]})", "ann");
  EXPECT_EQ(revisions(R"("path": "城市")"),
            (Lines{R"(5 ann 城市 unset applied true dropped "随便")", R"(4 model 城市 set held held "随便")",
                   R"(3 bot 城市 set applied "北京" "register")", R"(1 ann 城市 set applied "上海" "register")"}));
  const Value first = list_at(answer(R"("what": "history", "path": "城市")"), "revisions").back();
  EXPECT_EQ(text_of(at(first, "id")), "d1");
  EXPECT_EQ(text_of(at(at(first, "source"), "ref")), "turn-1");
  EXPECT_EQ(text_of(at(first, "confidence")), "stated");
  EXPECT_TRUE(at(first, "time").as_int64());
}

TEST_F(HistoryQueriesTest, HistoryOfASubtreeAndOfEveryKind) {
  write(R"({"patch": {"r.s": {"add": ["a", "b"]}}, "incr": {"r.n": 2}})");
  write(R"({"patch": {"r.s": {"remove": ["a"], "add": ["c"]}}, "append": {"r.log": "x"}})");
  write(R"({"ops": [{"op": "revert", "path": "r", "to": 1}]})", "lead");
  EXPECT_EQ(revisions(R"("path": "r")"),
            (Lines{R"(3 lead r.log revert applied "log" removed "x")",
                   R"(3 lead r.s revert applied "set" added "a" removed "c")",
                   R"(2 analyst r.log append applied "log" added "x")",
                   R"(2 analyst r.s patch applied "set" added "c" removed "a")",
                   R"(1 analyst r.n incr applied 2 "counter")", R"(1 analyst r.s patch applied "set" added "a" "b")"}));
}

TEST_F(HistoryQueriesTest, HistoryComesInPages) {
  for (int i = 1; i <= 7; ++i) write(R"({"set": {"a": )" + std::to_string(i) + "}}");
  const Value page = answer(R"("what": "history", "path": "a", "count": 3)");
  EXPECT_EQ(list_at(page, "revisions").size(), 3U);
  EXPECT_EQ(at(page, "next"), Value(5));
  EXPECT_EQ(revisions(R"("path": "a", "count": 3, "before": 5)").front(), R"(4 analyst a set applied 4 "register")");
  EXPECT_EQ(at(answer(R"("what": "history", "path": "a", "before": 1)"), "next"), Value());
  EXPECT_TRUE(revisions(R"("path": "nothing")").empty());
  EXPECT_EQ(error(R"("what": "history")"), "bad_request");
  EXPECT_EQ(error(R"("what": "history", "path": "a", "count": 257)"), "bad_request");
}

TEST_F(HistoryQueriesTest, BlameNamesWhoWroteWhatIsThere) {
  write(R"({"source": {"kind": "turn", "ref": "turn-5", "evidence": ["E-17"]}, "set": {"a": 1},
            "patch": {"s": {"add": ["x"]}}, "append": {"log": "一"}})",
        "ann");
  write(R"({"base": 0, "set": {"a": 2}, "patch": {"s": {"add": ["y"]}}})", "bot");
  const Value fields = at(answer(R"("what": "blame")"), "fields");
  const Value a = at(fields, "a");
  EXPECT_EQ(text_of(at(a, "actor")), "bot");
  EXPECT_EQ(text_of(at(list_at(a, "conflicts").at(0), "actor")), "ann");
  EXPECT_EQ(codec::to_json(at(list_at(a, "conflicts").at(0), "source")),
            R"({"evidence":["E-17"],"kind":"turn","ref":"turn-5"})");
  const List elements = list_at(at(fields, "s"), "elements");
  EXPECT_EQ(text_of(at(elements.at(0), "actor")), "ann");
  EXPECT_EQ(text_of(at(elements.at(1), "actor")), "bot");
  EXPECT_EQ(text_of(at(list_at(at(fields, "log"), "entries").at(0), "id")), "1.2");
  EXPECT_EQ(text_of(at(at(at(answer(R"("what": "blame", "path": "a", "at": 1)"), "fields"), "a"), "actor")), "ann");
}

TEST_F(HistoryQueriesTest, DiffShowsEachFieldBeforeAndAfter) {
  write(R"({"set": {"gone": 1, "moved": 1}, "patch": {"s": {"add": ["a", "b"]}}, "append": {"log": "x"}})");
  write(R"({"set": {"moved": 2, "new": true}, "patch": {"s": {"add": ["c"], "remove": ["a"]}}, "unset": ["gone"]})");
  write(R"({"confidence": "guess", "set": {"moved": 3}})");
  const Value page = answer(R"("what": "diff", "from": 1, "to": 3)");
  EXPECT_EQ(at(page, "next"), Value());
  std::map<std::string, Value> fields;
  for (const Value& field : list_at(page, "fields")) fields[text_of(at(field, "path"))] = field;
  ASSERT_EQ(fields.size(), 4U);
  EXPECT_EQ(at(at(fields["gone"], "before"), "value"), Value(1));
  EXPECT_EQ(at(fields["gone"], "after"), Value());
  EXPECT_EQ(at(fields["new"], "before"), Value());
  EXPECT_EQ(at(at(fields["moved"], "after"), "value"), Value(2));
  EXPECT_EQ(at(list_at(at(fields["moved"], "suggestions"), "added").at(0), "value"), Value(3));
  EXPECT_EQ(at(list_at(at(fields["s"], "elements"), "added").at(0), "value"), Value("c"));
  EXPECT_EQ(at(list_at(at(fields["s"], "elements"), "removed").at(0), "value"), Value("a"));
  const Value back = answer(R"("what": "diff", "from": 3, "to": 1, "path": "new")");
  ASSERT_EQ(list_at(back, "fields").size(), 1U);
  EXPECT_EQ(at(list_at(back, "fields").at(0), "after"), Value());
  EXPECT_TRUE(list_at(answer(R"("what": "diff", "from": 2, "to": 2)"), "fields").empty());
  EXPECT_EQ(error(R"("what": "diff", "from": 4)"), "future_base");
  EXPECT_EQ(error(R"("what": "diff")"), "bad_request");
  EXPECT_EQ(error(R"("what": "diff", "from": 1, "cursor": "nonsense")"), "bad_request");
}

// What the leaf cells, elements and entries of a board show, by path and id.
std::map<std::string, Value> shown(const blackboard::Board& board) {
  std::map<std::string, Value> values;
  for (const auto& [key, cell] : board.cells()) {
    const std::string name = key.path.text() + "/" + std::to_string(static_cast<int>(key.part)) + "/";
    if (const auto* reg = std::get_if<RegisterCell>(&cell)) values[name] = shown_sibling(*reg).value;
    if (const auto* counter = std::get_if<CounterCell>(&cell)) values[name] = counter->total;
    if (const auto* extremum = std::get_if<ExtremumCell>(&cell)) values[name] = extremum->value;
    if (const auto* element = std::get_if<ElementCell>(&cell)) values[name + key.id] = element->value;
    if (const auto* entry = std::get_if<EntryCell>(&cell)) values[name + mark_text(entry->dot.mark)] = entry->value;
  }
  return values;
}

void apply(std::map<std::string, Value>& values, const Value& field) {
  const std::string path = text_of(at(field, "path"));
  if (const Value* after = field.find("after")) {
    values.erase(path + "/0/");
    if (!after->is_nil()) values[path + "/0/"] = at(*after, "value");
  }
  const auto parts = [&](const char* member, const std::string& name, const auto& id_of) {
    const Value* found = field.find(member);
    if (found == nullptr) return;
    if (const Value* gone = found->find("removed")) {
      for (const Value& item : *gone->get_if<List>()) EXPECT_EQ(values.erase(name + id_of(item)), 1U);
    }
    if (const Value* added = found->find("added")) {
      for (const Value& item : *added->get_if<List>()) values[name + id_of(item)] = at(item, "value");
    }
  };
  parts("elements", path + "/1/", [](const Value& item) { return element_id(at(item, "value")); });
  parts("entries", path + "/2/", [](const Value& item) { return text_of(at(item, "id")); });
}

// The difference, applied to one version, gives the other: read from few events, and by comparing fields where there
// are too many, in pages of either.
TEST_F(HistoryQueriesTest, ADifferenceAppliedToOneVersionGivesTheOther) {
  const std::string text(600, 'z');
  std::uint32_t dice = 7;
  const auto roll = [&](std::uint32_t sides) { return (dice = dice * 1664525U + 1013904223U) / 7919U % sides; };
  const Version last = limits::diff_walk_events_max + 150;
  while (fixture.head(board_id).version < last) {
    const std::string n = std::to_string(roll(40));
    switch (roll(6)) {
      case 0: write(R"({"set": {"r)" + n + R"(": ")" + text + std::to_string(roll(9)) + R"("}})"); break;
      case 1:
        write(R"({"patch": {"s)" + n + R"(": {"add": [")" + text + std::to_string(roll(9)) + R"(", 1]}}})");
        break;
      case 2: write(R"({"patch": {"s)" + n + R"(": {"remove": [1]}}})"); break;
      case 3: write(R"({"append": {"l)" + n + R"(": ")" + text + R"("}})"); break;
      case 4: write(R"({"unset": [")" + std::string(roll(2) == 0 ? "r" : "l") + n + R"("]})"); break;
      default: write(R"({"incr": {"n)" + n + R"(": 1}})");
    }
  }
  const auto load = [&](Version version) {
    return *(*fixture.store->snapshot())->load(board_id, std::nullopt, version, SIZE_MAX);
  };
  std::size_t pages_most = 0;
  for (const auto& [from, to] : {std::pair<Version, Version>{0, last},
                                 {last, 0},
                                 {1, last - 1},
                                 {last - 200, last},
                                 {last, last - 200},
                                 {17, 18},
                                 {100, 300}}) {
    std::map<std::string, Value> values = shown(load(from));
    Value question(Map{{"what", "diff"}, {"from", from}, {"to", to}});
    std::size_t pages = 0;
    for (Value next = true; !next.is_nil(); ++pages) {
      const Value page = answer(codec::to_json(question).substr(1, codec::to_json(question).size() - 2));
      for (const Value& field : list_at(page, "fields")) apply(values, field);
      next = at(page, "next");
      question.set("cursor", next);
    }
    pages_most = std::max(pages_most, pages);
    const auto wanted = shown(load(to));
    EXPECT_TRUE(values == wanted) << from << " to " << to;
  }
  EXPECT_GE(pages_most, 1U);
}

TEST_F(HistoryQueriesTest, ATimeMeansTheNewestVersionAtOrBeforeIt) {
  fixture.now = 1'000'000;
  write(R"({"set": {"a": 1}})");  // at 1,000,010
  write(R"({"set": {"a": 2}})");  // at 1,000,020
  write(R"({"set": {"a": 3}})");  // at 1,000,030
  const auto value_at = [&](int time) {
    return codec::to_json(at(answer(R"("what": "get", "path": "a", "at_time": )" + std::to_string(time)), "value"));
  };
  EXPECT_EQ(value_at(0), "null");
  EXPECT_EQ(value_at(1'000'009), "null");
  EXPECT_EQ(value_at(1'000'010), "1");
  EXPECT_EQ(value_at(1'000'029), "2");
  EXPECT_EQ(value_at(1'000'030), "3");
  EXPECT_EQ(value_at(2'000'000), "3");
  EXPECT_EQ(at(answer(R"("what": "full", "at_time": 1000025)"), "version"), Value(2));
  EXPECT_EQ(text_of(at(at(at(answer(R"("what": "blame", "at_time": 1000025)"), "fields"), "a"), "actor")), "analyst");
  const Value page = answer(R"("what": "diff", "from_time": 1000010, "to_time": 1000020)");
  EXPECT_EQ(codec::to_json(at(page, "from")) + codec::to_json(at(page, "to")), "12");
  EXPECT_EQ(error(R"("what": "get", "at": 1, "at_time": 5)"), "bad_request");
  EXPECT_EQ(error(R"("what": "get", "at_time": "now")"), "bad_request");
}

TEST_F(HistoryQueriesTest, WhatHadExpiredByThenIsAbsent) {
  fixture.now = 1'000'000;
  write(R"({"ops": [{"op": "set", "path": "a", "value": 1, "ttl_ms": 100}]})");
  write(R"({"set": {"b": 1}})");
  fixture.now = 2'000'000;
  write(R"({"set": {"b": 2}})");
  EXPECT_EQ(json(R"("what": "get", "at_time": 1000100)"),
            R"({"found":true,"head":3,"value":{"a":1,"b":1},"version":2})");
  EXPECT_EQ(json(R"("what": "get", "at_time": 1000110)"), R"({"found":true,"head":3,"value":{"b":1},"version":2})");
}

TEST_F(HistoryQueriesTest, TouchedNamesWhereAnActorWrote) {
  write(R"({"set": {"r.a": 1}})", "bot");
  write(R"({"set": {"r.b": 1}})", "ann");
  write(R"({"set": {"r.b": 2, "c": 1}})", "bot");
  EXPECT_EQ(json(R"("what": "touched", "actor": "bot", "from": 0)"),
            R"({"next":null,"paths":["c","r.a","r.b"],"version":3})");
  EXPECT_EQ(json(R"("what": "touched", "actor": "bot", "from": 1, "path": "r")"),
            R"({"next":null,"paths":["r.b"],"version":3})");
  EXPECT_EQ(error(R"("what": "touched")"), "bad_request");
}

TEST_F(HistoryQueriesTest, SuggestionsAreListedWithWhatADecisionNeeds) {
  write(R"({"confidence": "verified", "set": {"雅思": 7.5, "b": 1}})");
  write(R"({"confidence": "guess", "source": {"ref": "turn-9"}, "set": {"雅思": 8, "b": 2}})", "model");
  const Value all = at(answer(R"("what": "suggestions")"), "suggestions");
  EXPECT_EQ(all.get_if<Map>()->size(), 2U);
  const Value one = list_at(at(answer(R"("what": "suggestions", "path": "雅思")"), "suggestions"), "雅思").at(0);
  EXPECT_EQ(text_of(at(one, "id")), "2.1");
  EXPECT_EQ(text_of(at(one, "actor")), "model");
  EXPECT_EQ(text_of(at(at(one, "source"), "ref")), "turn-9");
}

TEST_F(HistoryQueriesTest, AForkRemembersWhatItInherited) {
  write(R"({"patch": {"s": {"add": ["x", "y"]}}, "set": {"a": 1}})", "ann");
  write(R"({"patch": {"s": {"remove": ["x"]}}})", "ann");
  const std::string origin = board_id;
  board_id = "acme/旅行/43";
  write(R"({"ops": [{"op": "fork", "value": {"parent": ")" + origin + R"("}}]})", "bot");
  write(R"({"patch": {"s": {"add": ["z"]}}})", "bot");
  EXPECT_EQ(revisions(R"("path": "s")"),
            (Lines{R"(4 bot s patch applied "set" added "z")", R"(2 ann s patch applied "set" removed "x")",
                   R"(1 ann s patch applied "set" added "x" "y")"}));
  const List fields = list_at(answer(R"("what": "diff", "from": 1)"), "fields");
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_EQ(at(list_at(at(fields[0], "elements"), "removed").at(0), "value"), Value("x"));
  EXPECT_EQ(at(list_at(at(fields[0], "elements"), "added").at(0), "value"), Value("z"));
  EXPECT_EQ(text_of(at(list_at(at(at(answer(R"("what": "blame")"), "fields"), "s"), "elements").at(0), "actor")),
            "ann");
  write(R"({"ops": [{"op": "revert", "path": "s", "to": 3}]})");
  EXPECT_EQ(json(R"("what": "get", "path": "s")"), R"({"found":true,"head":5,"value":["y"],"version":5})");
}

TEST_F(HistoryQueriesTest, AnErasureIsTheLastThatHistoryTells) {
  write(R"({"set": {"生日": "2001-02-03"}})");
  write(R"({"set": {"生日": "2001-02-04"}})");
  write(R"({"ops": [{"op": "erase", "path": "生日"}]})", "lead");
  EXPECT_EQ(revisions(R"("path": "生日", "count": 1)"), (Lines{"3 lead 生日 erase applied true"}));
  EXPECT_EQ(json(R"("what": "diff", "from": 1)").find("2001"), std::string::npos);
}

TEST_F(HistoryQueriesTest, WhatMayNotBeReadIsLeftOutOfThePastToo) {
  write(R"({"set": {"open.a": 1, "secret.a": 1}})", "bot");
  write(R"({"set": {"open.a": 2, "secret.a": 2}})", "bot");
  write(R"({"confidence": "guess", "set": {"secret.a": 3}})", "bot");
  fixture.give_role("guest", "**", {"open.**"});
  EXPECT_EQ(json(R"("what": "touched", "actor": "bot", "from": 0)", "guest"),
            R"({"next":null,"paths":["open.a"],"version":3})");
  for (const std::string question :
       {R"("what": "blame")", R"("what": "diff", "from": 0)", R"("what": "suggestions")",
        R"("what": "history", "path": "secret")", R"("what": "history", "path": "secret.a")"}) {
    EXPECT_EQ(json(question, "guest").find("secret"), std::string::npos) << question;
  }
  EXPECT_EQ(list_at(answer(R"("what": "diff", "from": 0)", "guest"), "fields").size(), 1U);
  EXPECT_EQ(error(R"("what": "blame")", "stranger"), "forbidden");
}

}  // namespace
}  // namespace tafel::broker::test
