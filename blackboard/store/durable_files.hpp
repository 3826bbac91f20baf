// Files that are on disk when the call returns.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/result.hpp"

namespace tafel::store {

inline constexpr unsigned private_file = 0600;  // the mode of a file that is for its owner only

// "can not <act> <path>: …"
tl::unexpected<Failure> io_failure(const char* act, const std::filesystem::path& path, int error);

Result<void> sync(const std::filesystem::path& path);                 // a file, or the names in a directory
Result<void> sync_directory(const std::filesystem::path& directory);  // with the files in it
Result<void> write_synced(const std::filesystem::path& file, std::string_view bytes);  // a new file, for its owner only
// Fault::refused when `to` is there.
Result<void> rename_to_new(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace tafel::store
