// Completeness kept from event to event is that of the board, whatever happens to it (SEMANTICS 12).
#include "blackboard/completeness.hpp"

#include "common/codec/schema_codec.hpp"
#include "tests/conflict/board_fixture.hpp"

namespace tafel {
namespace {

using testing::BoardFixture;
using testing::says;

class KeptCompleteness : public BoardFixture {
 protected:
  KeptCompleteness() {
    apply(R"({"ops":[{"op":"schema","path":"$schema.board","value":{"fields":[
        {"path":"a","required":true,"weight":0.3,"label":"甲"},{"path":"s","kind":"set","required":true,"weight":0.3},
        {"path":"n","kind":"counter","required":true},{"path":"log","kind":"log","required":true,"keep":2},
        {"path":"in","required":true},{"path":"b","required":true,"allow_blank":true}]}}]})");
  }
  // Of the board as it is stored.
  Completeness whole() const {
    const auto answer = load();
    const auto cell = *answer.find(leaf_key(*Path::parse("$schema.board")));
    const auto document = codec::schema_from_value(shown_sibling(std::get<RegisterCell>(cell)).value);
    Schema schema;
    schema.add(*document);
    return blackboard::completeness(answer, blackboard::required_fields(schema), {now_, nullptr});
  }
};

TEST_F(KeptCompleteness, Section12_EveryEventAndReceiptTellsThatOfTheBoard) {
  const std::vector<std::string> ops{R"({"op":"set","path":"a","value":"x"})",
                                     R"({"op":"set","path":"a","value":"y","ttl_ms":30})",
                                     R"({"op":"unset","path":"a"})",
                                     R"({"op":"patch","path":"s","add":["x","y"]})",
                                     R"({"op":"patch","path":"s","remove":["x","y"]})",
                                     R"({"op":"patch","path":"s","add":["z"],"ttl_ms":20})",
                                     R"({"op":"incr","path":"n"})",
                                     R"({"op":"unset","path":"n"})",
                                     R"({"op":"append","path":"log","value":1,"ttl_ms":50})",
                                     R"({"op":"set","path":"in.x.y","value":1})",
                                     R"({"op":"unset","path":"in"})",
                                     R"({"op":"erase","path":"a"})",
                                     R"({"op":"erase","path":"in.x"})",
                                     R"({"op":"erase","path":"s"})",
                                     R"({"op":"set","path":"b","value":""})",
                                     R"({"op":"set","path":"b","value":"v","confidence":"verified"})",
                                     R"({"op":"set","path":"other","value":1,"assert":true})"};
  SeededRandom dice(5);
  std::size_t told = 0;
  for (int i = 0; i < 400; ++i) {
    now_ += 7;
    if (i % 50 == 49) open();  // after a restart it is looked up anew
    const auto& op = ops[static_cast<std::uint8_t>(dice.bytes(1)[0]) % ops.size()];
    const auto receipt = apply(R"({"ops":[)" + op + "]}");
    ASSERT_FALSE(receipt.error) << op << receipt.error->message;
    ASSERT_EQ(receipt.completeness, whole()) << op << " " << state();
    if (receipt.version != events_.back()->version) continue;
    ASSERT_TRUE(events_.back()->completeness);
    ++told;
  }
  EXPECT_GT(told, 300U);
}

TEST_F(KeptCompleteness, ADryRunTellsWhatItWouldBeAndARepeatWhatItWas) {
  const auto dry = apply(R"({"check":true,"set":{"a":"x"}})");
  EXPECT_EQ(dry.completeness->missing.size(), 5U);
  EXPECT_EQ(whole().missing.size(), 6U);
  apply(R"({"id":"d","set":{"a":"x"}})");
  apply(R"({"incr":{"n":1}})");
  const auto again = apply(R"({"id":"d","set":{"a":"x"}})");
  ASSERT_TRUE(again.duplicate);
  EXPECT_EQ(again.completeness->missing.size(), 5U);
}

TEST_F(KeptCompleteness, ABoardThatRequiresNothingTellsNothing) {
  EXPECT_EQ(says(apply(R"({"ops":[{"op":"schema","path":"$schema.board","value":null}]})")), "applied");
  EXPECT_FALSE(apply(R"({"set":{"a":1}})").completeness);
  EXPECT_FALSE(events_.back()->completeness);
}

}  // namespace
}  // namespace tafel
