// A store in memory whose writes and reads can be made to fail, as a full or a damaged disk does.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "blackboard/store/memory_kv.hpp"
#include "tests/forwarding_kv.hpp"

namespace tafel::testing {

struct Faults {
  bool full = false;                   // additions find no room
  std::optional<std::string> damaged;  // the record of this board does not read
};

class FaultyWrite final : public ForwardingWrite {
 public:
  FaultyWrite(std::unique_ptr<store::KvWrite> inner, std::shared_ptr<Faults> faults)
      : ForwardingWrite(std::move(inner)), faults_(std::move(faults)) {}

  Result<std::optional<std::string>> get(store::Table table, std::string_view key) override {
    if (table == store::Table::boards && faults_->damaged && key == *faults_->damaged) {
      return fail(Fault::bad_bytes, "the checksum of the record does not fit");
    }
    return ForwardingWrite::get(table, key);
  }
  Result<void> put(store::Table table, std::string_view key, std::string_view value) override {
    if (faults_->full) return fail(Fault::full, "no room");
    return ForwardingWrite::put(table, key, value);
  }

 private:
  std::shared_ptr<Faults> faults_;
};

class FaultyKv final : public ForwardingKv {
 public:
  FaultyKv(std::unique_ptr<store::Kv> inner, std::shared_ptr<Faults> faults)
      : ForwardingKv(std::move(inner)), faults_(std::move(faults)) {}

  Result<std::unique_ptr<store::KvWrite>> write() override {
    auto opened = ForwardingKv::write();
    if (!opened) return opened;
    return std::make_unique<FaultyWrite>(std::move(*opened), faults_);
  }

 private:
  std::shared_ptr<Faults> faults_;
};

}  // namespace tafel::testing
