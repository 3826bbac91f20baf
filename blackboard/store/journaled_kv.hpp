// A journal before a store. A commit is one write to the journal, durable at once; its puts stand in memory until they
// are written back into the store, where readers see them. So the store is a prefix of what was committed at every
// moment, and a reader waits until that prefix holds all that was acknowledged before it asked.
//
// What is too large for the journal, or is to leave no trace in it, goes into the store at once, behind everything that
// was committed before.
#pragma once

#include <filesystem>
#include <memory>

#include "blackboard/store/write_back.hpp"
#include "common/base/random.hpp"

namespace tafel::store {

struct JournalOptions {
  std::uint64_t bytes = limits::journal_bytes;  // of a journal that is made
  WriteBackLimits write_back{};
};

// Puts the journal `file` before `store`; what stands in it and not in the store yet is written there first. A store
// that names no journal gets a new one. Fault::bad_bytes when the file is not the one that the store names, or lacks
// something; it is left as it is then.
Result<std::unique_ptr<Kv>> open_journaled(std::unique_ptr<Kv> store, const std::filesystem::path& file, Random& random,
                                           const JournalOptions& options = {});

// A snapshot of the store and of what the journal holds beside it, from another process than the one that writes them,
// or with none: all that was acknowledged before the call is in it. Nothing is changed on disk.
Result<std::unique_ptr<KvRead>> read_with_journal(Kv& store, const std::filesystem::path& file);

}  // namespace tafel::store
