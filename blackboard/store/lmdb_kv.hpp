// The LMDB binding: one environment per data directory, default (full) sync, locked for the life of the object.
#pragma once

#include <cstdint>
#include <filesystem>
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

}  // namespace tafel::store
