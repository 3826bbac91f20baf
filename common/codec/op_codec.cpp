#include "common/codec/op_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/codec/fields.hpp"
#include "common/codec/pointer.hpp"
#include "common/codec/schema_codec.hpp"
#include "common/model/names.hpp"

namespace tafel::codec {
namespace {

// The members that an op may have beside op, path, confidence, ttl_ms and assert.
struct Shape {
  std::string_view name;
  Verb verb;
  bool has_pointers;  // JSON Patch
  std::array<std::string_view, 3> members;
};

constexpr std::array<Shape, 22> shapes{{
    {"set", Verb::set, false, {"value"}},
    {"patch", Verb::patch, false, {"add", "remove", "reset"}},
    {"incr", Verb::incr, false, {"by"}},
    {"max", Verb::max, false, {"value"}},
    {"min", Verb::min, false, {"value"}},
    {"append", Verb::append, false, {"value"}},
    {"unset", Verb::unset, false, {"entry"}},
    {"accept", Verb::accept, false, {"suggestion"}},
    {"dismiss", Verb::dismiss, false, {"suggestion"}},
    {"schema", Verb::schema, false, {"value"}},
    {"fork", Verb::fork, false, {"value"}},
    {"merge", Verb::merge, false, {"value"}},
    {"erase", Verb::erase, false, {}},
    {"tag", Verb::tag, false, {"value"}},
    {"retain", Verb::retain, false, {"value"}},
    {"delete", Verb::delete_board, false, {}},
    {"revert", Verb::revert, false, {"to", "actor", "since"}},
    {"add", Verb::set, true, {"value"}},
    {"replace", Verb::set, true, {"value"}},
    {"remove", Verb::unset, true, {}},
    {"copy", Verb::copy, true, {"from"}},
    {"move", Verb::move, true, {"from"}},
}};

constexpr std::array<std::string_view, 5> common_members{"op", "path", "confidence", "ttl_ms", "assert"};
constexpr std::array<std::string_view, 11> verb_members{"value",      "add",  "remove", "reset", "by",   "entry",
                                                        "suggestion", "from", "to",     "actor", "since"};

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Shape* shape_of(std::string_view name) {
  const auto at = std::find_if(shapes.begin(), shapes.end(), [name](const Shape& shape) { return shape.name == name; });
  return at == shapes.end() ? nullptr : &*at;
}

std::vector<std::string_view> member_names(const Shape& shape) {
  std::vector<std::string_view> names(common_members.begin(), common_members.end());
  for (const std::string_view name : shape.members) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

std::string unknown_verb_message(const Value& name) {
  std::vector<std::string_view> names;
  for (const Shape& shape : shapes) names.push_back(shape.name);
  names.push_back("test");
  return fmt::format("unknown op {}; it is one of {}", brief(name), spoken_list(names));
}

// Reads one op. The first defect is kept; what comes after it is read all the same, for the path helps the error.
class OpReader {
 public:
  explicit OpReader(const Value& value) : value_(value) {}

  Op read() {
    const Value* name = value_.find("op");
    const auto* text = name == nullptr ? nullptr : name->get_if<std::string>();
    if (value_.get_if<Map>() == nullptr) {
      refuse_verb("an op is a map, as {\"op\": \"set\", \"path\": \"budget.max\", \"value\": 15000}");
    } else if (text == nullptr) {
      read_plain_path();
      refuse_verb("an op needs a member \"op\" that names its verb, as \"set\"");
    } else if (const Shape* shape = shape_of(*text)) {
      read_shape(*shape);
    } else {
      read_plain_path();
      refuse_verb(unknown_verb_message(*name));
    }
    return std::move(op_);
  }

 private:
  void read_shape(const Shape& shape) {
    op_.verb = shape.verb;
    shape.has_pointers ? read_pointers(shape) : read_plain_path();
    if (op_.path.empty() && op_.verb == Verb::fork) op_.path = fork_path;
    if (op_.path.empty() && op_.verb == Verb::merge) op_.path = merge_path;
    if (op_.path.empty() && op_.verb == Verb::delete_board) op_.path = board_path;
    if (op_.path.empty() && value_.find("path") == nullptr) refuse_path(fmt::format("{} needs \"path\"", shape.name));
    check_members(shape);
    read_common();
    read_own(shape);
  }

  void read_plain_path() {
    const Value* path = value_.find("path");
    if (path == nullptr) return;
    if (const auto* text = path->get_if<std::string>()) {
      op_.path = *text;
    } else {
      refuse_path(fmt::format("\"path\" must be text, not {}", brief(*path)));
    }
  }

  void read_pointers(const Shape& shape);
  void read_end_of_list();
  std::optional<std::string> read_pointer(std::string_view member);
  void check_members(const Shape& shape);
  void read_common();
  void read_own(const Shape& shape);
  void read_value(const Shape& shape);
  void read_schema();
  void read_amount();
  void read_patch();
  std::optional<std::vector<Value>> read_elements(std::string_view member);
  void read_text(std::string_view member, std::string& target);
  void read_revert();
  std::optional<Version> read_version(std::string_view member);

  // A member that is there and not null: models that must fill every member write null for "not given".
  const Value* given(std::string_view member) const {
    const Value* found = value_.find(member);
    return found == nullptr || found->is_nil() ? nullptr : found;
  }

  void refuse_verb(std::string message) { keep({.is_verb = true, .message = std::move(message)}); }
  void refuse(std::string message) { keep({.is_path = false, .message = std::move(message)}); }
  void refuse_path(std::string message) { keep({.is_path = true, .message = std::move(message)}); }
  void keep(Malformed malformed) {
    if (!op_.malformed) op_.malformed = std::move(malformed);
  }

  const Value& value_;
  Op op_;
};

void OpReader::read_pointers(const Shape& shape) {
  op_.from_pointer = true;
  read_plain_path();  // as written, for the error
  const bool is_end = op_.path.ends_with("/-");
  if (is_end && shape.name == "add") return read_end_of_list();
  if (auto path = read_pointer("path")) op_.path = std::move(*path);
  if (op_.verb != Verb::copy && op_.verb != Verb::move) return;
  if (is_end) refuse_path("\"/-\", the end of a list, is understood in \"add\" only");
  if (auto from = read_pointer("from")) op_.from = std::move(*from);
}

void OpReader::read_end_of_list() {
  op_.verb = Verb::add_item;
  const auto parent = path_from_pointer(std::string_view(op_.path).substr(0, op_.path.size() - 2));
  if (!parent) return refuse_path(fmt::format("\"path\", the list before \"/-\": {}", parent.error().message));
  op_.path = *parent;
}

std::optional<std::string> OpReader::read_pointer(std::string_view member) {
  const Value* pointer = value_.find(member);
  const auto* text = pointer == nullptr ? nullptr : pointer->get_if<std::string>();
  if (text == nullptr) {
    refuse_path(fmt::format("\"{}\" must be a JSON Pointer, as \"/budget/max\"", member));
    return std::nullopt;
  }
  auto path = path_from_pointer(*text);
  if (path) return std::move(*path);
  refuse_path(fmt::format("\"{}\": {}", member, path.error().message));
  return std::nullopt;
}

void OpReader::check_members(const Shape& shape) {
  for (const auto& [key, member] : *value_.get_if<Map>()) {
    if (is_among(common_members, key) || (!key.empty() && is_among(shape.members, key))) continue;
    if (member.is_nil() && is_among(verb_members, key)) continue;  // padding of strict models
    return refuse(fmt::format("unknown member {} of {}; it may have {}", brief(Value(key)), shape.name,
                              spoken_list(member_names(shape))));
  }
}

void OpReader::read_common() {
  if (const Value* confidence = given("confidence")) {
    const auto* name = confidence->get_if<std::string>();
    op_.confidence = name == nullptr ? std::nullopt : confidence_from(*name);
    if (!op_.confidence) refuse(confidence_defect(*confidence));
  }
  if (const Value* ttl = given("ttl_ms")) op_.ttl_ms = *ttl;
  if (const Value* asserted = given("assert")) {
    const auto* flag = asserted->get_if<bool>();
    if (flag == nullptr) refuse(fmt::format("\"assert\" must be true or false, not {}", brief(*asserted)));
    op_.assert_ = flag != nullptr && *flag;
  }
}

void OpReader::read_own(const Shape& shape) {
  switch (op_.verb) {
    case Verb::set:
    case Verb::max:
    case Verb::min:
    case Verb::append:
    case Verb::add_item: return read_value(shape);
    case Verb::incr: return read_amount();
    case Verb::patch: return read_patch();
    case Verb::unset: return read_text("entry", op_.entry);
    case Verb::accept:
    case Verb::dismiss:
      if (given("suggestion") == nullptr)
        refuse(fmt::format("{} needs \"suggestion\", the id of a held suggestion", shape.name));
      return read_text("suggestion", op_.suggestion);
    case Verb::schema: read_value(shape); return read_schema();
    case Verb::fork:
    case Verb::merge:
    case Verb::tag:
    case Verb::retain: return read_value(shape);
    case Verb::revert: return read_revert();
    case Verb::erase:
    case Verb::delete_board:
    case Verb::copy:
    case Verb::move: return;
  }
}

void OpReader::read_value(const Shape& shape) {
  const Value* value = value_.find("value");
  if (value == nullptr) return refuse(fmt::format("{} needs \"value\"", shape.name));
  op_.value = *value;
  op_.has_value = true;
}

void OpReader::read_schema() {
  if (op_.value.is_nil() || find_defect(op_.value)) return;  // no schema; or a value that the judge refuses
  auto document = schema_from_value(op_.value);
  if (!document) return refuse(in_one_message(document.error()));
  op_.schema = std::make_shared<const SchemaDocument>(std::move(*document));
}

void OpReader::read_amount() {
  const Value* by = value_.find("by");
  op_.value = by == nullptr ? Value(1) : *by;
  op_.has_value = by != nullptr;
}

void OpReader::read_patch() {
  if (auto add = read_elements("add")) op_.add = std::move(*add);
  if (auto remove = read_elements("remove")) op_.remove = std::move(*remove);
  op_.reset = read_elements("reset");
}

std::optional<std::vector<Value>> OpReader::read_elements(std::string_view member) {
  const Value* elements = given(member);
  if (elements == nullptr) return std::nullopt;
  if (const auto* list = elements->get_if<List>()) return *list;
  refuse(fmt::format("\"{}\" must be a list of elements, not {}", member, brief(*elements)));
  return std::nullopt;
}

void OpReader::read_text(std::string_view member, std::string& target) {
  const Value* value = given(member);
  if (value == nullptr) return;
  if (const auto* text = value->get_if<std::string>()) {
    target = *text;
  } else {
    refuse(fmt::format("\"{}\" must be text as \"12.0\" (version.op), not {}", member, brief(*value)));
  }
}

void OpReader::read_revert() {
  op_.to = read_version("to");
  op_.since = read_version("since");
  if (const Value* actor = given("actor")) {
    const auto* name = actor->get_if<std::string>();
    const auto defect = name == nullptr ? std::optional<std::string>("must be text") : name_defect(*name);
    if (defect) refuse(fmt::format("\"actor\", whose writes go: {}", *defect));
    if (name != nullptr) op_.actor = *name;
  }
  const bool is_to = op_.to && op_.actor.empty() && !op_.since;
  const bool is_of_actor = !op_.to && !op_.actor.empty() && op_.since;
  if (!is_to && !is_of_actor)
    refuse("revert needs either \"to\", a version, or \"actor\" and \"since\", a name and a version");
}

std::optional<Version> OpReader::read_version(std::string_view member) {
  const Value* value = given(member);
  if (value == nullptr) return std::nullopt;
  if (const auto version = as_uint64(*value)) return version;
  refuse(fmt::format("\"{}\" must be a version of the board, not {}", member, brief(*value)));
  return std::nullopt;
}

// True when a segment is what JSON Patch takes for a position in a list: a number, or "-" for its end.
bool has_index(std::string_view dot_path) {
  const auto segments = pointer_segments(pointer_from_path(dot_path));
  return segments && std::any_of(segments->begin(), segments->end(), [](const std::string& segment) {
           return segment == "-" || (!segment.empty() && segment.find_first_not_of("0123456789") == std::string::npos);
         });
}

// Tells the members of an op to a sink, in the order of their names.
class OpMembers {
 public:
  explicit OpMembers(const Op& op) : op_(op) {}

  template <class Sink>
  void tell(Sink& sink) const {
    const bool is_patch = op_.verb == Verb::patch;
    if (!op_.actor.empty()) sink.text("actor", op_.actor);
    if (is_patch && !op_.add.empty()) sink.list("add", op_.add);
    if (op_.assert_) sink.flag("assert");
    if (op_.verb == Verb::incr && (op_.has_value || !(op_.value.is_nil() || op_.value == Value(1))))
      sink.value("by", op_.value);
    if (op_.confidence) sink.text("confidence", name_of(*op_.confidence));
    if (!op_.entry.empty()) sink.text("entry", op_.entry);
    if (op_.verb == Verb::copy || op_.verb == Verb::move) sink.text("from", pointer_from_path(op_.from));
    sink.text("op", verb_name());
    has_pointers() ? sink.text("path", pointer()) : sink.text("path", op_.path);
    if (is_patch && !op_.remove.empty()) sink.list("remove", op_.remove);
    if (is_patch && op_.reset) sink.list("reset", *op_.reset);
    if (op_.since) sink.version("since", *op_.since);
    if (!op_.suggestion.empty()) sink.text("suggestion", op_.suggestion);
    if (op_.to) sink.version("to", *op_.to);
    if (op_.ttl_ms) sink.value("ttl_ms", *op_.ttl_ms);
    if (has_plain_value()) sink.value("value", op_.value);
  }

 private:
  // Where a pointer and a dot path mean the same, it is the dot path that is written, so that all spellings have one
  // payload. They do not where the path may be read as an index into a list.
  bool has_pointers() const {
    if (op_.verb == Verb::copy || op_.verb == Verb::move || op_.verb == Verb::add_item) return true;
    return op_.from_pointer && (op_.verb == Verb::set || op_.verb == Verb::unset) && has_index(op_.path);
  }
  std::string_view verb_name() const {
    if (op_.verb == Verb::add_item) return "add";
    if (op_.verb == Verb::set && has_pointers()) return "replace";
    if (op_.verb == Verb::unset && has_pointers()) return "remove";
    return name_of(op_.verb);
  }
  bool has_plain_value() const {
    return op_.verb == Verb::set || op_.verb == Verb::max || op_.verb == Verb::min || op_.verb == Verb::append ||
           op_.verb == Verb::add_item || op_.verb == Verb::schema || op_.verb == Verb::fork ||
           op_.verb == Verb::merge || op_.verb == Verb::tag || op_.verb == Verb::retain;
  }
  std::string pointer() const { return pointer_from_path(op_.path) + (op_.verb == Verb::add_item ? "/-" : ""); }

  const Op& op_;
};

// Makes a map of the members.
class MapSink {
 public:
  void text(std::string_view key, std::string_view text) { add(key, Value(text)); }
  void flag(std::string_view key) { add(key, Value(true)); }
  void version(std::string_view key, Version version) { add(key, Value(version)); }
  void value(std::string_view key, const Value& value) { add(key, value); }
  void list(std::string_view key, const std::vector<Value>& list) { add(key, Value(List(list))); }
  Map take() { return std::move(members_); }

 private:
  void add(std::string_view key, Value member) { members_.emplace_back(key, std::move(member)); }

  Map members_;
};

// Counts them, for the head of a map.
class CountSink {
 public:
  void text(std::string_view, std::string_view) { ++count_; }
  void flag(std::string_view) { ++count_; }
  void version(std::string_view, Version) { ++count_; }
  void value(std::string_view, const Value&) { ++count_; }
  void list(std::string_view, const std::vector<Value>&) { ++count_; }
  std::size_t count() const { return count_; }

 private:
  std::size_t count_ = 0;
};

// Writes them, without making values of them.
class PackSink {
 public:
  PackSink(PackWriter& out, ValueSink& values) : out_(out), values_(values) {}

  void text(std::string_view key, std::string_view text) {
    out_.text(key);
    out_.text(text);
  }
  void flag(std::string_view key) {
    out_.text(key);
    out_.boolean(true);
  }
  void version(std::string_view key, Version version) {
    out_.text(key);
    out_.unsigned_integer(version);
  }
  void value(std::string_view key, const Value& value) {
    out_.text(key);
    values_.write(out_, value);
  }
  void list(std::string_view key, const std::vector<Value>& list) {
    out_.text(key);
    out_.array(list.size());
    for (const Value& item : list) values_.write(out_, item);
  }

 private:
  PackWriter& out_;
  ValueSink& values_;
};

// What our own reader may have said about an op. Longer text is a stranger's, and must not grow every receipt and
// event.
bool is_message(const std::string& text) {
  constexpr std::size_t longest = 512;
  return !text.empty() && text.size() <= longest;
}

// An op that could not be read has no members worth keeping but those that the error speaks of. A pointer may be the
// empty text.
Map malformed_members(const Op& op) {
  Map members;
  if (op.malformed->is_path) members.emplace_back("bad_path", Value(true));
  members.emplace_back("malformed", Value(op.malformed->message));
  members.emplace_back("op", Value(name_of(op.verb)));
  if (!op.path.empty() || op.from_pointer) members.emplace_back("path", Value(op.path));
  return members;
}

}  // namespace

Op op_from_value(const Value& value) {
  // A client that could not read an op sends why, so that the judge refuses it at its turn, in those words.
  if (value.find("malformed") != nullptr) {
    auto op = recorded_op_from_value(value);
    if (op && is_message(op->malformed->message)) return std::move(*op);
  }
  return OpReader(value).read();
}

Result<Op> recorded_op_from_value(const Value& value) {
  if (value.find("malformed") == nullptr) {
    Op op = op_from_value(value);
    if (op.verb == Verb::schema) op.malformed.reset();  // a document that was right once stays readable
    if (op.malformed) return fail(Fault::bad_bytes, "an op of an event: " + op.malformed->message);
    return op;
  }
  MemberReader in(value, "an op of an event");
  Op op;
  const auto verb = verb_from(in.text("op"));
  if (!verb) in.refuse("op", "the name of a verb");
  op.verb = verb.value_or(Verb::set);
  if (in.has("path")) op.path = in.text("path");
  op.from_pointer = in.has("path") && op.path.empty();
  op.malformed = Malformed{.is_path = in.has("bad_path") && in.boolean("bad_path"), .message = in.text("malformed")};
  return in.finish(std::move(op));
}

Result<std::string> path_from_pointer(std::string_view pointer) {
  const auto segments = pointer_segments(pointer);
  if (!segments) return tl::unexpected(segments.error());
  if (segments->empty()) return fail(Fault::bad_bytes, "the pointer \"\" means the whole board; name a field");
  const auto path = Path::from_segments(*segments);
  if (!path) return tl::unexpected(path.error());
  return path->text();
}

std::string spoken_list(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string confidence_defect(const Value& name) {
  return fmt::format("unknown confidence {}; it is guess, inferred, stated, confirmed or verified", brief(name));
}

Value op_to_value(const Op& op) {
  if (op.malformed) return malformed_members(op);
  MapSink members;
  OpMembers(op).tell(members);
  return members.take();
}

void write_op(PackWriter& out, const Op& op, ValueSink& values) {
  if (op.malformed) return values.write(out, malformed_members(op));
  const OpMembers members(op);
  CountSink counted;
  members.tell(counted);
  out.map(counted.count());
  PackSink written(out, values);
  members.tell(written);
}

}  // namespace tafel::codec
