// A store that calls a test before and after each of its commits, on the thread that commits.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "blackboard/store/kv.hpp"

namespace tafel::testing {

struct Hooks {
  std::function<void()> before_commit = [] {};
  std::function<void()> after_commit = [] {};
};

class HookedWrite final : public store::KvWrite {
 public:
  HookedWrite(std::unique_ptr<store::KvWrite> inner, std::shared_ptr<Hooks> hooks)
      : inner_(std::move(inner)), hooks_(std::move(hooks)) {}

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
  Result<void> commit() override {
    hooks_->before_commit();
    auto committed = inner_->commit();
    hooks_->after_commit();
    return committed;
  }

 private:
  std::unique_ptr<store::KvWrite> inner_;
  std::shared_ptr<Hooks> hooks_;
};

class HookedKv final : public store::Kv {
 public:
  HookedKv(std::unique_ptr<store::Kv> inner, std::shared_ptr<Hooks> hooks)
      : inner_(std::move(inner)), hooks_(std::move(hooks)) {}

  Result<std::unique_ptr<store::KvRead>> read() override { return inner_->read(); }
  Result<std::unique_ptr<store::KvWrite>> write() override {
    auto opened = inner_->write();
    if (!opened) return opened;
    return std::make_unique<HookedWrite>(std::move(*opened), hooks_);
  }
  Result<Usage> usage() override { return inner_->usage(); }
  Result<Room> room() override { return inner_->room(); }

 private:
  std::unique_ptr<store::Kv> inner_;
  std::shared_ptr<Hooks> hooks_;
};

}  // namespace tafel::testing
