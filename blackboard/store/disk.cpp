#include "blackboard/store/disk.hpp"

#include <algorithm>
#include <utility>

#include "blackboard/store/format.hpp"

namespace tafel::store {
namespace {

// Within the environment's directory, so that both are made, replaced and removed together.
std::filesystem::path journal_of(const LmdbOptions& options) { return options.directory / "store" / "journal"; }

class DiskReader final : public Kv {
 public:
  DiskReader(std::unique_ptr<Kv> store, std::filesystem::path journal)
      : store_(std::move(store)), journal_(std::move(journal)) {}

  Result<std::unique_ptr<KvRead>> read() override { return read_with_journal(*store_, journal_); }
  Result<std::unique_ptr<KvWrite>> write() override { return store_->write(); }
  Result<Usage> usage() override { return store_->usage(); }

 private:
  std::unique_ptr<Kv> store_;
  std::filesystem::path journal_;
};

Result<void> refuse_other_formats(Kv& store) {
  const auto read = store.read();
  if (!read) return tl::unexpected(read.error());
  const auto known = has_format(**read);
  if (!known) return tl::unexpected(known.error());
  return {};
}

}  // namespace

Result<std::unique_ptr<Kv>> open_disk(const LmdbOptions& given, Random& random, const JournalOptions& journal) {
  LmdbOptions options = given;
  if (options.map_bytes == 0) options.map_bytes = limits::store_map_bytes;
  if (options.quota_bytes == 0) options.quota_bytes = limits::store_quota_bytes;
  // What was acknowledged must find room when it is written back, so that the map may not be the first to end.
  options.quota_bytes = std::min(options.quota_bytes, options.map_bytes);
  auto store = open_lmdb(options);
  if (!store) return store;
  if (auto refused = refuse_other_formats(**store); !refused) return tl::unexpected(refused.error());
  return open_journaled(std::move(*store), journal_of(options), random, journal);
}

Result<std::unique_ptr<Kv>> open_disk_reader(const LmdbOptions& options) {
  auto store = open_lmdb_reader(options);
  if (!store) return store;
  return std::make_unique<DiskReader>(std::move(*store), journal_of(options));
}

}  // namespace tafel::store
