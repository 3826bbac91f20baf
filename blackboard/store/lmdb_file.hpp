// Looks at the data file of LMDB before LMDB does. LMDB trusts its file: a truncated one ends the process with SIGBUS,
// and a damaged page leads it anywhere. Reads with plain calls, knows the layout of data version 1 (LMDB 0.9), and
// changes nothing.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/base/result.hpp"

namespace tafel::store {

// Fault::bad_bytes for a foreign, truncated or damaged file. Always looks at the meta pages and the size; walks every
// page of the trees when the file has at most `walk_bytes_max` bytes, or when only that can tell whether the file is
// truncated.
Result<void> check_lmdb_file(const std::filesystem::path& file, std::uint64_t walk_bytes_max);

}  // namespace tafel::store
