// A store in memory, a pipeline that fills it, and words to talk to the services as clients do.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "blackboard/store/memory_kv.hpp"
#include "blackboard/store/store.hpp"
#include "broker/peer.hpp"
#include "broker/pipeline.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/json.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/protocol.hpp"

namespace tafel::broker::test {

inline const char* const epoch = "e0e1";

inline Value from_json(std::string_view text) {
  const auto value = codec::parse_json(text);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value ? *value : Value();
}

inline std::string message_bytes(std::string_view type, std::uint64_t id, Value body) {
  return codec::encode_message({std::string(type), id, std::move(body)});
}

inline codec::Message decoded(std::string_view bytes) {
  auto message = codec::decode_message(bytes, codec::answer_limits);
  EXPECT_TRUE(message) << (message ? "" : message.error().message);
  return message ? *message : codec::Message{};
}

// A member of a map, nil where there is none.
inline Value at(const Value& map, std::string_view name) {
  const Value* found = map.find(name);
  return found == nullptr ? Value() : *found;
}

inline List list_at(const Value& map, std::string_view name) {
  const Value member = at(map, name);
  const auto* list = member.get_if<List>();
  EXPECT_NE(list, nullptr) << name;
  return list == nullptr ? List{} : *list;
}

inline std::string text_of(const Value& value) {
  const auto* text = value.get_if<std::string>();
  return text == nullptr ? std::string() : *text;
}

inline Inbound hello(const PeerId& peer, const std::string& actor) {
  codec::Hello hello;
  hello.actor = actor;
  return {peer, message_bytes(codec::message::hello, 1, codec::to_value(hello))};
}

class ServiceFixture {
 public:
  ServiceFixture() {
    auto opened = store::open_store_with_epoch(store::open_memory(store::make_memory_disk()), random, epoch);
    EXPECT_TRUE(opened);
    store = std::move(*opened);
    pipeline = std::make_unique<Pipeline>(*store, roles);
  }

  // Commits deltas of one actor as one batch; each is JSON without its board.
  std::vector<std::shared_ptr<const Event>> commit(const std::string& board, const std::vector<std::string>& deltas,
                                                   const std::string& actor = "analyst") {
    std::vector<Submission> batch;
    for (const std::string& text : deltas) {
      Value body = from_json(text);
      body.set("board", board);
      auto delta = codec::delta_from_value(body);
      EXPECT_TRUE(delta) << text << ": " << (delta ? "" : delta.error().message);
      if (delta) batch.push_back({actor, std::move(*delta)});
    }
    return commit(batch);
  }
  std::vector<std::shared_ptr<const Event>> commit(const std::vector<Submission>& batch) {
    auto done = pipeline->commit(batch, now += 10);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    if (!done) return {};
    for (const Receipt& receipt : done->receipts) EXPECT_FALSE(receipt.error) << receipt.error->message;
    return std::move(done->events);
  }

  Head head(const std::string& board) {
    auto snapshot = store->snapshot();
    EXPECT_TRUE(snapshot);
    const auto head = (*snapshot)->head(board);
    EXPECT_TRUE(head);
    return head->value_or(Head{});
  }

  // The actor may read what the patterns say, and write everything.
  void give_role(const std::string& actor, const std::string& boards, const std::vector<std::string>& readable) {
    std::vector<Grant> grants{{*Pattern::for_boards("**"), *Pattern::for_paths("**"), ~1U, confidence_highest}};
    for (const std::string& paths : readable) {
      grants.push_back({*Pattern::for_boards(boards), *Pattern::for_paths(paths), 1U, confidence_highest});
    }
    roles.add_role("role of " + actor, std::move(grants));
    roles.add_actor(actor, {"role of " + actor});
  }
  void give_everything(const std::string& actor) { give_role(actor, "**", {"**"}); }

  codec::Welcome welcome() const {
    codec::Welcome made;
    made.epoch = epoch;
    made.server = "test";
    return made;
  }

  SeededRandom random{1};
  RoleTable roles;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Pipeline> pipeline;
  TimeMs now = 1'000'000;
};

}  // namespace tafel::broker::test
