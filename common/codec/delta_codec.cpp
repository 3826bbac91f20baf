#include "common/codec/delta_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "common/base/limits.hpp"
#include "common/codec/cell_codec.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/op_codec.hpp"
#include "common/codec/pointer.hpp"
#include "common/model/names.hpp"

namespace tafel::codec {
namespace {

using Refusal = std::optional<ErrorInfo>;  // nullopt: all is well

ErrorInfo refusal(ErrorCode code, std::string message) {
  ErrorInfo error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

ErrorInfo bad_value(std::string message) { return refusal(ErrorCode::bad_value, std::move(message)); }

// --- the members beside the ops ---

Refusal wrong_type(std::string_view member, std::string_view rule, const Value& value) {
  return bad_value(fmt::format("\"{}\" must be {}, not {}", member, rule, brief(value)));
}

Refusal read_text(std::string_view member, const Value& value, std::string& target) {
  const auto* text = value.get_if<std::string>();
  if (text == nullptr) return wrong_type(member, "text", value);
  target = *text;
  return std::nullopt;
}

Refusal read_flag(std::string_view member, const Value& value, bool& target) {
  const auto* flag = value.get_if<bool>();
  if (flag == nullptr) return wrong_type(member, "true or false", value);
  target = *flag;
  return std::nullopt;
}

Refusal read_version(std::string_view member, const Value& value, std::optional<Version>& target) {
  target = as_uint64(value);
  if (!target) return wrong_type(member, "a version (an integer from 0)", value);
  return std::nullopt;
}

Refusal read_id(const Value& value, Delta& delta) {
  if (auto refused = read_text("id", value, delta.id)) return refused;
  if (const auto defect = name_defect(delta.id)) return bad_value(fmt::format("\"id\": {}", *defect));
  return std::nullopt;
}

Refusal read_board(const Value& value, Delta& delta) {
  if (auto refused = read_text("board", value, delta.board)) return refused;
  const auto defect = board_id_defect(delta.board);
  if (!defect) return std::nullopt;
  ErrorInfo error = refusal(ErrorCode::bad_path, fmt::format("\"board\": {}", *defect));
  error.path = delta.board;
  return error;
}

Refusal read_base(const Value& value, Delta& delta) { return read_version("base", value, delta.base); }
Refusal read_epoch(const Value& value, Delta& delta) { return read_text("epoch", value, delta.epoch); }
Refusal read_atomic(const Value& value, Delta& delta) { return read_flag("atomic", value, delta.atomic); }
Refusal read_check(const Value& value, Delta& delta) { return read_flag("check", value, delta.check); }

Refusal read_confidence(const Value& value, Delta& delta) {
  const auto* name = value.get_if<std::string>();
  delta.confidence = name == nullptr ? std::nullopt : confidence_from(*name);
  if (!delta.confidence) return bad_value(confidence_defect(value));
  return std::nullopt;
}

std::size_t encoded_size(const Source& source) {
  std::string bytes;
  PackWriter out(bytes);
  write_source(out, source);
  return bytes.size();
}

Refusal read_source(const Value& value, Delta& delta) {
  auto source = source_from_map(value);
  if (!source) return bad_value(source.error().message);
  if (const std::size_t size = encoded_size(*source); size > limits::source_bytes_max) {
    return refusal(ErrorCode::too_large,
                   fmt::format("\"source\" has {} bytes; at most {} are allowed", size, limits::source_bytes_max));
  }
  delta.source = std::move(*source);
  return std::nullopt;
}

Refusal read_guarded_fields(const Value& value, Expect& expect) {
  const auto* fields = value.get_if<Map>();
  if (fields == nullptr) return wrong_type("expect.fields", "a map from paths to versions", value);
  for (const auto& [path, version] : *fields) {
    std::optional<Version> number;
    if (auto refused = read_version("expect.fields", version, number)) {
      refused->path = path;
      return refused;
    }
    expect.fields.emplace_back(path, *number);
  }
  return std::nullopt;
}

Refusal read_guarded_values(const Value& value, Expect& expect) {
  const auto* values = value.get_if<Map>();
  if (values == nullptr) return wrong_type("expect.values", "a map from paths to values", value);
  for (const auto& [path, wanted] : *values) expect.values.emplace_back(path, wanted);
  return std::nullopt;
}

Refusal read_expect(const Value& value, Delta& delta) {
  const auto* members = value.get_if<Map>();
  if (members == nullptr) return wrong_type("expect", "a map with version, fields or values", value);
  for (const auto& [key, member] : *members) {
    Refusal refused;
    if (key == "version") {
      if (!member.is_nil()) refused = read_version("expect.version", member, delta.expect.version);
    } else if (key == "fields") {
      if (!member.is_nil()) refused = read_guarded_fields(member, delta.expect);
    } else if (key == "values") {
      if (!member.is_nil()) refused = read_guarded_values(member, delta.expect);
    } else {
      return bad_value(
          fmt::format("unknown member {} of expect; it may have version, fields and values", brief(Value(key))));
    }
    if (refused) return refused;
  }
  return std::nullopt;
}

struct MemberRule {
  std::string_view name;
  Refusal (*read)(const Value&, Delta&);
};

constexpr std::array<MemberRule, 9> member_rules{{{"id", read_id},
                                                  {"board", read_board},
                                                  {"base", read_base},
                                                  {"epoch", read_epoch},
                                                  {"expect", read_expect},
                                                  {"confidence", read_confidence},
                                                  {"atomic", read_atomic},
                                                  {"check", read_check},
                                                  {"source", read_source}}};

// --- ops and JSON Patch ---

Refusal too_many_ops(std::size_t count) {
  if (count <= limits::delta_ops_max) return std::nullopt;
  return refusal(ErrorCode::too_large,
                 fmt::format("a delta of {} ops; at most {} are allowed", count, limits::delta_ops_max));
}

bool is_test(const Value& op) {
  const Value* name = op.find("op");
  return name != nullptr && *name == Value("test");
}

// JSON Patch's `test` is an expectation of the whole delta, so its defects refuse the whole.
Refusal read_test(const Value& op, Expect& expect) {
  for (const auto& [key, member] : *op.get_if<Map>()) {
    if (key != "op" && key != "path" && key != "value" && !member.is_nil()) {
      return bad_value(fmt::format("unknown member {} of test; it may have op, path and value", brief(Value(key))));
    }
  }
  const Value* pointer = op.find("path");
  const auto* text = pointer == nullptr ? nullptr : pointer->get_if<std::string>();
  if (text == nullptr) return refusal(ErrorCode::bad_path, "test needs \"path\", a JSON Pointer as \"/budget/max\"");
  auto path = path_from_pointer(*text);
  if (!path) {
    ErrorInfo error = refusal(ErrorCode::bad_path, fmt::format("test: {}", path.error().message));
    error.path = *text;
    return error;
  }
  const Value* value = op.find("value");
  if (value == nullptr) return bad_value("test needs \"value\"");
  expect.values.emplace_back(std::move(*path), *value);
  return std::nullopt;
}

Refusal read_ops(const Value& value, Delta& delta, std::string_view member) {
  const auto* list = value.get_if<List>();
  if (list == nullptr) return wrong_type(member, "a list of ops", value);
  if (auto refused = too_many_ops(list->size())) return refused;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Value& op = (*list)[i];
    if (!is_test(op)) {
      delta.ops.push_back(op_from_value(op));
    } else if (auto refused = read_test(op, delta.expect)) {
      refused->op = i;
      return refused;
    }
  }
  return std::nullopt;
}

// --- the short form ---

// In this order, so that a `set` below an `unset` of its parent stands.
constexpr std::array<std::string_view, 7> short_verbs{"unset", "set", "patch", "incr", "max", "min", "append"};

// The op that {"<verb>": {"<path>": member}} stands for.
Op op_of_short(std::string_view verb, const std::string& path, const Value& member) {
  const bool is_patch = verb == "patch";
  if (is_patch && (member.get_if<Map>() == nullptr || member.find("op") != nullptr || member.find("path") != nullptr)) {
    Op op;
    op.verb = Verb::patch;
    op.path = path;
    op.malformed = Malformed{
        .message = "in the short form a patch is {\"<path>\": {\"add\": […], \"remove\": […], \"reset\": […]}}"};
    return op;
  }
  Value op = is_patch ? member : Value(Map{});
  if (!is_patch) op.set(verb == "incr" ? "by" : "value", member);
  op.set("op", verb);
  op.set("path", path);
  return op_from_value(op);
}

Refusal read_short_unset(const Value& value, Delta& delta) {
  const auto* list = value.get_if<List>();
  if (list == nullptr) return wrong_type("unset", "a list of paths", value);
  List paths = *list;
  const auto text_of = [](const Value& path) {
    const auto* text = path.get_if<std::string>();
    return text == nullptr ? std::string_view() : std::string_view(*text);
  };
  std::stable_sort(paths.begin(), paths.end(), [&](const Value& a, const Value& b) { return text_of(a) < text_of(b); });
  for (const Value& path : paths) delta.ops.push_back(op_from_value(Map{{"op", "unset"}, {"path", path}}));
  return std::nullopt;
}

Refusal read_short_verb(std::string_view verb, const Value& value, Delta& delta) {
  if (verb == "unset") return read_short_unset(value, delta);
  const auto* members = value.get_if<Map>();
  if (members == nullptr) return wrong_type(verb, "a map whose keys are paths", value);
  for (const auto& [path, member] : *members) delta.ops.push_back(op_of_short(verb, path, member));
  return std::nullopt;
}

std::size_t count_of(const Value& value) {
  if (const auto* list = value.get_if<List>()) return list->size();
  const auto* map = value.get_if<Map>();
  return map == nullptr ? 0 : map->size();
}

const Value* given(const Value& value, std::string_view member) {
  const Value* found = value.find(member);
  return found == nullptr || found->is_nil() ? nullptr : found;
}

Refusal read_short(const Value& value, Delta& delta) {
  std::size_t count = 0;
  for (const std::string_view verb : short_verbs) {
    if (const Value* member = given(value, verb)) count += count_of(*member);
  }
  if (auto refused = too_many_ops(count)) return refused;
  for (const std::string_view verb : short_verbs) {
    const Value* member = given(value, verb);
    if (member == nullptr) continue;
    if (auto refused = read_short_verb(verb, *member, delta)) return refused;
  }
  return std::nullopt;
}

// --- the whole ---

bool is_short_verb(std::string_view name) {
  return std::find(short_verbs.begin(), short_verbs.end(), name) != short_verbs.end();
}

Refusal read_member(const std::string& key, const Value& value, Delta& delta) {
  const auto rule =
      std::find_if(member_rules.begin(), member_rules.end(), [&](const MemberRule& r) { return r.name == key; });
  if (rule != member_rules.end()) return value.is_nil() ? std::nullopt : rule->read(value, delta);
  if (key == "ops" || key == "json_patch" || is_short_verb(key)) return std::nullopt;  // read last
  return bad_value(
      fmt::format("unknown member {} of a delta; it may have id, board, base, epoch, expect, confidence, atomic, "
                  "check, source, and ops, json_patch or the short form's {}; accept and dismiss are ops",
                  brief(Value(key)), spoken_list({short_verbs.begin(), short_verbs.end()})));
}

Refusal read_all_ops(const Value& value, Delta& delta) {
  const Value* ops = given(value, "ops");
  const Value* patch = given(value, "json_patch");
  const bool is_short = std::any_of(short_verbs.begin(), short_verbs.end(),
                                    [&](std::string_view verb) { return given(value, verb) != nullptr; });
  const int forms = (ops != nullptr ? 1 : 0) + (patch != nullptr ? 1 : 0) + (is_short ? 1 : 0);
  if (forms > 1) {
    return bad_value(
        "a delta has one of \"ops\", \"json_patch\" and the short form (set, patch, incr, max, min, append, unset), "
        "not several");
  }
  if (ops != nullptr) return read_ops(*ops, delta, "ops");
  if (patch != nullptr) return read_ops(*patch, delta, "json_patch");
  if (is_short) return read_short(value, delta);
  return bad_value("a delta needs \"ops\", a list as [{\"op\": \"set\", \"path\": \"budget.max\", \"value\": 15000}]");
}

Refusal read_delta(const Value& value, Delta& delta) {
  if (value.get_if<List>() != nullptr) return read_ops(value, delta, "a delta");
  const auto* members = value.get_if<Map>();
  if (members == nullptr)
    return bad_value(fmt::format("a delta is a map (or a JSON Patch list), not {}", brief(value)));
  for (const auto& [key, member] : *members) {
    if (auto refused = read_member(key, member, delta)) return refused;
  }
  return read_all_ops(value, delta);
}

// --- writing ---

bool is_repeated(const std::vector<std::pair<std::string, Value>>& sorted, std::size_t at) {
  return at > 0 && sorted[at - 1].first == sorted[at].first;
}

template <class T>
std::vector<std::pair<std::string, T>> sorted_by_path(std::vector<std::pair<std::string, T>> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return entries;
}

Map expect_members(const Expect& expect) {
  Map members;
  if (!expect.fields.empty()) {
    Value fields{Map{}};
    for (const auto& [path, version] : expect.fields) fields.set(path, version);
    members.emplace_back("fields", std::move(fields));
  }
  const auto values = sorted_by_path(expect.values);
  Map wanted;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_repeated(values, i)) wanted.emplace_back(values[i].first, values[i].second);
  }
  if (!wanted.empty()) members.emplace_back("values", std::move(wanted));
  if (expect.version) members.emplace_back("version", Value(*expect.version));
  return members;
}

List ops_list(const Delta& delta) {
  List ops;
  for (const Op& op : delta.ops) ops.push_back(op_to_value(op));
  // A path may be tested twice in a JSON Patch; a map holds it once, so the others stay tests.
  const auto values = sorted_by_path(delta.expect.values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_repeated(values, i)) continue;
    ops.push_back(
        Map{{"op", Value("test")}, {"path", Value(pointer_from_path(values[i].first))}, {"value", values[i].second}});
  }
  return ops;
}

Map delta_members(const Delta& delta) {
  Map members;
  if (!delta.atomic) members.emplace_back("atomic", Value(false));
  if (delta.base) members.emplace_back("base", Value(*delta.base));
  if (!delta.board.empty()) members.emplace_back("board", Value(delta.board));
  if (delta.check) members.emplace_back("check", Value(true));
  if (delta.confidence) members.emplace_back("confidence", Value(name_of(*delta.confidence)));
  if (!delta.epoch.empty()) members.emplace_back("epoch", Value(delta.epoch));
  if (!delta.expect.empty()) members.emplace_back("expect", expect_members(delta.expect));
  if (!delta.id.empty()) members.emplace_back("id", Value(delta.id));
  members.emplace_back("ops", ops_list(delta));
  if (!delta.source.empty()) members.emplace_back("source", source_to_map(delta.source));
  return members;
}

// The members of delta_members without the id, in canonical form.
void write_payload(PackWriter& out, const Delta& delta) {
  CanonicalSink values;
  const auto text = [&out](std::string_view key, std::string_view member) {
    out.text(key);
    out.text(member);
  };
  const bool has_tests = !delta.expect.values.empty();  // some of them may be ops
  out.map(1 + count_given({!delta.atomic, delta.base.has_value(), !delta.board.empty(), delta.check,
                           delta.confidence.has_value(), !delta.epoch.empty(), !delta.expect.empty(),
                           !delta.source.empty()}));
  if (!delta.atomic) {
    out.text("atomic");
    out.boolean(false);
  }
  if (delta.base) {
    out.text("base");
    out.unsigned_integer(*delta.base);
  }
  if (!delta.board.empty()) text("board", delta.board);
  if (delta.check) {
    out.text("check");
    out.boolean(true);
  }
  if (delta.confidence) text("confidence", name_of(*delta.confidence));
  if (!delta.epoch.empty()) text("epoch", delta.epoch);
  if (!delta.expect.empty()) {
    out.text("expect");
    write_canonical(out, expect_members(delta.expect));
  }
  out.text("ops");
  if (has_tests) {
    write_canonical(out, ops_list(delta));
  } else {
    out.array(delta.ops.size());
    for (const Op& op : delta.ops) write_op(out, op, values);
  }
  if (delta.source.empty()) return;
  out.text("source");
  write_canonical(out, source_to_map(delta.source));
}

// --- errors in JSON text ---

std::optional<std::size_t> index_from(std::string_view text) {
  std::size_t index = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), index);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return index;
}

// Where the text broke off, in the words of a delta: index of the op, and its path where that stood before the break.
void name_place(const JsonError& json, ErrorInfo& error) {
  const auto& location = json.location;
  const bool is_list = json.partial.get_if<List>() != nullptr;
  const bool in_ops = !location.empty() && (location[0] == "ops" || location[0] == "json_patch");
  if (!is_list && location.size() >= 2 && is_short_verb(location[0])) {
    if (location[0] != "unset") error.path = location[1];
    return;
  }
  if (!is_list && location.size() >= 3 && location[0] == "expect") {
    error.path = location[2];
    return;
  }
  const std::size_t at = is_list ? 0 : 1;
  if ((!is_list && !in_ops) || location.size() <= at) return;
  error.op = index_from(location[at]);
  const Value* list_value = is_list ? &json.partial : json.partial.find(location[0]);
  const auto* list = list_value == nullptr ? nullptr : list_value->get_if<List>();
  if (list == nullptr || !error.op || *error.op >= list->size()) return;
  const Value* path = (*list)[*error.op].find("path");
  const auto* text = path == nullptr ? nullptr : path->get_if<std::string>();
  if (text != nullptr) error.path = *text;
}

}  // namespace

tl::expected<Delta, ErrorInfo> delta_from_value(const Value& value) {
  Delta delta;
  if (auto refused = read_delta(value, delta)) return tl::unexpected(std::move(*refused));
  delta.expect.values = sorted_by_path(std::move(delta.expect.values));
  delta.payload_hash = payload_hash(delta);
  return delta;
}

Value delta_to_value(const Delta& delta) { return delta_members(delta); }

tl::expected<Delta, ErrorInfo> delta_from_json(std::string_view text) {
  auto value = parse_json(text);
  if (value) return delta_from_value(*value);
  ErrorInfo error = bad_value(value.error().message);
  name_place(value.error(), error);
  return tl::unexpected(std::move(error));
}

Sha256 payload_hash(const Delta& delta) {
  std::string bytes;
  PackWriter out(bytes);
  write_payload(out, delta);
  return sha256(bytes);
}

}  // namespace tafel::codec
