// A store whose reads are counted: what a question costs on any machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "blackboard/store/kv.hpp"

namespace tafel::bench {

// A look-up is a `get`, or a record that a scan visits; a scan that visits none is one too, as it had to find its
// place.
using LookUps = std::uint64_t;

class CountingRead final : public store::KvRead {
 public:
  CountingRead(std::unique_ptr<store::KvRead> inner, LookUps& count) : inner_(std::move(inner)), count_(count) {}

  Result<std::optional<std::string>> get(store::Table table, std::string_view key) override {
    ++count_;
    return inner_->get(table, key);
  }
  Result<void> scan(store::Table table, std::string_view from, const Visitor& visit) override {
    LookUps visited = 0;
    auto scanned = inner_->scan(table, from, [&](std::string_view key, std::string_view value) {
      ++visited;
      return visit(key, value);
    });
    count_ += std::max<LookUps>(visited, 1);
    return scanned;
  }

 private:
  std::unique_ptr<store::KvRead> inner_;
  LookUps& count_;
};

// Counts into `count`, which its owner keeps alive. Transactions that write read uncounted.
class CountingKv final : public store::Kv {
 public:
  CountingKv(std::unique_ptr<store::Kv> inner, LookUps& count) : inner_(std::move(inner)), count_(count) {}

  Result<std::unique_ptr<store::KvRead>> read() override {
    auto opened = inner_->read();
    if (!opened) return opened;
    return std::make_unique<CountingRead>(std::move(*opened), count_);
  }
  Result<std::unique_ptr<store::KvWrite>> write() override { return inner_->write(); }
  Result<Usage> usage() override { return inner_->usage(); }

 private:
  std::unique_ptr<store::Kv> inner_;
  LookUps& count_;
};

}  // namespace tafel::bench
