// A store that calls a test before and after each of its commits, on the thread that commits.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "tests/forwarding_kv.hpp"

namespace tafel::testing {

struct Hooks {
  std::function<void()> before_commit = [] {};
  std::function<void()> after_commit = [] {};
};

class HookedWrite final : public ForwardingWrite {
 public:
  HookedWrite(std::unique_ptr<store::KvWrite> inner, std::shared_ptr<Hooks> hooks)
      : ForwardingWrite(std::move(inner)), hooks_(std::move(hooks)) {}

  Result<void> commit() override {
    hooks_->before_commit();
    auto committed = ForwardingWrite::commit();
    hooks_->after_commit();
    return committed;
  }

 private:
  std::shared_ptr<Hooks> hooks_;
};

class HookedKv final : public ForwardingKv {
 public:
  HookedKv(std::unique_ptr<store::Kv> inner, std::shared_ptr<Hooks> hooks)
      : ForwardingKv(std::move(inner)), hooks_(std::move(hooks)) {}

  Result<std::unique_ptr<store::KvWrite>> write() override {
    auto opened = ForwardingKv::write();
    if (!opened) return opened;
    return std::make_unique<HookedWrite>(std::move(*opened), hooks_);
  }

 private:
  std::shared_ptr<Hooks> hooks_;
};

}  // namespace tafel::testing
