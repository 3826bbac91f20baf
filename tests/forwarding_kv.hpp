// A store that passes everything on to another one: a test derives from it and overrides what it is about.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "blackboard/store/kv.hpp"

namespace tafel::testing {

class ForwardingWrite : public store::KvWrite {
 public:
  explicit ForwardingWrite(std::unique_ptr<store::KvWrite> inner) : inner_(std::move(inner)) {}

  Result<std::optional<std::string>> get(store::Table table, std::string_view key) override {
    return inner_->get(table, key);
  }
  Result<void> scan(store::Table table, std::string_view from, const Visitor& visit) override {
    return inner_->scan(table, from, visit);
  }
  Result<void> put(store::Table table, std::string_view key, std::string_view value) override {
    return inner_->put(table, key, value);
  }
  Result<void> erase(store::Table table, std::string_view key) override { return inner_->erase(table, key); }
  void use_reserve(bool use) override { inner_->use_reserve(use); }
  void ignore_quota() override { inner_->ignore_quota(); }
  void leave_no_trace() override { inner_->leave_no_trace(); }
  Result<void> commit() override { return inner_->commit(); }

 private:
  std::unique_ptr<store::KvWrite> inner_;
};

class ForwardingKv : public store::Kv {
 public:
  explicit ForwardingKv(std::unique_ptr<store::Kv> inner) : inner_(std::move(inner)) {}

  Result<std::unique_ptr<store::KvRead>> read() override { return inner_->read(); }
  Result<std::unique_ptr<store::KvWrite>> write() override { return inner_->write(); }
  Result<Usage> usage() override { return inner_->usage(); }
  Result<Room> room() override { return inner_->room(); }

 private:
  std::unique_ptr<store::Kv> inner_;
};

}  // namespace tafel::testing
