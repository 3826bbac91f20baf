#include "blackboard/store/lmdb_environment.hpp"

#include <fmt/format.h>
#include <lmdb.h>

#include "blackboard/store/durable_files.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/limits.hpp"

namespace tafel::store::lmdb {
namespace {

// Never WRITEMAP: it loses what was committed, and a full disk then ends the process. NOTLS: a read transaction belongs
// to its object, not to the thread.
unsigned flags_of(Use use) {
  switch (use) {
    case Use::serve: return MDB_NOTLS;
    case Use::read: return MDB_NOTLS | MDB_RDONLY;
    case Use::fill: return MDB_NOTLS | MDB_NOSYNC;
  }
  return MDB_NOTLS;
}

std::string_view to_view(const MDB_val& val) { return {static_cast<const char*>(val.mv_data), val.mv_size}; }

}  // namespace

Fault fault_of(int code) {
  switch (code) {
    case MDB_MAP_FULL:
    case MDB_TXN_FULL: return Fault::full;
    case MDB_READERS_FULL: return Fault::busy;
    case MDB_BAD_TXN: return Fault::closed;
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
    case MDB_NOTFOUND:
    case MDB_CURSOR_FULL:
    case MDB_INCOMPATIBLE: return Fault::bad_bytes;
    default: return Fault::io;
  }
}

tl::unexpected<Failure> failure_of(const char* act, int code) {
  return fail(fault_of(code), fmt::format("the store can not {}: {}", act, mdb_strerror(code)));
}

void EnvironmentClose::operator()(MDB_env* env) const { mdb_env_close(env); }
void TransactionAbort::operator()(MDB_txn* transaction) const { mdb_txn_abort(transaction); }
void CursorClose::operator()(MDB_cursor* cursor) const { mdb_cursor_close(cursor); }

Result<EnvironmentPointer> open_environment(const std::filesystem::path& path, std::size_t map_bytes, Use use) {
  constexpr std::size_t page_multiple = 65536;
  MDB_env* raw = nullptr;
  if (const int code = mdb_env_create(&raw); code != 0) return failure_of("be set up", code);
  EnvironmentPointer env(raw);
  mdb_env_set_maxdbs(raw, table_count);
  mdb_env_set_maxreaders(raw, limits::store_readers_max);
  mdb_env_set_mapsize(raw, map_bytes / page_multiple * page_multiple);
  if (const int code = mdb_env_open(raw, path.c_str(), flags_of(use), private_file); code != 0) {
    return failure_of("be opened", code);
  }
  int dead = 0;
  mdb_reader_check(raw, &dead);  // a killed process leaves its readers behind
  return env;
}

Result<TableHandles> open_tables(MDB_env* env, Tables tables) {
  const bool makes = tables == Tables::make;
  MDB_txn* raw = nullptr;
  if (const int code = mdb_txn_begin(env, nullptr, makes ? 0 : MDB_RDONLY, &raw); code != 0) {
    return failure_of("begin a transaction", code);
  }
  TransactionPointer transaction(raw);
  TableHandles handles{};
  for (std::size_t i = 0; i < table_count; ++i) {
    const char* name = table_name(static_cast<Table>(i));
    const int code = mdb_dbi_open(raw, name, makes ? MDB_CREATE : 0, &handles[i]);
    if (code == MDB_NOTFOUND)
      return fail(Fault::bad_bytes, fmt::format("the data file has no table {}: it is foreign or damaged", name));
    if (code != 0) return failure_of("open a table", code);
  }
  if (const int code = mdb_txn_commit(transaction.release()); code != 0) return failure_of("commit", code);
  return handles;
}

MDB_val to_val(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }

bool is_key(std::string_view key) { return !key.empty() && key.size() <= key_bytes_max; }

Result<std::optional<std::string>> get_value(MDB_txn* transaction, TableHandle table, std::string_view key) {
  if (!is_key(key)) return std::nullopt;
  MDB_val wanted = to_val(key);
  MDB_val found{};
  const int code = mdb_get(transaction, table, &wanted, &found);
  if (code == MDB_NOTFOUND) return std::nullopt;
  if (code != 0) return failure_of("read", code);
  if (found.mv_size > limits::store_value_bytes_max) return failure_of("read", MDB_CORRUPTED);
  return std::string(to_view(found));
}

Result<void> scan_values(MDB_txn* transaction, TableHandle table, std::string_view from, const KvRead::Visitor& visit) {
  MDB_cursor* raw = nullptr;
  if (const int code = mdb_cursor_open(transaction, table, &raw); code != 0) return failure_of("read", code);
  const CursorPointer cursor(raw);
  const std::string_view start = from.substr(0, key_bytes_max);
  MDB_val key = to_val(start);
  MDB_val value{};
  int code = mdb_cursor_get(raw, &key, &value, start.empty() ? MDB_FIRST : MDB_SET_RANGE);
  // What was cut off puts `from` behind the key that equals the rest.
  if (code == 0 && start != from && to_view(key) == start) code = mdb_cursor_get(raw, &key, &value, MDB_NEXT);
  while (code == 0) {
    if (value.mv_size > limits::store_value_bytes_max) return failure_of("read", MDB_CORRUPTED);
    if (!visit(to_view(key), to_view(value))) return {};
    code = mdb_cursor_get(raw, &key, &value, MDB_NEXT);
  }
  if (code != MDB_NOTFOUND) return failure_of("read", code);
  return {};
}

}  // namespace tafel::store::lmdb
