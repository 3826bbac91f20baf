// Every form in which a delta may come, what is refused and how, and the way back.
#include "common/codec/delta_codec.hpp"

#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/op_codec.hpp"
#include "tests/common/cells.hpp"
#include "tests/common/support.hpp"

namespace tafel::codec {
namespace {

using test::identical;
using test::json;

Delta read(std::string_view text) {
  auto delta = delta_from_json(text);
  EXPECT_TRUE(delta.has_value()) << text << ": " << (delta ? "" : delta.error().message);
  return delta ? std::move(*delta) : Delta{};
}

ErrorInfo refusal(std::string_view text) {
  auto delta = delta_from_json(text);
  EXPECT_FALSE(delta.has_value()) << text;
  return delta ? ErrorInfo{} : delta.error();
}

// The one op of a delta that has one.
Op op(std::string_view text) {
  Delta delta = read("{\"ops\": [" + std::string(text) + "]}");
  EXPECT_EQ(delta.ops.size(), 1U) << text;
  return delta.ops.empty() ? Op{} : delta.ops[0];
}

Op good(std::string_view text) {
  Op read_op = op(text);
  EXPECT_FALSE(read_op.malformed) << text << ": " << read_op.malformed->message;
  return read_op;
}

Malformed bad(std::string_view text) {
  const Op read_op = op(text);
  EXPECT_TRUE(read_op.malformed) << text;
  return read_op.malformed.value_or(Malformed{});
}

bool mentions(const std::string& message, std::string_view part) { return message.find(part) != std::string::npos; }

// The ops in their own form, for comparing two input forms.
std::string ops_of(const Delta& delta) { return to_json(*delta_to_value(delta).find("ops")); }

TEST(Delta, ReadsEveryMember) {
  const Delta delta = read(R"({"id": "01JD", "board": "acme/trips/42", "base": 17, "epoch": "b3f1",
    "expect": {"version": 17, "fields": {"budget.max": 12, "visa": 0}, "values": {"phase": "planning"}},
    "confidence": "inferred", "atomic": false, "check": true,
    "source": {"kind": "turn", "ref": "turn-5", "evidence": ["E-17"], "trace": "t"}, "ops": []})");
  EXPECT_EQ(delta.id, "01JD");
  EXPECT_EQ(delta.board, "acme/trips/42");
  EXPECT_EQ(delta.base, 17U);
  EXPECT_EQ(delta.epoch, "b3f1");
  EXPECT_EQ(delta.expect.version, 17U);
  EXPECT_EQ(delta.expect.fields, (std::vector<std::pair<std::string, Version>>{{"budget.max", 12}, {"visa", 0}}));
  EXPECT_EQ(delta.expect.values, (std::vector<std::pair<std::string, Value>>{{"phase", "planning"}}));
  EXPECT_EQ(delta.confidence, Confidence::inferred);
  EXPECT_FALSE(delta.atomic);
  EXPECT_TRUE(delta.check);
  EXPECT_EQ(delta.source, (Source{"turn", "turn-5", {"E-17"}, "t"}));
  EXPECT_TRUE(delta.ops.empty());
}

TEST(Delta, ReadsEveryOpOfTheSemantics) {
  const Op set = good(
      R"({"op": "set", "path": "budget.max", "value": 15000, "confidence": "verified", "ttl_ms": 5.0, "assert": true})");
  EXPECT_EQ(set.verb, Verb::set);
  EXPECT_EQ(set.path, "budget.max");
  EXPECT_TRUE(identical(set.value, 15000));
  EXPECT_TRUE(set.has_value);
  EXPECT_EQ(set.confidence, Confidence::verified);
  EXPECT_TRUE(identical(*set.ttl_ms, 5.0));
  EXPECT_TRUE(set.assert_);
  const Op patch = good(R"({"op": "patch", "path": "c", "add": ["UK"], "remove": ["SG"], "reset": []})");
  EXPECT_EQ(patch.add, List{"UK"});
  EXPECT_EQ(patch.remove, List{"SG"});
  EXPECT_EQ(patch.reset, List{});
  EXPECT_EQ(good(R"({"op": "max", "path": "m", "value": 1})").verb, Verb::max);
  EXPECT_EQ(good(R"({"op": "min", "path": "m", "value": 1})").verb, Verb::min);
  EXPECT_EQ(good(R"({"op": "append", "path": "l", "value": null})").verb, Verb::append);
  EXPECT_EQ(good(R"({"op": "unset", "path": "l", "entry": "3.0"})").entry, "3.0");
  EXPECT_EQ(good(R"({"op": "accept", "path": "l", "suggestion": "3.0"})").suggestion, "3.0");
  EXPECT_EQ(good(R"({"op": "dismiss", "path": "l", "suggestion": "3.0"})").verb, Verb::dismiss);
}

TEST(Delta, TellsAnAbsentAmountFromANullOne) {
  const Op absent = good(R"({"op": "incr", "path": "v"})");
  EXPECT_FALSE(absent.has_value);
  EXPECT_TRUE(identical(absent.value, 1));
  const Op null = good(R"({"op": "incr", "path": "v", "by": null})");
  EXPECT_TRUE(null.has_value);
  EXPECT_TRUE(null.value.is_nil());
}

TEST(Delta, TakesNullAsNotGiven) {
  const Delta delta =
      read(R"({"id": null, "base": null, "epoch": null, "expect": null, "confidence": null, "source": null,
    "atomic": null, "check": null, "json_patch": null, "set": null, "ops": [
    {"op": "patch", "path": "c", "add": null, "remove": ["a"], "reset": null, "value": null, "by": null, "from": null,
     "confidence": null, "ttl_ms": null, "assert": null, "entry": null, "suggestion": null}]})");
  EXPECT_FALSE(delta.base);
  EXPECT_TRUE(delta.atomic);
  EXPECT_FALSE(delta.ops[0].malformed);
  EXPECT_FALSE(delta.ops[0].reset);
  EXPECT_FALSE(delta.ops[0].ttl_ms);
  EXPECT_EQ(good(R"({"op": "set", "path": "a", "value": null})").value, Value());
}

TEST(Delta, RefusesUnknownMembersByName) {
  EXPECT_TRUE(mentions(refusal(R"({"opps": []})").message, "unknown member \"opps\" of a delta"));
  EXPECT_TRUE(mentions(refusal(R"({"op": "set", "path": "a", "value": 1})").message, "unknown member \"op\""));
  EXPECT_TRUE(
      mentions(refusal(R"({"expect": {"verson": 1}, "ops": []})").message, "unknown member \"verson\" of expect"));
  EXPECT_TRUE(mentions(refusal(R"({"source": {"evidnce": []}, "ops": []})").message, "unknown member \"evidnce\""));
  EXPECT_TRUE(mentions(bad(R"({"op": "set", "path": "a", "vaule": 1})").message,
                       "unknown member \"vaule\" of set; it may have"));
  EXPECT_TRUE(mentions(bad(R"({"op": "incr", "path": "a", "value": 1})").message, "by"));
  EXPECT_FALSE(bad(R"({"op": "set", "path": "a", "value": 1, "vaule": null})").is_path);
}

TEST(Delta, RefusesMembersOfTheWrongType) {
  for (const char* text : {R"({"ops": {}})",
                           R"({"id": 5, "ops": []})",
                           R"({"id": "", "ops": []})",
                           R"({"id": "a\nb", "ops": []})",
                           R"({"base": -1, "ops": []})",
                           R"({"base": 1.5, "ops": []})",
                           R"({"base": "3", "ops": []})",
                           R"({"base": true, "ops": []})",
                           R"({"epoch": 1, "ops": []})",
                           R"({"expect": [], "ops": []})",
                           R"({"expect": {"version": "1"}, "ops": []})",
                           R"({"expect": {"fields": []}, "ops": []})",
                           R"({"expect": {"values": []}, "ops": []})",
                           R"({"confidence": "sure", "ops": []})",
                           R"({"confidence": 3, "ops": []})",
                           R"({"atomic": 1, "ops": []})",
                           R"({"check": "yes", "ops": []})",
                           R"({"source": "turn-5", "ops": []})",
                           R"({"source": {"evidence": "E-1"}, "ops": []})",
                           R"({})",
                           R"({"ops": null})",
                           R"(5)",
                           R"("set")",
                           R"(null)",
                           R"({"set": []})",
                           R"({"unset": {"a": 1}})"}) {
    const ErrorInfo error = refusal(text);
    EXPECT_EQ(error.code, ErrorCode::bad_value) << text;
    EXPECT_FALSE(error.message.empty());
    EXPECT_FALSE(error.op);
  }
}

TEST(Delta, TakesAVersionWrittenAsAFloat) {
  EXPECT_EQ(read(R"({"base": 1.0, "ops": []})").base, 1U);
  EXPECT_EQ(read(R"({"base": 18446744073709551615, "ops": []})").base, UINT64_MAX);
}

TEST(Delta, RefusesABadBoardAsABadPath) {
  const ErrorInfo error = refusal(R"({"board": "acme//x", "ops": []})");
  EXPECT_EQ(error.code, ErrorCode::bad_path);
  EXPECT_EQ(error.path, "acme//x");
}

TEST(Delta, NamesThePathOfABadGuard) {
  const ErrorInfo error = refusal(R"({"expect": {"fields": {"a": 1, "b": -1}}, "ops": []})");
  EXPECT_EQ(error.code, ErrorCode::bad_value);
  EXPECT_EQ(error.path, "b");
}

TEST(Delta, RefusesMoreOpsThanTheLimit) {
  const auto ops = [](std::size_t count, const std::string& each) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + each;
    return text;
  };
  const std::string one = R"({"op": "unset", "path": "a"})";
  EXPECT_EQ(read("{\"ops\": [" + ops(limits::delta_ops_max, one) + "]}").ops.size(), limits::delta_ops_max);
  EXPECT_EQ(refusal("{\"ops\": [" + ops(limits::delta_ops_max + 1, one) + "]}").code, ErrorCode::too_large);
  EXPECT_EQ(refusal("{\"unset\": [" + ops(limits::delta_ops_max, "\"a\"") + "], \"set\": {\"a\": 1}}").code,
            ErrorCode::too_large);
}

TEST(Delta, RefusesASourceAboveTheLimit) {
  const std::string ref(limits::source_bytes_max, 'x');
  EXPECT_EQ(refusal("{\"source\": {\"ref\": \"" + ref + "\"}, \"ops\": []}").code, ErrorCode::too_large);
}

TEST(Delta, KeepsAnOpThatIsWrongForTheJudge) {
  EXPECT_FALSE(bad(R"(5)").is_path);
  EXPECT_FALSE(bad(R"({"path": "a"})").is_path);
  EXPECT_TRUE(mentions(bad(R"({"op": "sett", "path": "a"})").message, "unknown op \"sett\"; it is one of set, patch"));
  EXPECT_FALSE(bad(R"({"op": "add_item", "path": "a", "value": 1})").message.empty());
  EXPECT_TRUE(mentions(bad(R"({"op": "set", "path": "a"})").message, "set needs \"value\""));
  EXPECT_TRUE(mentions(bad(R"({"op": "accept", "path": "a"})").message, "suggestion"));
  EXPECT_TRUE(mentions(bad(R"({"op": "set", "path": "a", "value": 1, "confidence": "sure"})").message,
                       "unknown confidence \"sure\""));
  EXPECT_FALSE(bad(R"({"op": "set", "path": "a", "value": 1, "assert": "yes"})").is_path);
  EXPECT_FALSE(bad(R"({"op": "unset", "path": "a", "entry": 5})").is_path);
  EXPECT_TRUE(bad(R"({"op": "set", "value": 1})").is_path);
  EXPECT_TRUE(bad(R"({"op": "set", "path": 5, "value": 1})").is_path);
  EXPECT_EQ(op(R"({"op": "sett", "path": "a"})").path, "a");
}

TEST(Delta, AsksForListsInAPatch) {
  for (const char* member : {"add", "remove", "reset"}) {
    const Malformed malformed = bad(R"({"op": "patch", "path": "c", ")" + std::string(member) + R"(": "UK"})");
    EXPECT_TRUE(mentions(malformed.message, "must be a list")) << malformed.message;
  }
  EXPECT_FALSE(good(R"({"op": "patch", "path": "c"})").reset);
}

TEST(Delta, LeavesPathsAsTheyWereWritten) {
  EXPECT_EQ(good(R"({"op": "set", "path": "a..b\\x", "value": 1})").path, "a..b\\x");
  EXPECT_EQ(good(R"({"op": "set", "path": "", "value": 1})").path, "");
}

TEST(ShortForm, IsReadInItsFixedOrder) {
  const Delta delta = read(R"({"min": {"m": 1}, "append": {"l": {"x": 1}}, "max": {"m": 2}, "incr": {"v": 2, "u": null},
    "patch": {"c": {"add": ["UK"], "reset": null}}, "set": {"b": 1, "a": {"x": null}}, "unset": ["z", "y"]})");
  EXPECT_EQ(ops_of(delta), ops_of(read(R"([
    {"op": "unset", "path": "y"}, {"op": "unset", "path": "z"},
    {"op": "set", "path": "a", "value": {"x": null}}, {"op": "set", "path": "b", "value": 1},
    {"op": "patch", "path": "c", "add": ["UK"]},
    {"op": "incr", "path": "u", "by": null}, {"op": "incr", "path": "v", "by": 2},
    {"op": "max", "path": "m", "value": 2}, {"op": "min", "path": "m", "value": 1},
    {"op": "append", "path": "l", "value": {"x": 1}}])")));
}

TEST(ShortForm, KeepsAWrongPatchForTheJudge) {
  const Delta delta = read(R"({"patch": {"a": ["UK"], "b": {"ad": []}, "c": {"op": "set"}}, "unset": [5]})");
  ASSERT_EQ(delta.ops.size(), 4U);
  for (const Op& each : delta.ops) EXPECT_TRUE(each.malformed);
  EXPECT_TRUE(delta.ops[0].malformed->is_path);
  EXPECT_EQ(delta.ops[1].path, "a");
  EXPECT_TRUE(mentions(delta.ops[1].malformed->message, "short form"));
}

TEST(Forms, DoNotMix) {
  for (const char* text :
       {R"({"ops": [], "set": {"a": 1}})", R"({"ops": [], "json_patch": []})", R"({"json_patch": [], "unset": []})"}) {
    EXPECT_TRUE(mentions(refusal(text).message, "not several")) << text;
  }
}

TEST(JsonPatch, HasThreeSpellingsOfOneMeaning) {
  const std::string list =
      R"([{"op": "add", "path": "/a/b", "value": 1}, {"op": "replace", "path": "/a~1b/~0.x\\", "value": null},
    {"op": "add", "path": "/l/-", "value": 2}, {"op": "remove", "path": "/r/0"}, {"op": "move", "from": "/f", "path": "/t"},
    {"op": "copy", "from": "/f/0", "path": "/u"}, {"op": "test", "path": "/p", "value": 3}])";
  const Delta bare = read(list);
  const Delta member = read("{\"json_patch\": " + list + "}");
  const Delta ops = read("{\"ops\": " + list + "}");
  EXPECT_EQ(delta_to_value(bare), delta_to_value(member));
  EXPECT_EQ(delta_to_value(bare), delta_to_value(ops));
  ASSERT_EQ(bare.ops.size(), 6U);
  EXPECT_EQ(bare.ops[0].verb, Verb::set);
  EXPECT_EQ(bare.ops[0].path, "a.b");
  EXPECT_EQ(bare.ops[1].path, R"(a/b.~\.x\\)");
  EXPECT_EQ(bare.ops[2].verb, Verb::add_item);
  EXPECT_EQ(bare.ops[2].path, "l");
  EXPECT_EQ(bare.ops[3].verb, Verb::unset);
  EXPECT_EQ(bare.ops[3].path, "r.0");
  EXPECT_EQ(bare.ops[4].verb, Verb::move);
  EXPECT_EQ(bare.ops[4].from, "f");
  EXPECT_EQ(bare.ops[5].from, "f.0");
  EXPECT_EQ(bare.expect.values, (std::vector<std::pair<std::string, Value>>{{"p", 3}}));
}

TEST(JsonPatch, RefusesPointersThatNameNoField) {
  for (const char* pointer : {"", "/", "a", "a/b", "/a/", "//a", "/a~", "/a~2", "/a\\u0001"}) {
    for (const char* verb : {"add", "replace"}) {
      const std::string text = R"({"op": ")" + std::string(verb) + R"(", "path": ")" + pointer + R"(", "value": 1})";
      EXPECT_TRUE(bad(text).is_path) << text;
    }
    EXPECT_TRUE(bad(R"({"op": "copy", "path": "/x", "from": ")" + std::string(pointer) + "\"}").is_path) << pointer;
    const ErrorInfo error = refusal(R"([{"op": "remove", "path": "/x"}, {"op": "test", "value": 1, "path": ")" +
                                    std::string(pointer) + "\"}]");
    EXPECT_EQ(error.code, ErrorCode::bad_path) << pointer;
    EXPECT_EQ(error.op, 1U);
  }
  EXPECT_TRUE(bad(R"({"op": "remove", "path": 5})").is_path);
  EXPECT_TRUE(bad(R"({"op": "move", "path": "/a"})").is_path);
}

TEST(JsonPatch, KnowsTheEndOfAListInAddOnly) {
  EXPECT_TRUE(bad(R"({"op": "add", "path": "/-", "value": 1})").is_path);
  EXPECT_TRUE(bad(R"({"op": "copy", "path": "/l/-", "from": "/a"})").is_path);
  EXPECT_EQ(good(R"({"op": "remove", "path": "/m/-"})").path, "m.-");
  EXPECT_EQ(good(R"({"op": "add", "path": "/m/-x", "value": 1})").path, "m.-x");
}

TEST(JsonPatch, AsksForValues) {
  EXPECT_FALSE(bad(R"({"op": "add", "path": "/a"})").is_path);
  const ErrorInfo error = refusal(R"([{"op": "test", "path": "/a"}])");
  EXPECT_EQ(error.code, ErrorCode::bad_value);
  EXPECT_EQ(error.op, 0U);
  EXPECT_EQ(refusal(R"([{"op": "test", "path": "/a", "value": 1, "valu": 1}])").op, 0U);
}

TEST(JsonPatch, MayTestOnePathTwice) {
  const Delta delta = read(R"([{"op": "test", "path": "/b", "value": 1}, {"op": "test", "path": "/a", "value": 2},
    {"op": "test", "path": "/b", "value": 3}])");
  const std::vector<std::pair<std::string, Value>> expected{{"a", 2}, {"b", 1}, {"b", 3}};
  EXPECT_EQ(delta.expect.values, expected);
  EXPECT_EQ(delta_from_value(delta_to_value(delta))->expect.values, expected);
}

TEST(DeltaJson, TellsWhichOpHoldsABadNumber) {
  const ErrorInfo error =
      refusal(R"({"ops": [{"op": "unset", "path": "x"}, {"op": "set", "path": "budget.max", "value": [1e400]}]})");
  EXPECT_EQ(error.code, ErrorCode::bad_value);
  EXPECT_EQ(error.op, 1U);
  EXPECT_EQ(error.path, "budget.max");
  EXPECT_TRUE(mentions(error.message, "1e400"));
  EXPECT_FALSE(error.retryable);
}

TEST(DeltaJson, TellsWhichPathHoldsABadNumberInOtherForms) {
  EXPECT_EQ(refusal(R"({"set": {"a": 1, "b": {"c": NaN}}})").path, "b");
  EXPECT_EQ(refusal(R"({"expect": {"values": {"a": -Infinity}}})").path, "a");
  const ErrorInfo list = refusal(R"([{"op": "add", "path": "/a", "value": 18446744073709551616}])");
  EXPECT_EQ(list.op, 0U);
  EXPECT_EQ(list.path, "/a");
  EXPECT_EQ(refusal(R"({"json_patch": [{"op": "add", "path": "/a", "value": NaN}]})").path, "/a");
  EXPECT_EQ(refusal(R"({"ops": [{"op": "set", "value": NaN, "path": "a"}]})").path, std::nullopt);
  EXPECT_EQ(refusal(R"({"base": NaN})").op, std::nullopt);
}

TEST(DeltaJson, TellsTheOffsetOfBadText) {
  const ErrorInfo error = refusal(R"({"ops": [{"op": "set",}]})");
  EXPECT_EQ(error.code, ErrorCode::bad_value);
  EXPECT_TRUE(mentions(error.message, "near byte 22")) << error.message;
}

TEST(Payload, IsTheSameInEverySpelling) {
  const Sha256 hash =
      read(R"({"id": "1", "board": "b", "base": 3, "ops": [{"op": "set", "path": "a", "value": 1}]})").payload_hash;
  EXPECT_EQ(hash, read(R"({"id": "2", "board": "b", "base": 3.0, "set": {"a": 1.0}})").payload_hash);
  EXPECT_EQ(
      hash,
      read(R"({"board": "b", "base": 3, "json_patch": [{"op": "add", "path": "/a", "value": 1}], "check": false})")
          .payload_hash);
}

TEST(Payload, DiffersInEveryMemberButTheId) {
  const std::string ops = R"("ops": [{"op": "set", "path": "a", "value": 1}])";
  std::vector<Sha256> hashes;
  for (const std::string& members : {std::string(), std::string(R"("board": "b", )"), std::string(R"("base": 3, )"),
                                     std::string(R"("epoch": "e", )"), std::string(R"("expect": {"version": 1}, )"),
                                     std::string(R"("confidence": "guess", )"), std::string(R"("atomic": false, )"),
                                     std::string(R"("check": true, )"), std::string(R"("source": {"ref": "x"}, )")}) {
    hashes.push_back(read("{" + members + ops + "}").payload_hash);
  }
  hashes.push_back(read(R"({"set": {"a": 2}})").payload_hash);
  hashes.push_back(read(R"({"set": {"a": "1"}})").payload_hash);
  hashes.push_back(read(R"({"ops": [{"op": "set", "path": "a", "value": 1, "assert": true}]})").payload_hash);
  hashes.push_back(read(R"({"ops": [{"op": "set", "path": "a", "value": 1, "valu": 1}]})").payload_hash);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(hashes[i], hashes[j]) << i << " " << j;
  }
}

// --- the way back ---

class RandomDeltas {
 public:
  explicit RandomDeltas(std::uint64_t seed) : values_(seed) {}

  Delta delta() {
    Delta made;
    if (values_.chance(2)) made.id = "id-" + std::to_string(values_.below(100));
    if (values_.chance(2)) made.board = "acme/trips";
    if (values_.chance(2)) made.base = values_.next();
    if (values_.chance(4)) made.epoch = "e";
    if (values_.chance(4)) made.expect.version = values_.below(9);
    if (values_.chance(4)) made.expect.fields = {{"a.b", 0}, {path(), values_.next()}};
    if (values_.chance(4))
      made.expect.values = {{"p", values_.value()}, {"p", values_.value()}, {"q\\.r", values_.value()}};
    made.confidence = confidence();
    made.atomic = values_.chance(2);
    made.check = values_.chance(2);
    if (values_.chance(2)) made.source = {"turn", values_.text(), {"E", values_.text()}, ""};
    for (std::size_t count = values_.below(6); count > 0; --count) made.ops.push_back(op());
    return made;
  }

 private:
  std::string path() { return values_.chance(2) ? R"(a\.b.~/-.x)" : "f" + std::to_string(values_.below(5)); }

  std::optional<Confidence> confidence() {
    if (values_.chance(2)) return std::nullopt;
    return static_cast<Confidence>(values_.below(5));
  }

  Op op() {
    Op made;
    constexpr std::array verbs{Verb::set,    Verb::patch,    Verb::incr,   Verb::max,         Verb::min,
                               Verb::append, Verb::unset,    Verb::accept, Verb::dismiss,     Verb::copy,
                               Verb::move,   Verb::add_item, Verb::fork,   Verb::merge,       Verb::erase,
                               Verb::tag,    Verb::schema,   Verb::retain, Verb::delete_board};
    made.verb = verbs[values_.below(verbs.size())];
    made.path = path();
    made.confidence = confidence();
    if (values_.chance(4)) made.ttl_ms = Value(1 + static_cast<std::int64_t>(values_.below(5)));
    made.assert_ = values_.chance(4);
    switch (made.verb) {
      case Verb::set:
      case Verb::max:
      case Verb::min:
      case Verb::append:
      case Verb::fork:
      case Verb::merge:
      case Verb::tag:
      case Verb::retain:
      case Verb::add_item: made.value = values_.value(), made.has_value = true; break;
      case Verb::incr:
        made.has_value = values_.chance(2);
        made.value = made.has_value ? values_.value() : Value(1);
        break;
      case Verb::patch:
        made.add = elements(), made.remove = elements();
        if (values_.chance(2)) made.reset = elements();
        break;
      case Verb::unset: made.entry = values_.chance(2) ? "3.1" : ""; break;
      case Verb::accept:
      case Verb::dismiss: made.suggestion = "3.1"; break;
      case Verb::copy:
      case Verb::move: made.from = path(); break;
      case Verb::schema:
        made.has_value = true;
        if (values_.chance(2)) made.value = Map{{"strict", true}};
        break;
      case Verb::revert:
      case Verb::delete_board:
      case Verb::erase: break;
    }
    return made;
  }

  std::vector<Value> elements() {
    std::vector<Value> made;
    for (std::size_t count = values_.below(3); count > 0; --count) made.push_back(values_.value());
    return made;
  }

  test::RandomValues values_;
};

void expect_same_op(const Op& a, const Op& b) {
  EXPECT_EQ(a.verb, b.verb);
  EXPECT_EQ(a.path, b.path);
  EXPECT_TRUE(identical(a.value, b.value));
  EXPECT_EQ(a.has_value, b.has_value);
  EXPECT_TRUE(identical(a.add, b.add));
  EXPECT_TRUE(identical(a.remove, b.remove));
  EXPECT_EQ(a.reset.has_value(), b.reset.has_value());
  if (a.reset && b.reset) {
    EXPECT_TRUE(identical(*a.reset, *b.reset));
  }
  EXPECT_EQ(a.suggestion, b.suggestion);
  EXPECT_EQ(a.entry, b.entry);
  EXPECT_EQ(a.from, b.from);
  EXPECT_EQ(a.confidence, b.confidence);
  EXPECT_EQ(a.ttl_ms, b.ttl_ms);
  EXPECT_EQ(a.assert_, b.assert_);
  EXPECT_FALSE(b.malformed) << b.malformed->message;
}

void expect_same(const Delta& a, const Delta& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.board, b.board);
  EXPECT_EQ(a.base, b.base);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.expect.version, b.expect.version);
  EXPECT_EQ(a.expect.fields, b.expect.fields);
  EXPECT_EQ(a.expect.values, b.expect.values);
  EXPECT_EQ(a.confidence, b.confidence);
  EXPECT_EQ(a.atomic, b.atomic);
  EXPECT_EQ(a.check, b.check);
  EXPECT_EQ(a.source, b.source);
  ASSERT_EQ(a.ops.size(), b.ops.size());
  for (std::size_t i = 0; i < a.ops.size(); ++i) expect_same_op(a.ops[i], b.ops[i]);
}

TEST(DeltaToValue, IsReadBackAsTheSameDelta) {
  RandomDeltas random(4);
  for (int i = 0; i < 500; ++i) {
    const Delta delta = random.delta();
    const Value value = delta_to_value(delta);
    for (const auto& read_back :
         {delta_from_value(value), delta_from_json(to_json(value)), delta_from_value(*decode(encode(value)))}) {
      ASSERT_TRUE(read_back) << to_json(value) << ": " << read_back.error().message;
      expect_same(delta, *read_back);
      EXPECT_EQ(read_back->payload_hash, payload_hash(delta));
      if (HasFailure()) {
        FAIL() << to_json(value);
      }
    }
  }
}

TEST(DeltaToValue, IsWhatThePayloadHashIsOf) {
  RandomDeltas random(5);
  for (int i = 0; i < 500; ++i) {
    Delta delta = random.delta();
    for (const Op& op : delta.ops) {
      std::string written;
      PackWriter out(written);
      ExactSink values;
      write_op(out, op, values);
      EXPECT_EQ(written, encode(op_to_value(op)));
    }
    delta.id.clear();  // the payload is everything but the id
    EXPECT_EQ(payload_hash(delta), sha256(canonical(delta_to_value(delta)))) << to_json(delta_to_value(delta));
  }
}

TEST(DeltaToValue, LeavesDefaultsOut) {
  EXPECT_EQ(to_json(delta_to_value(read(R"({"set": {"a": 1}, "atomic": true, "check": false})"))),
            R"({"ops":[{"op":"set","path":"a","value":1}]})");
  EXPECT_EQ(to_json(delta_to_value(
                read(R"({"ops": [{"op": "incr", "path": "v"}, {"op": "patch", "path": "c", "add": []}]})"))),
            R"({"ops":[{"op":"incr","path":"v"},{"op":"patch","path":"c"}]})");
}

TEST(DeltaToValue, WritesJsonPatchVerbsWithPointers) {
  const std::string text =
      R"({"ops":[{"from":"/a~1b/c","op":"move","path":"/x.y/~0"},{"op":"add","path":"/l/-","value":1}]})";
  EXPECT_EQ(to_json(delta_to_value(read(text))), text);
}

TEST(DeltaToValue, KeepsAPointerThatMayBeAnIndex) {
  const Delta delta = read(R"([{"op": "add", "path": "/l/0", "value": 1}, {"op": "remove", "path": "/l/0"},
    {"op": "replace", "path": "/l/-", "value": 1}, {"op": "replace", "path": "/l/a0", "value": 1}])");
  EXPECT_EQ(to_json(delta_to_value(delta)),
            R"({"ops":[{"op":"replace","path":"/l/0","value":1},{"op":"remove","path":"/l/0"},)"
            R"({"op":"replace","path":"/l/-","value":1},{"op":"set","path":"l.a0","value":1}]})");
}

TEST(DeltaToValue, WritesAMalformedOpSuchThatItIsRefusedInTheSameWords) {
  const Delta delta =
      read(R"({"ops": [{"op": "set", "path": "a"}, {"op": "sett", "path": "a"}, {"op": "set", "value": 1},
    {"op": "add", "path": "", "value": 1}]})");
  const auto back = delta_from_value(delta_to_value(delta));
  ASSERT_TRUE(back);
  for (std::size_t i = 0; i < delta.ops.size(); ++i) {
    ASSERT_TRUE(back->ops[i].malformed);
    EXPECT_EQ(back->ops[i].malformed->message, delta.ops[i].malformed->message);
    EXPECT_EQ(back->ops[i].malformed->is_path, delta.ops[i].malformed->is_path);
    EXPECT_EQ(back->ops[i].path, delta.ops[i].path);
  }
  EXPECT_FALSE(back->ops[2].from_pointer);  // it had no path
  EXPECT_TRUE(back->ops[3].from_pointer);   // its path was the empty text
}

TEST(Delta, TakesNoLongWordsOfAStrangerForADefect) {
  const std::string longer(600, 'x');
  EXPECT_TRUE(mentions(bad(R"({"op": "set", "path": "a", "malformed": ")" + longer + "\"}").message, "unknown member"));
  EXPECT_TRUE(mentions(bad(R"({"op": "set", "path": "a", "malformed": ""})").message, "unknown member"));
}

}  // namespace
}  // namespace tafel::codec
