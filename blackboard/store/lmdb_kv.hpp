// The LMDB binding: one environment per data directory, default (full) sync, locked for the life of the object.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "blackboard/store/kv.hpp"

namespace tafel::store {

struct LmdbOptions {
  std::filesystem::path directory;  // created (0700) when it is not there
  std::size_t map_bytes = 0;        // 0: limits::store_map_bytes
  std::size_t quota_bytes = 0;      // 0: limits::store_quota_bytes; additions are refused at 90 % of it
  // Additions are refused when the disk has less left; nullopt: 64 MiB or 5 % of the disk, whichever is more.
  std::optional<std::uint64_t> disk_reserve_bytes;
  // Every page of a data file up to this size is checked before it is opened.
  std::uint64_t walk_bytes_max = 256ULL * 1024 * 1024;
};

// Fault::locked when another process holds the directory; Fault::bad_bytes for a foreign, truncated or damaged file,
// which stays untouched (a newer format is refused by Store::open); Fault::bad_config for a directory on a network file
// system.
Result<std::unique_ptr<Kv>> open_lmdb(const LmdbOptions& options);

// A store to be read only, from a process of its own, beside a server that runs or alone: it takes no lock and changes
// nothing. Never in a process that has the store open otherwise (closing the second one gives the locks of both back).
// A long read keeps the pages that the server frees meanwhile from being used again.
Result<std::unique_ptr<Kv>> open_lmdb_reader(const LmdbOptions& options);

// Looks at every page of the store in a directory that no server runs on; false, and nothing is looked at, when one
// does. Fault::bad_bytes names the page that is damaged.
Result<bool> walk_quiet_store(const std::filesystem::path& directory);

// Makes an environment in the empty directory `path`, lets `fill` append all its records, and syncs it.
Result<void> fill_lmdb(const std::filesystem::path& path, std::size_t map_bytes,
                       const std::function<Result<void>(KvAppend&)>& fill);

}  // namespace tafel::store
