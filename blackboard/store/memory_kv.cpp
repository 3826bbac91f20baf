#include "blackboard/store/memory_kv.hpp"

#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "blackboard/store/changes.hpp"
#include "common/base/check.hpp"

namespace tafel::store {
namespace {

using Entries = std::map<std::string, std::string, std::less<>>;
using Tables = std::array<std::shared_ptr<Entries>, table_count>;

std::size_t at(Table table) { return static_cast<std::size_t>(table); }

}  // namespace

// What survives. The mutex guards all of it: snapshots come from any thread, and tables are shared with them until the
// next commit that changes a table which a snapshot still holds; then that table is copied.
class MemoryKv {
 public:
  MemoryKv() {
    for (auto& table : tables_) table = std::make_shared<Entries>();
  }

  Tables share() {
    const std::lock_guard lock(mutex_);
    return tables_;
  }

  // Gives back what `share` gave. Under the mutex, so that a commit which finds a table unshared may change it.
  void release(Tables& tables) {
    const std::lock_guard lock(mutex_);
    tables = {};
  }

  bool begin_write() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(is_writing_, true);
  }

  void end_write() {
    const std::lock_guard lock(mutex_);
    is_writing_ = false;
  }

  Result<void> commit(Changes changes) {
    const std::lock_guard lock(mutex_);
    if (commits_to_failure_ > 0 && --commits_to_failure_ == 0) return fail(fault_, "this commit was told to fail");
    for (std::size_t i = 0; i < table_count; ++i) apply(tables_[i], changes.take(static_cast<Table>(i)));
    return {};
  }

  void fail_commit(std::uint64_t nth, Fault fault) {
    const std::lock_guard lock(mutex_);
    commits_to_failure_ = nth;
    fault_ = fault;
  }

 private:
  static void apply(std::shared_ptr<Entries>& table, Changes::Entries changes) {
    if (changes.empty()) return;
    if (table.use_count() > 1) table = std::make_shared<Entries>(*table);
    for (auto& [key, value] : changes) {
      if (value) {
        table->insert_or_assign(key, std::move(*value));
      } else {
        table->erase(key);
      }
    }
  }

  std::mutex mutex_;
  Tables tables_;
  bool is_writing_ = false;
  std::uint64_t commits_to_failure_ = 0;
  Fault fault_ = Fault::io;
};

namespace {

class MemoryRead final : public KvRead {
 public:
  explicit MemoryRead(std::shared_ptr<MemoryKv> disk) : disk_(std::move(disk)), tables_(disk_->share()) {}
  ~MemoryRead() override { disk_->release(tables_); }

  Result<std::optional<std::string>> get(Table table, std::string_view key) override {
    const Entries& entries = *tables_[at(table)];
    const auto found = entries.find(key);
    if (found == entries.end()) return std::nullopt;
    return found->second;
  }

  Result<void> scan(Table table, std::string_view from, const Visitor& visit) override {
    const Entries& entries = *tables_[at(table)];
    for (auto entry = entries.lower_bound(from); entry != entries.end(); ++entry) {
      if (!visit(entry->first, entry->second)) break;
    }
    return {};
  }

 private:
  std::shared_ptr<MemoryKv> disk_;
  Tables tables_;
};

// Set once, when the outcome of a commit is unknown: the handle refuses everything from then on.
using Broken = std::shared_ptr<std::atomic<bool>>;

tl::unexpected<Failure> broken_failure() {
  return fail(Fault::io, "a commit failed and the state on disk is unknown: open the store anew");
}

class MemoryWrite final : public KvWrite {
 public:
  MemoryWrite(std::shared_ptr<MemoryKv> disk, Broken is_broken)
      : disk_(std::move(disk)), is_broken_(std::move(is_broken)), below_(std::in_place, disk_) {}
  ~MemoryWrite() override {
    below_.reset();
    disk_->end_write();
  }

  Result<std::optional<std::string>> get(Table table, std::string_view key) override {
    if (!below_) return closed_failure();
    return get_through(layers_, *below_, table, key);
  }

  Result<void> scan(Table table, std::string_view from, const Visitor& visit) override {
    if (!below_) return closed_failure();
    return scan_through(layers_, *below_, table, from, visit);
  }

  Result<void> put(Table table, std::string_view key, std::string_view value) override {
    if (!below_) return closed_failure();
    TAFEL_CHECK(!key.empty() && key.size() <= key_bytes_max, "a key has 1 to 511 bytes");
    changes_.put(table, key, value);
    return {};
  }

  Result<void> erase(Table table, std::string_view key) override {
    if (!below_) return closed_failure();
    changes_.erase(table, key);
    return {};
  }

  Result<void> commit() override {
    if (!below_) return closed_failure();
    below_.reset();  // first, so that a table that nobody else reads is changed in place
    auto committed = disk_->commit(std::move(changes_));
    if (!committed && committed.error().fault != Fault::full) *is_broken_ = true;
    return committed;
  }

 private:
  static tl::unexpected<Failure> closed_failure() { return fail(Fault::closed, "the transaction has ended"); }

  std::shared_ptr<MemoryKv> disk_;
  Broken is_broken_;
  std::optional<MemoryRead> below_;  // none: the transaction has ended
  Changes changes_;
  const std::array<const Changes*, 1> layers_{&changes_};
};

class MemoryHandle final : public Kv {
 public:
  explicit MemoryHandle(std::shared_ptr<MemoryKv> disk) : disk_(std::move(disk)) {}

  Result<std::unique_ptr<KvRead>> read() override {
    if (*is_broken_) return broken_failure();
    return std::make_unique<MemoryRead>(disk_);
  }

  Result<std::unique_ptr<KvWrite>> write() override {
    if (*is_broken_) return broken_failure();
    if (!disk_->begin_write()) return fail(Fault::busy, "another transaction is writing");
    return std::make_unique<MemoryWrite>(disk_, is_broken_);
  }

  Result<Usage> usage() override {
    Usage usage;
    usage.quota = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t table = 0; table < table_count; ++table) {
      const auto scanned =
          MemoryRead(disk_).scan(static_cast<Table>(table), {}, [&](std::string_view key, std::string_view value) {
            usage.bytes += key.size() + value.size();
            return true;
          });
      if (!scanned) return tl::unexpected(scanned.error());
    }
    return usage;
  }

 private:
  std::shared_ptr<MemoryKv> disk_;
  Broken is_broken_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

std::shared_ptr<MemoryKv> make_memory_disk() { return std::make_shared<MemoryKv>(); }

std::unique_ptr<Kv> open_memory(std::shared_ptr<MemoryKv> disk) {
  return std::make_unique<MemoryHandle>(std::move(disk));
}

void fail_commit(MemoryKv& disk, std::uint64_t nth, Fault fault) { disk.fail_commit(nth, fault); }

}  // namespace tafel::store
