// What an operator does to a data directory as a whole: a copy of it, and writing it anew.
#pragma once

#include <filesystem>

#include "blackboard/store/copy.hpp"
#include "common/base/random.hpp"

namespace tafel::store {

struct BackupReport {
  CopyCounts counts;
  std::uint64_t erasures = 0;          // in the ledger beside the copy
  std::uint64_t erasures_pending = 0;  // of these: what they erased still stands in the log of the copy
};

// Copies the store in the data directory `source`, as it is at one moment, to the new data directory `destination`,
// with its ledger of erasures in `destination`/erasures.jsonl. A server may run on `source`, in another process. The
// copy is made as `destination`.partial and renamed when all of it is on disk. Fault::refused when `destination` is
// there.
Result<BackupReport> back_up(const std::filesystem::path& source, const std::filesystem::path& destination,
                             const CopyProgress& progress = nullptr);

struct CompactReport {
  CopyCounts counts;
  std::uint64_t bytes_before = 0;  // of the data file
  std::uint64_t bytes_after = 0;
};

// Writes the store of a data directory anew and puts the new one in the place of the old one, which is removed: no
// free page, and no gap in a page, keeps what is in no record any more. What erasures and deletions have left to do is
// done before. Fault::locked when a server runs.
Result<CompactReport> compact(const std::filesystem::path& directory, Random& random,
                              const CopyProgress& progress = nullptr);

}  // namespace tafel::store
