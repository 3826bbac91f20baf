// A new environment of LMDB, written from its first record to its last.
#include <lmdb.h>

#include "blackboard/store/lmdb_environment.hpp"
#include "blackboard/store/lmdb_kv.hpp"
#include "common/base/limits.hpp"

namespace tafel::store {
namespace {

class LmdbAppend final : public KvAppend {
 public:
  LmdbAppend(MDB_env* env, const lmdb::TableHandles& tables) : env_(env), tables_(tables) {}

  Result<void> append(Table table, std::string_view key, std::string_view value) override {
    if (!lmdb::is_key(key)) return fail(Fault::bad_bytes, "a key has a size that no key has");
    if (auto begun = begin(); !begun) return begun;
    MDB_val key_val{key.size(), const_cast<char*>(key.data())};
    MDB_val value_val{value.size(), const_cast<char*>(value.data())};
    const auto handle = tables_[static_cast<std::size_t>(table)];
    const int code = mdb_put(transaction_.get(), handle, &key_val, &value_val, MDB_APPEND);
    if (code == MDB_KEYEXIST) return fail(Fault::bad_bytes, "the keys of a table are out of order");
    if (code != 0) return lmdb::failure_of("write", code);
    bytes_ += key.size() + value.size();
    return bytes_ < limits::copy_batch_bytes ? Result<void>() : commit();
  }

  Result<void> commit() {
    if (!transaction_) return {};
    bytes_ = 0;
    if (const int code = mdb_txn_commit(transaction_.release()); code != 0) return lmdb::failure_of("commit", code);
    return {};
  }

 private:
  Result<void> begin() {
    if (transaction_) return {};
    MDB_txn* raw = nullptr;
    if (const int code = mdb_txn_begin(env_, nullptr, 0, &raw); code != 0)
      return lmdb::failure_of("begin to write", code);
    transaction_.reset(raw);
    return {};
  }

  MDB_env* env_;
  const lmdb::TableHandles& tables_;
  lmdb::TransactionPointer transaction_;
  std::size_t bytes_ = 0;  // of the transaction
};

}  // namespace

Result<void> fill_lmdb(const std::filesystem::path& path, std::size_t map_bytes,
                       const std::function<Result<void>(KvAppend&)>& fill) {
  const auto env = lmdb::open_environment(path, map_bytes == 0 ? limits::store_map_bytes : map_bytes, lmdb::Use::fill);
  if (!env) return tl::unexpected(env.error());
  const auto tables = lmdb::open_tables(env->get(), lmdb::Tables::make);
  if (!tables) return tl::unexpected(tables.error());
  LmdbAppend append(env->get(), *tables);
  if (auto filled = fill(append); !filled) return filled;
  if (auto committed = append.commit(); !committed) return committed;
  if (const int code = mdb_env_sync(env->get(), 1); code != 0) return lmdb::failure_of("be synced", code);
  return {};
}

}  // namespace tafel::store
