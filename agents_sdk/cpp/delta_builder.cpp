#include "agents_sdk/cpp/agent.hpp"
#include "common/codec/retention_codec.hpp"
#include "common/model/names.hpp"

namespace tafel::sdk {
namespace {

Value named_version(std::string_view member, std::string_view board, std::optional<Version> version) {
  Value value(Map{{std::string(member), board}});
  if (version) value.set("version", *version);
  return value;
}

// The name is one segment, whatever it holds; one that can be none is refused by the server.
std::string tag_path(std::string_view name) {
  const auto path = Path::from_segments({std::string(tags_path), std::string(name)});
  return path ? path->text() : std::string(tags_path) + "." + std::string(name);
}

}  // namespace

DeltaBuilder::DeltaBuilder(Version base) { delta_.base = base; }

DeltaBuilder::DeltaBuilder(const context::Context& seen) {
  delta_.base = seen.base;
  delta_.board = seen.board;
}

DeltaBuilder& DeltaBuilder::id(std::string id) {
  delta_.id = std::move(id);
  return *this;
}

DeltaBuilder& DeltaBuilder::set(std::string_view path, Value value) {
  return add_valued(Verb::set, path, std::move(value));
}

DeltaBuilder& DeltaBuilder::add(std::string_view path, std::vector<Value> elements) {
  add_op(Verb::patch, path).add = std::move(elements);
  return *this;
}

DeltaBuilder& DeltaBuilder::remove(std::string_view path, std::vector<Value> elements) {
  add_op(Verb::patch, path).remove = std::move(elements);
  return *this;
}

DeltaBuilder& DeltaBuilder::reset(std::string_view path, std::vector<Value> elements) {
  add_op(Verb::patch, path).reset = std::move(elements);
  return *this;
}

DeltaBuilder& DeltaBuilder::incr(std::string_view path, std::int64_t by) { return add_valued(Verb::incr, path, by); }

DeltaBuilder& DeltaBuilder::max(std::string_view path, Value value) {
  return add_valued(Verb::max, path, std::move(value));
}

DeltaBuilder& DeltaBuilder::min(std::string_view path, Value value) {
  return add_valued(Verb::min, path, std::move(value));
}

DeltaBuilder& DeltaBuilder::append(std::string_view path, Value value) {
  return add_valued(Verb::append, path, std::move(value));
}

DeltaBuilder& DeltaBuilder::unset(std::string_view path) {
  add_op(Verb::unset, path);
  return *this;
}

DeltaBuilder& DeltaBuilder::accept(std::string_view path, std::string_view suggestion) {
  add_op(Verb::accept, path).suggestion = suggestion;
  return *this;
}

DeltaBuilder& DeltaBuilder::dismiss(std::string_view path, std::string_view suggestion) {
  add_op(Verb::dismiss, path).suggestion = suggestion;
  return *this;
}

DeltaBuilder& DeltaBuilder::schema(Value document, bool below) {
  return add_valued(Verb::schema, below ? schema_of_below : schema_of_board, std::move(document));
}

DeltaBuilder& DeltaBuilder::take_ops(const std::vector<Op>& ops) {
  delta_.ops.insert(delta_.ops.end(), ops.begin(), ops.end());
  return *this;
}

DeltaBuilder& DeltaBuilder::revert(std::string_view path, Version to) {
  add_op(Verb::revert, path).to = to;
  return *this;
}

DeltaBuilder& DeltaBuilder::revert_actor(std::string_view path, std::string_view actor, Version since) {
  Op& op = add_op(Verb::revert, path);
  op.actor = actor;
  op.since = since;
  return *this;
}

DeltaBuilder& DeltaBuilder::confidence(Confidence confidence) {
  delta_.confidence = confidence;
  return *this;
}

DeltaBuilder& DeltaBuilder::op_confidence(Confidence confidence) {
  if (!delta_.ops.empty()) delta_.ops.back().confidence = confidence;
  return *this;
}

DeltaBuilder& DeltaBuilder::ttl(milliseconds ttl) {
  if (!delta_.ops.empty()) delta_.ops.back().ttl_ms = Value(std::int64_t{ttl.count()});
  return *this;
}

DeltaBuilder& DeltaBuilder::assert_() {
  if (!delta_.ops.empty()) delta_.ops.back().assert_ = true;
  return *this;
}

DeltaBuilder& DeltaBuilder::source(Source source) {
  delta_.source = std::move(source);
  return *this;
}

DeltaBuilder& DeltaBuilder::expect_version(Version version) {
  delta_.expect.version = version;
  return *this;
}

DeltaBuilder& DeltaBuilder::expect(std::string_view path, Version changed) {
  delta_.expect.fields.emplace_back(path, changed);
  return *this;
}

DeltaBuilder& DeltaBuilder::expect_value(std::string_view path, Value value) {
  delta_.expect.values.emplace_back(path, std::move(value));
  return *this;
}

DeltaBuilder& DeltaBuilder::atomic(bool atomic) {
  delta_.atomic = atomic;
  return *this;
}

DeltaBuilder& DeltaBuilder::check(bool check) {
  delta_.check = check;
  return *this;
}

DeltaBuilder& DeltaBuilder::fork(std::string_view parent, std::optional<Version> version) {
  return add_valued(Verb::fork, fork_path, named_version("parent", parent, version));
}

DeltaBuilder& DeltaBuilder::merge(std::string_view fork, std::optional<Version> version) {
  return add_valued(Verb::merge, merge_path, named_version("fork", fork, version));
}

DeltaBuilder& DeltaBuilder::erase(std::string_view path) {
  add_op(Verb::erase, path);
  return *this;
}

DeltaBuilder& DeltaBuilder::tag(std::string_view name, Version version) {
  return add_valued(Verb::tag, tag_path(name), version);
}

DeltaBuilder& DeltaBuilder::untag(std::string_view name) { return add_valued(Verb::tag, tag_path(name), Nil{}); }

DeltaBuilder& DeltaBuilder::retain(const std::optional<Retention>& retention) {
  return add_valued(Verb::retain, retention_path, retention ? codec::retention_to_value(*retention) : Value());
}

DeltaBuilder& DeltaBuilder::delete_board() {
  add_op(Verb::delete_board, board_path);
  return *this;
}

Op& DeltaBuilder::add_op(Verb verb, std::string_view path) {
  Op& op = delta_.ops.emplace_back();
  op.verb = verb;
  op.path = path;
  return op;
}

DeltaBuilder& DeltaBuilder::add_valued(Verb verb, std::string_view path, Value value) {
  Op& op = add_op(verb, path);
  op.value = std::move(value);
  op.has_value = true;
  return *this;
}

}  // namespace tafel::sdk
