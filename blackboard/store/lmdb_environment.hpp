// What every file that calls LMDB needs: its failures as ours, owners of its handles, an environment opened with our
// settings, and reading in a transaction.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "blackboard/store/kv.hpp"

struct MDB_env;
struct MDB_txn;
struct MDB_cursor;
struct MDB_val;

namespace tafel::store::lmdb {

Fault fault_of(int code);
// "the store can not <act>: …"
tl::unexpected<Failure> failure_of(const char* act, int code);

struct EnvironmentClose {
  void operator()(MDB_env* env) const;
};
using EnvironmentPointer = std::unique_ptr<MDB_env, EnvironmentClose>;

struct TransactionAbort {
  void operator()(MDB_txn* transaction) const;
};
using TransactionPointer = std::unique_ptr<MDB_txn, TransactionAbort>;

struct CursorClose {
  void operator()(MDB_cursor* cursor) const;
};
using CursorPointer = std::unique_ptr<MDB_cursor, CursorClose>;

using TableHandle = unsigned int;
using TableHandles = std::array<TableHandle, table_count>;

// How an environment is opened.
enum class Use : std::uint8_t {
  serve,  // read and written; each commit is synced, so that a power cut loses nothing that was committed
  read,   // beside the process that writes it, if there is one
  fill,   // nobody sees it before it is synced as a whole
};
// `path` is the directory of the environment. The caller sees to it that no process opens one twice.
Result<EnvironmentPointer> open_environment(const std::filesystem::path& path, std::size_t map_bytes, Use use);

// Opens the handles of all tables; where they are to be made, they are.
enum class Tables : std::uint8_t { open, make };
Result<TableHandles> open_tables(MDB_env* env, Tables tables);

MDB_val to_val(std::string_view bytes);  // of the same bytes
bool is_key(std::string_view key);       // of a length that LMDB takes
Result<std::optional<std::string>> get_value(MDB_txn* transaction, TableHandle table, std::string_view key);
Result<void> scan_values(MDB_txn* transaction, TableHandle table, std::string_view from, const KvRead::Visitor& visit);

}  // namespace tafel::store::lmdb
