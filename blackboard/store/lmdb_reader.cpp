// A store of LMDB that is only read, beside whoever writes it.
#include <fcntl.h>
#include <fmt/format.h>
#include <lmdb.h>
#include <sys/file.h>
#include <unistd.h>

#include <limits>

#include "blackboard/store/lmdb_environment.hpp"
#include "blackboard/store/lmdb_file.hpp"
#include "blackboard/store/lmdb_kv.hpp"
#include "common/base/limits.hpp"

namespace tafel::store {
namespace {

struct OpenReader {
  lmdb::EnvironmentPointer env;
  lmdb::TableHandles tables;
  std::uint64_t quota = 0;
};

class ReaderRead final : public KvRead {
 public:
  ReaderRead(std::shared_ptr<OpenReader> reader, lmdb::TransactionPointer transaction)
      : reader_(std::move(reader)), transaction_(std::move(transaction)) {}

  Result<std::optional<std::string>> get(Table table, std::string_view key) override {
    return lmdb::get_value(transaction_.get(), reader_->tables[static_cast<std::size_t>(table)], key);
  }
  Result<void> scan(Table table, std::string_view from, const Visitor& visit) override {
    return lmdb::scan_values(transaction_.get(), reader_->tables[static_cast<std::size_t>(table)], from, visit);
  }

 private:
  std::shared_ptr<OpenReader> reader_;
  lmdb::TransactionPointer transaction_;
};

class ReaderKv final : public Kv {
 public:
  explicit ReaderKv(OpenReader reader) : reader_(std::make_shared<OpenReader>(std::move(reader))) {}

  Result<std::unique_ptr<KvRead>> read() override {
    MDB_txn* raw = nullptr;
    if (const int code = mdb_txn_begin(reader_->env.get(), nullptr, MDB_RDONLY, &raw); code != 0)
      return lmdb::failure_of("begin to read", code);
    return std::make_unique<ReaderRead>(reader_, lmdb::TransactionPointer(raw));
  }
  Result<std::unique_ptr<KvWrite>> write() override {
    return fail(Fault::refused, "the store was opened to be read only");
  }
  Result<Usage> usage() override {
    MDB_envinfo info{};
    MDB_stat stat{};
    mdb_env_info(reader_->env.get(), &info);
    mdb_env_stat(reader_->env.get(), &stat);
    return Usage{(info.me_last_pgno + 1) * stat.ms_psize, reader_->quota};
  }

 private:
  std::shared_ptr<OpenReader> reader_;
};

// Whether nobody holds the directory right now; then all pages can be looked at, as long as this lives.
class QuietDirectory {
 public:
  explicit QuietDirectory(const std::filesystem::path& directory)
      : lock_(::open((directory / "lock").c_str(), O_RDONLY | O_CLOEXEC)) {
    is_quiet_ = lock_ >= 0 && ::flock(lock_, LOCK_SH | LOCK_NB) == 0;
  }
  QuietDirectory(const QuietDirectory&) = delete;
  QuietDirectory& operator=(const QuietDirectory&) = delete;
  ~QuietDirectory() {
    if (lock_ >= 0) ::close(lock_);
  }
  bool is_quiet() const { return is_quiet_; }

 private:
  int lock_;
  bool is_quiet_ = false;
};

Result<void> check_file(const LmdbOptions& options, const std::filesystem::path& store) {
  const QuietDirectory directory(options.directory);
  const std::filesystem::path file = store / "data.mdb";
  return directory.is_quiet() ? check_lmdb_file(file, options.walk_bytes_max) : check_lmdb_file_in_use(file);
}

}  // namespace

Result<bool> walk_quiet_store(const std::filesystem::path& path) {
  const QuietDirectory directory(path);
  if (!directory.is_quiet()) return false;
  const auto checked = check_lmdb_file(path / "store" / "data.mdb", std::numeric_limits<std::uint64_t>::max());
  if (!checked) return tl::unexpected(checked.error());
  return true;
}

Result<std::unique_ptr<Kv>> open_lmdb_reader(const LmdbOptions& options) {
  const std::filesystem::path store = options.directory / "store";
  std::error_code error;
  if (!std::filesystem::is_directory(store, error)) {
    if (std::filesystem::is_directory(options.directory / "store.old", error)) {
      return fail(Fault::busy, fmt::format("{} is being compacted, or that was cut off: the next start of a server, or "
                                           "`tafel compact`, ends it",
                                           options.directory.string()));
    }
    return fail(Fault::not_found,
                fmt::format("{} holds no store: there is no {}", options.directory.string(), store.string()));
  }
  if (auto checked = check_file(options, store); !checked) return tl::unexpected(checked.error());
  const std::size_t map_bytes = options.map_bytes == 0 ? limits::store_map_bytes : options.map_bytes;
  auto env = lmdb::open_environment(store, map_bytes, lmdb::Use::read);
  if (!env) return tl::unexpected(env.error());
  const auto tables = lmdb::open_tables(env->get(), lmdb::Tables::open);
  if (!tables) return tl::unexpected(tables.error());
  return std::make_unique<ReaderKv>(OpenReader{std::move(*env), *tables, limits::store_quota_bytes});
}

}  // namespace tafel::store
