// A store in memory whose writes and reads can be made to fail, as a full or a damaged disk does.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "blackboard/store/kv.hpp"
#include "blackboard/store/memory_kv.hpp"

namespace tafel::testing {

struct Faults {
  bool full = false;                   // additions find no room
  std::optional<std::string> damaged;  // the record of this board does not read
};

class FaultyWrite final : public store::KvWrite {
 public:
  FaultyWrite(std::unique_ptr<store::KvWrite> inner, std::shared_ptr<Faults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  Result<std::optional<std::string>> get(store::Table table, std::string_view key) override {
    if (table == store::Table::boards && faults_->damaged && key == *faults_->damaged) {
      return fail(Fault::bad_bytes, "the checksum of the record does not fit");
    }
    return inner_->get(table, key);
  }
  Result<void> scan(store::Table table, std::string_view from, const Visitor& visit) override {
    return inner_->scan(table, from, visit);
  }
  Result<void> put(store::Table table, std::string_view key, std::string_view value) override {
    if (faults_->full) return fail(Fault::full, "no room");
    return inner_->put(table, key, value);
  }
  Result<void> erase(store::Table table, std::string_view key) override { return inner_->erase(table, key); }
  Result<void> commit() override { return inner_->commit(); }
  void use_reserve(bool use) override { inner_->use_reserve(use); }
  void ignore_quota() override { inner_->ignore_quota(); }
  void leave_no_trace() override { inner_->leave_no_trace(); }

 private:
  std::unique_ptr<store::KvWrite> inner_;
  std::shared_ptr<Faults> faults_;
};

class FaultyKv final : public store::Kv {
 public:
  FaultyKv(std::unique_ptr<store::Kv> inner, std::shared_ptr<Faults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  Result<std::unique_ptr<store::KvRead>> read() override { return inner_->read(); }
  Result<std::unique_ptr<store::KvWrite>> write() override {
    auto opened = inner_->write();
    if (!opened) return opened;
    return std::make_unique<FaultyWrite>(std::move(*opened), faults_);
  }
  Result<Usage> usage() override { return inner_->usage(); }
  Result<Room> room() override { return inner_->room(); }

 private:
  std::unique_ptr<store::Kv> inner_;
  std::shared_ptr<Faults> faults_;
};

}  // namespace tafel::testing
