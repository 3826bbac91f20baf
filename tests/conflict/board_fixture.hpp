// A board on the real pipeline and the store in memory, written to in JSON: one line a delta, as a user would.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "blackboard/read.hpp"
#include "blackboard/store/memory_kv.hpp"
#include "blackboard/store/store.hpp"
#include "broker/pipeline.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/json.hpp"

namespace tafel::testing {

class BoardFixture : public ::testing::Test {
 protected:
  BoardFixture() { open(); }

  // Opens the store again, as after a restart.
  void open() {
    pipeline_.reset();
    store_.reset();
    auto opened = store::Store::open(store::open_memory(disk_), random_);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
    pipeline_ = std::make_unique<broker::Pipeline>(*store_, roles_, nullptr);
  }

  Receipt apply(const std::string& json, const std::string& actor = "a") { return apply_all({json}, actor).front(); }

  // Several deltas in one batch: one commit.
  std::vector<Receipt> apply_all(const std::vector<std::string>& deltas, const std::string& actor = "a") {
    std::vector<Receipt> receipts(deltas.size());
    std::vector<broker::Submission> batch;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < deltas.size(); ++i) {
      auto delta = codec::delta_from_json(deltas[i]);
      if (!delta) {
        receipts[i].error = delta.error();
        continue;
      }
      delta->board = board_;
      batch.push_back({actor, std::move(*delta)});
      places.push_back(i);
    }
    auto committed = pipeline_->commit(batch, now_);
    EXPECT_TRUE(committed);
    for (std::size_t i = 0; committed && i < places.size(); ++i) receipts[places[i]] = committed->receipts[i];
    if (committed) events_.insert(events_.end(), committed->events.begin(), committed->events.end());
    return receipts;
  }

  blackboard::Board load() const {
    auto board = (*store_->snapshot())->load(board_, std::nullopt, std::nullopt, SIZE_MAX);
    EXPECT_TRUE(board);
    return board ? std::move(*board) : blackboard::Board();
  }
  std::string state() const { return codec::to_json(blackboard::state(load(), {now_, nullptr})); }
  std::string fields() const { return codec::to_json(blackboard::fields_map(load(), std::nullopt, {now_, nullptr})); }
  std::string suggestions() const {
    return codec::to_json(blackboard::suggestions_map(load(), std::nullopt, {now_, nullptr}, false));
  }
  Version version() const {
    const auto head = (*store_->snapshot())->head(board_);
    return head && *head ? (*head)->version : 0;
  }

  std::string board_ = "acme/trips/42";
  TimeMs now_ = 1'800'000'000'000;
  RoleTable roles_;
  SeededRandom random_{11};
  std::shared_ptr<store::MemoryKv> disk_ = store::make_memory_disk();
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<broker::Pipeline> pipeline_;
  std::vector<std::shared_ptr<const Event>> events_;
};

// "applied,unchanged(echo),held" or "!stale" for a refusal: what a receipt says, in a line.
inline std::string says(const Receipt& receipt) {
  if (receipt.error) return "!" + std::string(name_of(receipt.error->code));
  std::string text;
  for (const OpResult& op : receipt.ops) {
    if (!text.empty()) text += ",";
    text += name_of(op.outcome);
    if (op.reason) text += "(" + std::string(name_of(*op.reason)) + ")";
    if (op.error) text += "(" + std::string(name_of(op.error->code)) + ")";
  }
  return text;
}

}  // namespace tafel::testing
