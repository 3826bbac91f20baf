#include "blackboard/store/lmdb_kv.hpp"

#include <fmt/format.h>
#include <lmdb.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "blackboard/store/data_directory.hpp"
#include "blackboard/store/lmdb_environment.hpp"
#include "blackboard/store/lmdb_file.hpp"
#include "common/base/check.hpp"
#include "common/base/limits.hpp"

namespace tafel::store {
namespace {

using lmdb::CursorPointer;
using lmdb::EnvironmentPointer;
using lmdb::failure_of;
using lmdb::get_value;
using lmdb::is_key;
using lmdb::scan_values;
using lmdb::TableHandles;
using lmdb::to_val;
using lmdb::TransactionPointer;

constexpr MDB_dbi free_list = 0;
constexpr std::uint64_t readers_checked_every = 64;  // writes

Result<void> make_environment(const std::filesystem::path& path, std::size_t map_bytes) {
  const auto env = lmdb::open_environment(path, map_bytes, lmdb::Use::serve);
  if (!env) return tl::unexpected(env.error());
  const auto tables = lmdb::open_tables(env->get(), lmdb::Tables::make);
  if (!tables) return tl::unexpected(tables.error());
  if (const int code = mdb_env_sync(env->get(), 1); code != 0) return failure_of("be synced", code);
  return {};
}

// The open environment. Transactions share it, so it outlives the last of them.
class Environment {
 public:
  Environment(DataDirectory directory, EnvironmentPointer env, const TableHandles& tables, const LmdbOptions& options)
      : directory_(std::move(directory)), env_(std::move(env)), tables_(tables), options_(options) {}
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  MDB_env* env() const { return env_.get(); }
  MDB_dbi table(Table table) const { return tables_[static_cast<std::size_t>(table)]; }
  std::uint64_t quota() const { return options_.quota_bytes; }

  Result<void> usable() const {
    if (is_broken_) return fail(Fault::io, "a commit failed and the state on disk is unknown: open the store anew");
    return {};
  }
  void break_off() { is_broken_ = true; }

  bool begin_writing() {
    if (is_writing_.exchange(true)) return false;
    // A backup that was killed leaves a reader behind, for which all pages freed since would be kept.
    if (writes_++ % readers_checked_every == 0) {
      int dead = 0;
      mdb_reader_check(env(), &dead);
    }
    return true;
  }
  void end_writing() { is_writing_ = false; }

  Result<TransactionPointer> begin_read() {
    if (TransactionPointer idle = take_idle()) {
      if (mdb_txn_renew(idle.get()) == 0) return idle;
    }
    MDB_txn* raw = nullptr;
    int code = mdb_txn_begin(env(), nullptr, MDB_RDONLY, &raw);
    if (code == MDB_READERS_FULL) {
      int dead = 0;
      mdb_reader_check(env(), &dead);
      code = mdb_txn_begin(env(), nullptr, MDB_RDONLY, &raw);
    }
    if (code != 0) return failure_of("begin to read", code);
    return TransactionPointer(raw);
  }

  // An idle transaction keeps its slot in the reader table, but no snapshot.
  void end_read(TransactionPointer transaction) {
    mdb_txn_reset(transaction.get());
    const std::lock_guard lock(idle_mutex_);
    if (idle_.size() < limits::store_idle_readers_max) idle_.push_back(std::move(transaction));
  }

  // Bytes that the file needs, free pages not counted.
  Result<std::uint64_t> used_bytes() {
    const std::uint64_t bytes = file_bytes();
    const auto free = free_pages();
    if (!free) return tl::unexpected(free.error());
    return bytes - std::min(bytes, *free * page_bytes());
  }

  // How many bytes may still be added. What a removal writes, its event above all, goes on for longer.
  Result<Kv::Room> room() {
    const auto space = directory_.space();
    if (!space) return tl::unexpected(space.error());
    const std::uint64_t reserve = options_.disk_reserve_bytes.value_or(
        std::max<std::uint64_t>(limits::store_reserve_bytes_min, space->total_bytes / 20));
    const std::uint64_t for_additions = quota() / 20 * 18;
    const std::uint64_t for_removals = quota() / 20 * 19;
    // Counting the free pages costs a walk over their list: only when it decides something.
    const auto used = file_bytes() < for_additions / 2 ? Result<std::uint64_t>(file_bytes()) : used_bytes();
    if (!used) return tl::unexpected(used.error());
    const auto left = [&](std::uint64_t line, std::uint64_t kept_free) {
      return space->free_bytes < kept_free ? 0 : line - std::min(line, *used);
    };
    return Kv::Room{left(for_additions, reserve), left(for_removals, reserve / 2)};
  }

 private:
  TransactionPointer take_idle() {
    const std::lock_guard lock(idle_mutex_);
    if (idle_.empty()) return nullptr;
    TransactionPointer idle = std::move(idle_.back());
    idle_.pop_back();
    return idle;
  }

  std::uint64_t page_bytes() const {
    MDB_stat stat{};
    mdb_env_stat(env(), &stat);
    return stat.ms_psize;
  }

  std::uint64_t file_bytes() const {
    MDB_envinfo info{};
    mdb_env_info(env(), &info);
    return (info.me_last_pgno + 1) * page_bytes();
  }

  Result<std::uint64_t> free_pages() {
    auto transaction = begin_read();
    if (!transaction) return tl::unexpected(transaction.error());
    MDB_cursor* raw = nullptr;
    if (const int code = mdb_cursor_open(transaction->get(), free_list, &raw); code != 0)
      return failure_of("count pages", code);
    CursorPointer cursor(raw);
    std::uint64_t pages = 0;
    MDB_val key{};
    MDB_val value{};
    int code = 0;
    while ((code = mdb_cursor_get(raw, &key, &value, MDB_NEXT)) == 0) {
      std::size_t count = 0;
      if (value.mv_size >= sizeof count) std::memcpy(&count, value.mv_data, sizeof count);
      pages += count;
    }
    cursor.reset();
    end_read(std::move(*transaction));
    if (code != MDB_NOTFOUND) return failure_of("count pages", code);
    return pages;
  }

  DataDirectory directory_;  // first, so that its lock is given back last
  EnvironmentPointer env_;
  const TableHandles tables_;
  const LmdbOptions options_;
  std::atomic<bool> is_broken_ = false;
  std::atomic<bool> is_writing_ = false;
  std::uint64_t writes_ = 0;              // of whoever writes
  std::mutex idle_mutex_;                 // guards idle_: any thread may read, and each takes and gives back in passing
  std::vector<TransactionPointer> idle_;  // after env_, so that it goes first
};

class LmdbRead final : public KvRead {
 public:
  LmdbRead(std::shared_ptr<Environment> environment, TransactionPointer transaction)
      : environment_(std::move(environment)), transaction_(std::move(transaction)) {}
  ~LmdbRead() override { environment_->end_read(std::move(transaction_)); }

  Result<std::optional<std::string>> get(Table table, std::string_view key) override {
    return get_value(transaction_.get(), environment_->table(table), key);
  }
  Result<void> scan(Table table, std::string_view from, const Visitor& visit) override {
    return scan_values(transaction_.get(), environment_->table(table), from, visit);
  }

 private:
  std::shared_ptr<Environment> environment_;
  TransactionPointer transaction_;
};

class LmdbWrite final : public KvWrite {
 public:
  LmdbWrite(std::shared_ptr<Environment> environment, TransactionPointer transaction, Kv::Room room)
      : environment_(std::move(environment)), transaction_(std::move(transaction)), room_(room) {}
  ~LmdbWrite() override {
    transaction_.reset();
    environment_->end_writing();
  }

  Result<std::optional<std::string>> get(Table table, std::string_view key) override {
    if (!transaction_) return closed_failure();
    return get_value(transaction_.get(), environment_->table(table), key);
  }

  Result<void> scan(Table table, std::string_view from, const Visitor& visit) override {
    if (!transaction_) return closed_failure();
    return scan_values(transaction_.get(), environment_->table(table), from, visit);
  }

  Result<void> put(Table table, std::string_view key, std::string_view value) override {
    if (!transaction_) return closed_failure();
    TAFEL_CHECK(is_key(key), "a key has 1 to 511 bytes");
    added_ += key.size() + value.size();
    // Well before LMDB's own end: a full map can not even be emptied, since that takes pages too.
    if (!ignores_quota_ && added_ > (uses_reserve_ ? room_.removals : room_.additions))
      return given_up(fail(Fault::full, "the store is full: its quota or the disk has no room left"));
    MDB_val key_val = to_val(key);
    MDB_val value_val = to_val(value);
    const int code = mdb_put(transaction_.get(), environment_->table(table), &key_val, &value_val, 0);
    if (code != 0) return given_up(failure_of("write", code));
    return {};
  }

  Result<void> erase(Table table, std::string_view key) override {
    if (!transaction_) return closed_failure();
    TAFEL_CHECK(is_key(key), "a key has 1 to 511 bytes");
    MDB_val key_val = to_val(key);
    const int code = mdb_del(transaction_.get(), environment_->table(table), &key_val, nullptr);
    if (code != 0 && code != MDB_NOTFOUND) return given_up(failure_of("write", code));
    return {};
  }

  void use_reserve(bool use) override { uses_reserve_ = use; }
  void ignore_quota() override { ignores_quota_ = true; }

  Result<void> commit() override {
    if (!transaction_) return closed_failure();
    if (auto usable = environment_->usable(); !usable) return usable;
    const int code = mdb_txn_commit(transaction_.release());
    if (code == 0) return {};
    if (lmdb::fault_of(code) == Fault::full) return failure_of("commit", code);
    // Part of it may be on disk, and a second sync would report success for pages that the first one lost: only a fresh
    // start is safe.
    environment_->break_off();
    return fail(Fault::io, fmt::format("the store can not commit: {}", mdb_strerror(code)));
  }

 private:
  static tl::unexpected<Failure> closed_failure() { return fail(Fault::closed, "the transaction has ended"); }

  // A transaction in which something could not be done is not to be committed without it.
  tl::unexpected<Failure> given_up(tl::unexpected<Failure> failure) {
    transaction_.reset();
    return failure;
  }

  std::shared_ptr<Environment> environment_;
  TransactionPointer transaction_;
  const Kv::Room room_;
  std::uint64_t added_ = 0;
  bool uses_reserve_ = false;
  bool ignores_quota_ = false;
};

class LmdbKv final : public Kv {
 public:
  explicit LmdbKv(std::shared_ptr<Environment> environment) : environment_(std::move(environment)) {}

  Result<std::unique_ptr<KvRead>> read() override {
    if (auto usable = environment_->usable(); !usable) return tl::unexpected(usable.error());
    auto transaction = environment_->begin_read();
    if (!transaction) return tl::unexpected(transaction.error());
    return std::make_unique<LmdbRead>(environment_, std::move(*transaction));
  }

  Result<std::unique_ptr<KvWrite>> write() override {
    if (auto usable = environment_->usable(); !usable) return tl::unexpected(usable.error());
    const auto room = environment_->room();
    if (!room) return tl::unexpected(room.error());
    // LMDB would wait for the other transaction, for ever when that is on this thread.
    if (!environment_->begin_writing()) return fail(Fault::busy, "another transaction is writing");
    MDB_txn* raw = nullptr;
    if (const int code = mdb_txn_begin(environment_->env(), nullptr, 0, &raw); code != 0) {
      environment_->end_writing();
      return failure_of("begin to write", code);
    }
    return std::make_unique<LmdbWrite>(environment_, TransactionPointer(raw), *room);
  }

  Result<Usage> usage() override {
    if (auto usable = environment_->usable(); !usable) return tl::unexpected(usable.error());
    const auto used = environment_->used_bytes();
    if (!used) return tl::unexpected(used.error());
    return Usage{*used, environment_->quota()};
  }

  Result<Room> room() override { return environment_->room(); }

 private:
  std::shared_ptr<Environment> environment_;
};

}  // namespace

Result<std::unique_ptr<Kv>> open_lmdb(const LmdbOptions& given) {
  LmdbOptions options = given;
  if (options.map_bytes == 0) options.map_bytes = limits::store_map_bytes;
  if (options.quota_bytes == 0) options.quota_bytes = std::min(limits::store_quota_bytes, options.map_bytes);
  auto directory = DataDirectory::open(options.directory);
  if (!directory) return tl::unexpected(directory.error());
  std::error_code error;
  if (!std::filesystem::exists(directory->store(), error)) {
    const auto made =
        directory->make_store([&](const auto& path) { return make_environment(path, options.map_bytes); });
    if (!made) return tl::unexpected(made.error());
  }
  if (auto checked = check_lmdb_file(directory->store() / "data.mdb", options.walk_bytes_max); !checked) {
    return tl::unexpected(checked.error());
  }
  auto env = lmdb::open_environment(directory->store(), options.map_bytes, lmdb::Use::serve);
  if (!env) return tl::unexpected(env.error());
  const auto tables = lmdb::open_tables(env->get(), lmdb::Tables::open);
  if (!tables) return tl::unexpected(tables.error());
  return std::make_unique<LmdbKv>(
      std::make_shared<Environment>(std::move(*directory), std::move(*env), *tables, options));
}

}  // namespace tafel::store
