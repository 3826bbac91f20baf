// Where the fields and cells of boards are read from: one transaction on the store, or what is kept of it decoded
// (record_cache.hpp).
#pragma once

#include <memory>

#include "blackboard/store/board_reader.hpp"

namespace tafel::store {

using FieldPointer = std::shared_ptr<const FieldRecord>;  // null: nothing was ever written to the field
using PartPointer = std::shared_ptr<const StoredCell>;    // null: nothing was ever written to the cell

class Records {
 public:
  virtual ~Records() = default;
  virtual Result<FieldPointer> field(BoardNumber number, const Path& path) = 0;
  virtual Result<PartPointer> part(BoardNumber number, const CellKey& key) = 0;
  // As store::scan_parts.
  virtual Result<void> scan_parts(BoardNumber number, const Path& path, Part part, const PartVisitor& visit) = 0;
  // For everything else that is read: all that was written stands in it.
  virtual Result<KvRead*> kv() = 0;
};

// Reads each record when it is asked for. `kv` outlives it.
class PlainRecords final : public Records {
 public:
  explicit PlainRecords(KvRead& kv) : kv_(kv) {}

  Result<FieldPointer> field(BoardNumber number, const Path& path) override {
    auto record = get_field(kv_, number, path);
    if (!record) return tl::unexpected(record.error());
    return *record ? std::make_shared<const FieldRecord>(std::move(**record)) : nullptr;
  }
  Result<PartPointer> part(BoardNumber number, const CellKey& key) override {
    auto record = get_part(kv_, number, key);
    if (!record) return tl::unexpected(record.error());
    return *record ? std::make_shared<const StoredCell>(std::move(**record)) : nullptr;
  }
  Result<void> scan_parts(BoardNumber number, const Path& path, Part part, const PartVisitor& visit) override {
    return store::scan_parts(kv_, number, path, part, visit);
  }
  Result<KvRead*> kv() override { return &kv_; }

 private:
  KvRead& kv_;
};

}  // namespace tafel::store
