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

// The same for a file that another process may be writing to: only that it is an LMDB file of a layout that we know.
// Its pages can not be walked, as they are given to other uses meanwhile; the process that writes it has done that.
Result<void> check_lmdb_file_in_use(const std::filesystem::path& file);

}  // namespace tafel::store
