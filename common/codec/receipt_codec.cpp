#include "common/codec/receipt_codec.hpp"

#include "common/codec/completeness_codec.hpp"
#include "common/codec/fields.hpp"

namespace tafel::codec {
namespace {

template <class T>
Value value_or_nil(const std::optional<T>& optional) {
  return optional ? Value(*optional) : Value();
}

template <class Name>
Value list_of_texts(const std::vector<Name>& texts) {
  return List(texts.begin(), texts.end());
}

Map current_members(const Current& current) {
  Map members;
  if (current.actor) members.emplace_back("actor", Value(*current.actor));
  if (current.confidence) members.emplace_back("confidence", Value(name_of(*current.confidence)));
  members.emplace_back("value", current.value);
  members.emplace_back("version", Value(current.version));
  return members;
}

Value leaves_to_map(const std::vector<LeafResult>& leaves) {
  Value map{Map{}};
  for (const LeafResult& leaf : leaves) {
    Value result{Map{}};
    result.set("outcome", name_of(leaf.outcome));
    if (leaf.reason) result.set("reason", name_of(*leaf.reason));
    map.set(leaf.path, std::move(result));
  }
  return map;
}

// Reads a name of one of the enumerations.
template <class Enum>
Enum read_name(MemberReader& in, std::string_view member, std::optional<Enum> (*from)(std::string_view)) {
  const auto found = from(in.text(member));
  if (!found) in.refuse(member, "one of the known names");
  return found.value_or(Enum{});
}

template <class Enum>
std::optional<Enum> read_name_if_given(MemberReader& in, std::string_view member,
                                       std::optional<Enum> (*from)(std::string_view)) {
  if (!in.has(member)) return std::nullopt;
  return read_name(in, member, from);
}

std::optional<Value> copy_of(const Value* value) {
  return value == nullptr ? std::nullopt : std::optional<Value>(*value);
}

Result<std::optional<ErrorInfo>> optional_error(const Value& value) {
  if (value.is_nil()) return std::nullopt;
  auto error = error_from_value(value);
  if (!error) return tl::unexpected(std::move(error.error()));
  return std::move(*error);
}

Result<std::optional<Current>> optional_current(const Value& value) {
  if (value.is_nil()) return std::nullopt;
  MemberReader in(value, "current");
  Current current;
  current.value = in.member("value");
  current.version = in.number("version");
  current.confidence = read_name_if_given(in, "confidence", confidence_from);
  if (in.has("actor")) current.actor = in.text("actor");
  return in.finish(std::optional<Current>(std::move(current)));
}

Result<LeafResult> leaf_from_value(const std::string& path, const Value& value) {
  MemberReader in(value, "a leaf's result");
  LeafResult leaf{path, read_name(in, "outcome", outcome_from), read_name_if_given(in, "reason", reason_from)};
  return in.finish(std::move(leaf));
}

Result<std::vector<LeafResult>> leaves_from_value(const Value& value) {
  std::vector<LeafResult> leaves;
  if (value.is_nil()) return leaves;
  const auto* map = value.get_if<Map>();
  if (map == nullptr) return fail(Fault::bad_bytes, "an op's result: leaves must be a map");
  for (const auto& [path, result] : *map) {
    auto leaf = leaf_from_value(path, result);
    if (!leaf) return tl::unexpected(std::move(leaf.error()));
    leaves.push_back(std::move(*leaf));
  }
  return leaves;
}

Result<std::vector<OpResult>> results_from_value(const Value& value) {
  const auto* list = value.get_if<List>();
  if (list == nullptr) return fail(Fault::bad_bytes, "a receipt: ops must be a list");
  std::vector<OpResult> results;
  for (const Value& item : *list) {
    auto result = op_result_from_value(item);
    if (!result) return tl::unexpected(std::move(result.error()));
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace

Value error_to_value(const ErrorInfo& error) {
  Map members;
  members.emplace_back("code", Value(name_of(error.code)));
  if (error.expected) members.emplace_back("expected", *error.expected);
  if (error.found) members.emplace_back("found", *error.found);
  if (error.guards) members.emplace_back("guards", *error.guards);
  members.emplace_back("message", Value(error.message));
  members.emplace_back("op", error.op ? Value(std::uint64_t{*error.op}) : Value());
  members.emplace_back("path", value_or_nil(error.path));
  members.emplace_back("retryable", Value(error.retryable));
  return members;
}

Value op_result_to_value(const OpResult& result) {
  Map members;
  if (result.current) members.emplace_back("current", current_members(*result.current));
  if (result.error) members.emplace_back("error", error_to_value(*result.error));
  if (!result.held.empty()) members.emplace_back("held", list_of_texts(result.held));
  if (!result.leaves.empty()) members.emplace_back("leaves", leaves_to_map(result.leaves));
  members.emplace_back("outcome", Value(name_of(result.outcome)));
  if (result.reason) members.emplace_back("reason", Value(name_of(*result.reason)));
  return members;
}

Value receipt_to_value(const Receipt& receipt) {
  List ops;
  for (const OpResult& result : receipt.ops) ops.push_back(op_result_to_value(result));
  Map members{{"id", receipt.id},
              {"board", receipt.board},
              {"epoch", receipt.epoch},
              {"version", receipt.version},
              {"duplicate", receipt.duplicate},
              {"ops", std::move(ops)},
              {"error", receipt.error ? error_to_value(*receipt.error) : Value()}};
  if (receipt.completeness) members.emplace_back("completeness", completeness_to_value(*receipt.completeness));
  return members;
}

void write_op_result(PackWriter& out, const OpResult& result) {
  const auto value = [&out](std::string_view key, const Value& member) {
    out.text(key);
    write_exact(out, member);
  };
  out.map(1 + count_given({result.current.has_value(), result.error.has_value(), !result.held.empty(),
                           !result.leaves.empty(), result.reason.has_value()}));
  if (result.current) value("current", current_members(*result.current));
  if (result.error) value("error", error_to_value(*result.error));
  if (!result.held.empty()) value("held", list_of_texts(result.held));
  if (!result.leaves.empty()) value("leaves", leaves_to_map(result.leaves));
  out.text("outcome");
  out.text(name_of(result.outcome));
  if (!result.reason) return;
  out.text("reason");
  out.text(name_of(*result.reason));
}

std::string encode_receipt(const Receipt& receipt) {
  std::string bytes;
  PackWriter out(bytes);
  const auto text = [&out](std::string_view key, std::string_view member) {
    out.text(key);
    out.text(member);
  };
  out.map(receipt.completeness ? 8 : 7);
  text("board", receipt.board);
  if (receipt.completeness) {
    out.text("completeness");
    write_exact(out, completeness_to_value(*receipt.completeness));
  }
  out.text("duplicate");
  out.boolean(receipt.duplicate);
  text("epoch", receipt.epoch);
  out.text("error");
  receipt.error ? write_exact(out, error_to_value(*receipt.error)) : out.nil();
  text("id", receipt.id);
  out.text("ops");
  out.array(receipt.ops.size());
  for (const OpResult& result : receipt.ops) write_op_result(out, result);
  out.text("version");
  out.unsigned_integer(receipt.version);
  return bytes;
}

Result<ErrorInfo> error_from_value(const Value& value) {
  MemberReader in(value, "an error");
  ErrorInfo error;
  error.code = read_name(in, "code", error_code_from);
  if (in.has("op")) error.op = in.number("op");
  if (in.has("path")) error.path = in.text("path");
  error.message = in.text("message");
  error.expected = copy_of(in.find("expected"));
  error.found = copy_of(in.find("found"));
  error.guards = copy_of(in.find("guards"));
  error.retryable = in.has("retryable") && in.boolean("retryable");
  return in.finish(std::move(error));
}

Result<OpResult> op_result_from_value(const Value& value) {
  MemberReader in(value, "an op's result");
  OpResult result;
  result.outcome = read_name(in, "outcome", outcome_from);
  result.reason = read_name_if_given(in, "reason", reason_from);
  result.held = in.texts_or_none("held");
  result.leaves = in.part("leaves", leaves_from_value);
  result.current = in.part("current", optional_current);
  result.error = in.part("error", optional_error);
  return in.finish(std::move(result));
}

Result<Receipt> receipt_from_value(const Value& value) {
  MemberReader in(value, "a receipt");
  Receipt receipt;
  receipt.id = in.text_or("id", "");
  receipt.board = in.text_or("board", "");
  receipt.epoch = in.text_or("epoch", "");
  receipt.version = in.number("version");
  receipt.duplicate = in.has("duplicate") && in.boolean("duplicate");
  receipt.ops = in.part("ops", results_from_value);
  receipt.error = in.part("error", optional_error);
  if (in.has("completeness")) receipt.completeness = in.part("completeness", completeness_from_value);
  return in.finish(std::move(receipt));
}

}  // namespace tafel::codec
