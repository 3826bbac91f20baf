// Receipts, cells and events as bytes.
#include "common/codec/event_codec.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "common/base/text.hpp"
#include "common/codec/cell_codec.hpp"
#include "common/codec/event_pieces.hpp"
#include "common/codec/event_view.hpp"
#include "common/codec/json.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/receipt_codec.hpp"
#include "tests/common/cells.hpp"
#include "tests/common/support.hpp"

namespace tafel::codec {
namespace {

using test::json;
using test::sample_changes;
using test::sample_event;

std::string cell_bytes(const Cell& cell) {
  std::string bytes;
  PackWriter out(bytes);
  ExactSink values;
  write_cell(out, cell, values);
  return bytes;
}

std::string key_bytes(const CellKey& key) {
  std::string bytes;
  PackWriter out(bytes);
  write_cell_key(out, key);
  return bytes;
}

TEST(CellCodec, ReadsWhatTheModelWrites) {
  for (const Change& change : sample_changes()) {
    EXPECT_EQ(*cell_key_from_value(*decode(key_bytes(change.key))), change.key);
    if (!change.image) continue;
    const auto cell = cell_from_value(*decode(cell_bytes(*change.image)));
    ASSERT_TRUE(cell) << cell.error().message;
    EXPECT_EQ(cell_bytes(*cell), cell_bytes(*change.image));
    EXPECT_EQ(digest_of(change.key, *cell), digest_of(change.key, *change.image));
  }
}

// Every value that differs from `value` in one place: an item less, one more, or of another type.
void for_each_mutation(const Value& value, const std::function<void(const Value&)>& visit) {
  visit(Value(Nil{}));
  visit(Value("text"));
  visit(Value(-1));
  visit(Value(std::uint64_t{UINT64_MAX}));
  visit(Value(0.5));
  const auto* list = value.get_if<List>();
  if (list == nullptr) return;
  List longer = *list;
  longer.push_back(Nil{});
  visit(longer);
  for (std::size_t i = 0; i < list->size(); ++i) {
    List shorter = *list;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
    visit(shorter);
    for_each_mutation((*list)[i], [&](const Value& item) {
      List changed = *list;
      changed[i] = item;
      visit(changed);
    });
  }
}

TEST(CellCodec, TheKeyOfTheBoardIsAtOnePlaceOnly) {
  const auto read = cell_key_from_value(*decode(key_bytes(board_key())));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, board_key());
  for (const char* wrong : {R"(["a", 5, {"$bytes": ""}])", R"(["$board", 5, {"$bytes": "AA=="}])",
                            R"(["$board", 6, {"$bytes": ""}])", R"(["$board.a", 5, {"$bytes": ""}])"}) {
    EXPECT_FALSE(cell_key_from_value(json(wrong))) << wrong;
  }
}

TEST(CellCodec, RefusesOrReadsEveryMutationWithoutHarm) {
  std::size_t refused = 0;
  for (const Change& change : sample_changes()) {
    for_each_mutation(*decode(key_bytes(change.key)),
                      [&](const Value& value) { refused += cell_key_from_value(value) ? 0U : 1U; });
    if (!change.image) continue;
    for_each_mutation(*decode(cell_bytes(*change.image)), [&](const Value& value) {
      const auto cell = cell_from_value(value);
      if (cell) {
        EXPECT_TRUE(cell_from_value(*decode(cell_bytes(*cell))));
      }
      refused += cell ? 0U : 1U;
    });
  }
  EXPECT_GT(refused, 500U);
}

TEST(CellCodec, RefusesCellsThatBreakTheirRules) {
  const std::string dot = R"([1, 0, 0, 2, "a", 5, null, null, 7])";
  const std::string later = R"([2, 0, 0, 1, "a", 5, null, null, 7])";
  EXPECT_TRUE(cell_from_value(json("[0, [[1, " + dot + "], [2, " + later + "]]]")));
  EXPECT_FALSE(cell_from_value(json("[0, []]")));
  EXPECT_FALSE(cell_from_value(json("[0, [[1, " + later + "], [2, " + dot + "]]]")));
  EXPECT_FALSE(cell_from_value(json("[2, true, \"text\", " + dot + "]")));
  EXPECT_FALSE(cell_from_value(json("[3, 1, [1, 0, 0], []]")));
  EXPECT_TRUE(cell_from_value(json("[3, 1, [1, 0, 0], [" + dot + ", " + later + "]]")));
  EXPECT_FALSE(cell_from_value(json("[3, 1, [1, 0, 0], [" + dot + ", " + dot + "]]")));
  EXPECT_FALSE(cell_from_value(json("[5, 1, \"US\", " + dot + "]")));
  EXPECT_FALSE(cell_from_value(json(R"([4, 1, [1, 0, 0, 5, "a", 5, null, null]])")));
  EXPECT_FALSE(cell_from_value(json(R"([4, 1, [1, 4294967296, 0, 2, "a", 5, null, null]])")));
  EXPECT_FALSE(cell_from_value(json("[6, 1]")));
  EXPECT_FALSE(cell_key_from_value(json(R"(["a..b", 0, {"$bytes": ""}])")));
  EXPECT_FALSE(cell_key_from_value(json(R"(["a", 0, {"$bytes": "AA=="}])")));
  EXPECT_FALSE(cell_key_from_value(json(R"(["a", 2, {"$bytes": "AA=="}])")));
  EXPECT_FALSE(cell_key_from_value(json(R"(["a", 4, {"$bytes": "AA=="}])")));
  EXPECT_TRUE(cell_key_from_value(json(R"(["a", 4, {"$bytes": ""}])")));
  EXPECT_FALSE(cell_key_from_value(json(R"(["a", 5, {"$bytes": ""}])")));
}

TEST(SourceCodec, GoesBothWaysAsAMapAndAsAList) {
  const Source source{"turn", "turn-5", {"E-17", "E-18"}, "t"};
  EXPECT_EQ(source_from_map(source_to_map(source)), source);
  EXPECT_EQ(source_from_map(source_to_map(Source{})), Source{});
  EXPECT_EQ(to_json(source_to_map({"turn", "", {}, ""})), R"({"kind":"turn"})");
  EXPECT_FALSE(source_from_map(json(R"({"evidence": [5]})")));
  EXPECT_FALSE(source_from_map(json("[]")));
  EXPECT_EQ(source_from_map(json(R"({"kind": null})")), Source{});
}

TEST(ReceiptCodec, ReadsBackWhatItWrote) {
  const Value value = receipt_to_value(test::sample_receipt());
  const auto receipt = receipt_from_value(*parse_json(to_json(value)));
  ASSERT_TRUE(receipt) << receipt.error().message;
  EXPECT_TRUE(test::identical(receipt_to_value(*receipt), value));
  EXPECT_EQ(receipt->ops[0].current->actor, "critic");
  EXPECT_EQ(receipt->ops[4].leaves.size(), 2U);
  EXPECT_TRUE(receipt->ops[8].error->expected->is_nil());
}

TEST(ReceiptCodec, AlwaysHasItsSevenMembers) {
  EXPECT_EQ(to_json(receipt_to_value({})),
            R"({"board":"","duplicate":false,"epoch":"","error":null,"id":"","ops":[],"version":0})");
}

TEST(ReceiptCodec, WritesTheBytesOfItsMap) {
  Receipt receipt = test::sample_receipt();
  EXPECT_EQ(encode_receipt(receipt), encode(receipt_to_value(receipt)));
  for (const OpResult& result : receipt.ops) {
    std::string bytes;
    PackWriter out(bytes);
    write_op_result(out, result);
    EXPECT_EQ(bytes, encode(op_result_to_value(result)));
  }
  receipt.ops.clear();
  receipt.error = test::error(ErrorCode::stale, "再读一遍");
  receipt.completeness = Completeness{0.75, {{*Path::parse("国家"), "意向国家"}}};
  EXPECT_EQ(encode_receipt(receipt), encode(receipt_to_value(receipt)));
}

TEST(ReceiptCodec, KeepsAnError) {
  ErrorInfo error = test::error(ErrorCode::stale, "read again");
  error.op = 2;
  error.path = "a.b";
  error.found = json(R"({"version": 3, "value": 1.0})");
  error.guards = json(R"({"a.b": {"version": 3, "value": null}})");
  error.retryable = true;
  const Value value = error_to_value(error);
  EXPECT_EQ(to_json(value),
            R"({"code":"stale","found":{"value":1.0,"version":3},"guards":{"a.b":{"value":null,"version":3}},)"
            R"("message":"read again","op":2,"path":"a.b","retryable":true})");
  EXPECT_TRUE(test::identical(error_to_value(*error_from_value(value)), value));
  EXPECT_EQ(to_json(error_to_value(test::error(ErrorCode::busy, "later"))),
            R"({"code":"busy","message":"later","op":null,"path":null,"retryable":false})");
}

TEST(ReceiptCodec, RefusesUnknownNamesAndIgnoresUnknownMembers) {
  EXPECT_FALSE(op_result_from_value(json(R"({"outcome": "fine"})")));
  EXPECT_FALSE(op_result_from_value(json(R"({"outcome": "unchanged", "reason": "because"})")));
  EXPECT_FALSE(error_from_value(json(R"({"code": "oops", "message": ""})")));
  EXPECT_TRUE(op_result_from_value(json(R"({"outcome": "applied", "of_a_newer_server": 1})")));
}

TEST(EventCodec, ReadsBackWhatItWrote) {
  Event event = sample_event();
  event.hash = chain_hash(event);
  const std::string record = encode_event(event);
  const auto read = decode_event(record);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(encode_event(*read), record);
  EXPECT_EQ(chain_hash(*read), event.hash);
  EXPECT_EQ(read->ops[8].malformed->message, "\"path\" is wrong");
  EXPECT_TRUE(read->ops[8].malformed->is_path);
  EXPECT_EQ(read->ops[5].from, R"(old\.place.~x/y)");
  EXPECT_EQ(read->changes.size(), event.changes.size());
  EXPECT_EQ(read->changes[0].previous, 4U);
  EXPECT_EQ(read->source, event.source);
  EXPECT_FALSE(read->atomic);
}

std::string sample_record() {
  Event event = sample_event();
  event.hash = chain_hash(event);
  return encode_event(event);
}

TEST(EventCodec, RefusesARecordThatIsCutShort) {
  const std::string record = sample_record();
  for (std::size_t size = 0; size < record.size(); size += 7)
    EXPECT_FALSE(decode_event(record.substr(0, size))) << size;
  EXPECT_FALSE(decode_event(record.substr(0, record.size() - 1)));
}

TEST(EventCodec, LetsNoFlippedBitGoUnnoticed) {
  const std::string record = sample_record();
  const Sha256 hash = decode_event(record)->hash;
  for (std::size_t bit = 0; bit < record.size() * 8; bit += 37) {
    std::string flipped = record;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto read = decode_event(flipped);
    if (read) {
      EXPECT_TRUE(read->hash != hash || chain_hash(*read) != hash || encode_event(*read) == record) << bit;
    }
  }
}

TEST(ChainHash, DiffersInEveryPartOfTheEvent) {
  const Event event = sample_event();
  const std::map<std::string, void (*)(Event&)> changes{
      {"board", [](Event& e) { e.board = "acme/trips/43"; }},
      {"version", [](Event& e) { ++e.version; }},
      {"time", [](Event& e) { ++e.time; }},
      {"actor", [](Event& e) { e.actor = "critic"; }},
      {"delta id", [](Event& e) { e.delta_id = "other"; }},
      {"base", [](Event& e) { --e.base; }},
      {"atomic", [](Event& e) { e.atomic = true; }},
      {"source", [](Event& e) { e.source.ref = "turn-6"; }},
      {"payload hash", [](Event& e) { e.payload_hash[0] ^= 1; }},
      {"op value", [](Event& e) { e.ops[0].value = 15001; }},
      {"op path", [](Event& e) { e.ops[0].path = "budget.min"; }},
      {"added item", [](Event& e) { e.ops[1].add[0] = "FR"; }},
      {"outcome", [](Event& e) { e.results[2].outcome = Outcome::unchanged; }},
      {"current value", [](Event& e) { e.results[0].current->value = 1; }},
      {"error found", [](Event& e) { e.results[8].error->found = 2; }},
      {"error message", [](Event& e) { e.results[8].error->message = "fine"; }},
      {"cell value", [](Event& e) { std::get<CounterCell>(*e.changes[1].change.image).total = 7; }},
      {"sibling value", [](Event& e) { std::get<RegisterCell>(*e.changes[0].change.image).siblings[0].value = 1; }},
      {"element id", [](Event& e) { e.changes[4].change.key.id = element_id("UK"); }},
      {"cell gone", [](Event& e) { e.changes[0].change.image.reset(); }},
      {"previous", [](Event& e) { ++e.changes[0].previous; }},
      {"jump", [](Event& e) { ++e.changes[0].jump; }},
      {"salt", [](Event& e) { e.salt[0] ^= 1; }},
      {"touched field", [](Event& e) { ++e.fields[0].info.parts; }},
      {"way back of a field", [](Event& e) { ++e.fields[0].jump; }},
      {"score", [](Event& e) { e.completeness->score = 0.5; }},
      {"missing field", [](Event& e) { e.completeness->missing.pop_back(); }},
      {"previous hash", [](Event& e) { e.previous_hash[0] ^= 1; }},
      {"digest",
       [](Event& e) {
         e.digest += Sum128{0, 1};
       }},
  };
  std::map<Sha256, std::string> seen{{chain_hash(event), "unchanged"}};
  for (const auto& [what, change] : changes) {
    Event changed = event;
    change(changed);
    EXPECT_TRUE(seen.emplace(chain_hash(changed), what).second) << what;
  }
}

TEST(ChainHash, DoesNotDependOnItsOwnField) {
  Event event = sample_event();
  const Sha256 hash = chain_hash(event);
  event.hash[0] ^= 1;
  EXPECT_EQ(chain_hash(event), hash);
}

// --- erasing ---

Event erased_event(const std::string& path) {
  Event event = sample_event();
  event.hash = chain_hash(event);
  EXPECT_TRUE(erase_pieces(event, test::path(path)));
  return event;
}

TEST(ErasePieces, KeepsTheChainAndNotTheContent) {
  const Event event = erased_event("budget.max");
  EXPECT_EQ(chain_hash(event), event.hash);
  EXPECT_EQ(event.ops[0].path, "budget.max");
  EXPECT_TRUE(event.ops[0].value.is_nil());
  EXPECT_EQ(event.results[0].outcome, Outcome::kept_both);
  EXPECT_FALSE(event.results[0].current);
  EXPECT_FALSE(event.changes[0].change.image);
  EXPECT_EQ(event.ops[1].add.size(), sample_event().ops[1].add.size());
}

TEST(ErasePieces, LeavesNoSaltAndNoHashBesidesTheirs) {
  const Event before = sample_event();
  const Event event = erased_event("budget.max");
  const std::string record = encode_event(event);
  EXPECT_EQ(record.find(before.salt), std::string::npos);
  EXPECT_EQ(record.find(as_view(before.payload_hash)), std::string::npos);
  EXPECT_EQ(record.find(salt_of(before, op_piece(0))), std::string::npos);
  EXPECT_NE(record.find(salt_of(before, op_piece(1))), std::string::npos);
}

TEST(ErasePieces, IsReadBackAndErasedOnceMore) {
  Event event = erased_event("budget.max");
  const auto read = decode_event(encode_event(event));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(encode_event(*read), encode_event(event));
  EXPECT_EQ(chain_hash(*read), event.hash);
  event = *read;
  EXPECT_FALSE(erase_pieces(event, test::path("budget.max")));
  EXPECT_TRUE(erase_pieces(event, test::path("countries")));
  EXPECT_EQ(chain_hash(event), event.hash);
  EXPECT_EQ(encode_event(*decode_event(encode_event(event))), encode_event(event));
}

TEST(ErasePieces, ShowsThatSomethingWasErasedAndFollowersAreSpared) {
  const Event event = erased_event("budget.max");
  const Value map = event_to_map(event);
  EXPECT_EQ(to_json((*map.find("ops")->get_if<List>())[0]), R"({"erased":true,"op":"set","path":"budget.max"})");
  const FeedEvent feed = feed_event_of(event);
  EXPECT_LT(feed.changes.size(), event.changes.size());
  EXPECT_FALSE(feed.digest);
}

TEST(FeedEvent, ReadsBackWhatItWrote) {
  FeedEvent feed = feed_event_of(sample_event());
  for (const bool whole : {true, false}) {
    if (!whole) feed.digest.reset();
    const std::string bytes = encode_feed_event(feed);
    const auto read = feed_event_from_value(*decode(bytes));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(encode_feed_event(*read), bytes);
    EXPECT_EQ(read->digest.has_value(), whole);
    EXPECT_EQ(read->changes.size(), sample_changes().size());
  }
}

TEST(FeedEvent, TheDeletionOfABoardComesThroughTheLogAndTheFeed) {
  Event event = sample_event();
  event.changes = {{{board_key(), std::nullopt}, 0, 0}};
  event.fields.clear();
  event.digest = {};
  event.hash = chain_hash(event);
  const auto read = decode_event(encode_event(event));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(takes_board(*read));
  EXPECT_TRUE(takes_fields(*read));
  EXPECT_EQ(chain_hash(*read), event.hash);
  const auto fed = feed_event_from_value(*decode(encode_feed_event(feed_event_of(*read))));
  ASSERT_TRUE(fed) << fed.error().message;
  EXPECT_TRUE(takes_board(fed->changes));
  // Nothing is to be erased from it, whatever lies above or below.
  Event kept = *read;
  kept.ops.clear();
  kept.results.clear();
  EXPECT_FALSE(erase_pieces(kept, board_key().path));
}

TEST(FeedEvent, RefusesACellThatDoesNotFitItsKey) {
  FeedEvent feed = feed_event_of(sample_event());
  feed.changes[0].key = entry_key(test::path("a"), {1, 0});
  EXPECT_FALSE(feed_event_from_value(*decode(encode_feed_event(feed))));
}

TEST(EventMap, IsForPeople) {
  Event event = sample_event();
  event.hash = chain_hash(event);
  const Value map = event_to_map(event);
  EXPECT_EQ(*map.find("hash"), Value(to_hex(as_view(event.hash))));
  EXPECT_EQ(map.find("ops")->get_if<List>()->size(), 9U);
  const List& changes = *map.find("changes")->get_if<List>();
  EXPECT_EQ(to_json(changes[0]),
            R"({"confidence":"confirmed","conflicts":[15000],"expires":1700000060004,"kind":"register",)"
            R"("part":"leaf","path":"budget.max","value":1.0})");
  EXPECT_EQ(to_json(changes[4]),
            R"({"confidence":"verified","kind":"set","part":"element","path":"countries","value":"US"})");
  EXPECT_EQ(*changes[6].find("id"), Value("9.4"));
  EXPECT_EQ(*changes[8].find("op"), Value("remove"));
  EXPECT_EQ(to_json(changes[11]), R"({"gone":true,"part":"element","path":"countries","value":"SG"})");
  EXPECT_TRUE(parse_json(to_json(map)));
}

TEST(ChangeMap, NamesItsEvent) {
  const FeedEvent feed = feed_event_of(sample_event());
  const Value map = change_to_map(feed, feed.changes[10]);
  EXPECT_EQ(to_json(map), R"({"actor":"planner","gone":true,"part":"leaf","path":"odd\\.name.x","time":1700000000013,)"
                          R"("value":null,"version":13})");
}

}  // namespace
}  // namespace tafel::codec
