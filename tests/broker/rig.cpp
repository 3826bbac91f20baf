#include "tests/broker/rig.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "blackboard/read.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/json.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::testing {

Value json(std::string_view text) {
  auto value = codec::parse_json(text);
  if (!value) ADD_FAILURE() << "no JSON: " << text << ": " << value.error().message;
  return value ? *value : Value();
}

Delta delta(std::string_view text, const std::string& on_board) {
  Value map = json(text);
  map.set("board", on_board);
  auto read = codec::delta_from_value(map);
  if (!read) ADD_FAILURE() << "no delta: " << text << ": " << read.error().message;
  return read ? *read : Delta();
}

Value value_in(store::Store& store, std::string_view path, const std::string& on_board) {
  auto snapshot = store.snapshot();
  if (!snapshot) return "no snapshot: " + snapshot.error().message;
  const Path at = *Path::parse(path);
  const auto loaded = (*snapshot)->load(on_board, at, std::nullopt, 1U << 20U);
  if (!loaded) return "not loaded: " + loaded.error().message;
  return blackboard::value_at(*loaded, at, {}).value_or(Value());
}

Rig::Rig() { open(); }

void Rig::open() { put_under(store::open_memory(disk)); }

void Rig::reopen() {
  pipeline_.reset();
  store_.reset();
  open();
}

void Rig::put_under(std::unique_ptr<store::Kv> kv) {
  pipeline_.reset();
  store_.reset();
  auto opened = store::open_store_with_epoch(std::move(kv), random_, "e1");
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  store_ = std::move(*opened);
  pipeline_ = std::make_unique<broker::Pipeline>(*store_, roles);
}

Receipt Rig::commit(std::string_view text, const std::string& actor) {
  auto committed = commit_all({{actor, delta(text)}});
  if (!committed) ADD_FAILURE() << committed.error().message;
  return committed ? committed->receipts.at(0) : Receipt();
}

Result<broker::Committed> Rig::commit_all(const std::vector<broker::Submission>& batch) {
  return pipeline_->commit(batch, now);
}

broker::Inbound inbound(const std::string& peer, std::string_view type, std::uint64_t id, Value body) {
  return {peer, codec::encode_message({std::string(type), id, std::move(body)})};
}

broker::Inbound hello(const std::string& peer, const std::string& actor, std::uint64_t id) {
  codec::Hello body;
  body.actor = actor;
  return inbound(peer, codec::message::hello, id, codec::to_value(body));
}

std::vector<Receipt> receipts_in(const codec::Message& message) {
  std::vector<Receipt> receipts;
  EXPECT_EQ(message.type, codec::message::receipts);
  const List* items = message.body.get_if<List>();
  if (items == nullptr) return receipts;
  for (const Value& item : *items) {
    auto receipt = codec::receipt_from_value(item);
    if (!receipt) ADD_FAILURE() << receipt.error().message;
    if (receipt) receipts.push_back(std::move(*receipt));
  }
  return receipts;
}

std::string error_code_in(const codec::Message& message) {
  if (message.type != codec::message::error) return {};
  const auto error = codec::error_from_value(message.body);
  return error ? std::string(name_of(error->code)) : "unreadable error: " + error.error().message;
}

}  // namespace tafel::testing
