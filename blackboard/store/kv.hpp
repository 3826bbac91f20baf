// Seam: an ordered key–value store with transactions. LMDB is one binding, memory (tests, simulation) the other. All
// layout lies above it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace tafel::store {

// Numbers stand in the files: do not renumber.
enum class Table : std::uint8_t {
  meta = 0,
  boards = 1,
  fields = 2,
  parts = 3,
  events = 4,
  receipts = 5,
  receipt_queue = 6,
  forks = 7,
  floors = 8,
  expiry = 9,
  erasures = 10
};
inline constexpr std::size_t table_count = 11;
inline constexpr std::size_t key_bytes_max = 511;  // a key has 1 to so many bytes; nothing is found under any other

class KvRead {
 public:
  using Visitor =
      std::function<bool(std::string_view key, std::string_view value)>;  // false: stop; views end with the call

  virtual ~KvRead() = default;
  virtual Result<std::optional<std::string>> get(Table table, std::string_view key) = 0;
  // Visits entries with key >= from in key order.
  virtual Result<void> scan(Table table, std::string_view from, const Visitor& visit) = 0;
};

class KvWrite : public KvRead {
 public:
  // A failure of `put` or `erase` ends the transaction.
  virtual Result<void> put(Table table, std::string_view key, std::string_view value) = 0;
  virtual Result<void> erase(Table table, std::string_view key) = 0;
  // Whether what is put from now on may take the room that is kept for removals.
  virtual void use_reserve(bool /*use*/) {}
  // What is put from now on was let in before: no quota refuses it.
  virtual void ignore_quota() {}
  // What was taken away up to now, and by this transaction, is to be nowhere outside the tables once this is committed.
  virtual void leave_no_trace() {}
  // Durable when it returns: synced to disk. After a failure other than Fault::full the state on disk is unknown and
  // the store must be opened anew. Without commit, nothing of the transaction remains.
  virtual Result<void> commit() = 0;
};

// Takes the entries of a new store, in key order within each table.
class KvAppend {
 public:
  virtual ~KvAppend() = default;
  virtual Result<void> append(Table table, std::string_view key, std::string_view value) = 0;
};

class Kv {
 public:
  virtual ~Kv() = default;
  virtual Result<std::unique_ptr<KvRead>> read() = 0;    // a snapshot; from any thread, short-lived
  virtual Result<std::unique_ptr<KvWrite>> write() = 0;  // one at a time, used on one thread; ends before the Kv
  // Bytes in use and the quota, for `stat`.
  struct Usage {
    std::uint64_t bytes = 0;
    std::uint64_t quota = 0;
  };
  virtual Result<Usage> usage() = 0;
  // How many bytes of keys and values the next transaction may add.
  struct Room {
    std::uint64_t additions = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t removals = std::numeric_limits<std::uint64_t>::max();  // at least as many; see `use_reserve`
  };
  virtual Result<Room> room() { return Room(); }
};

}  // namespace tafel::store
