// The store in a data directory: LMDB, with a journal before it.
#pragma once

#include <memory>

#include "blackboard/store/journaled_kv.hpp"
#include "blackboard/store/lmdb_kv.hpp"

namespace tafel::store {

// Makes the store, or opens it and ends what a crash left to do. See `open_lmdb` and `open_journaled` for what is
// refused; a store of another format is, before anything of it is changed.
Result<std::unique_ptr<Kv>> open_disk(const LmdbOptions& options, Random& random, const JournalOptions& journal = {});

// A store to be read only, from a process of its own, with all that was acknowledged before each `read`: see
// `open_lmdb_reader`.
Result<std::unique_ptr<Kv>> open_disk_reader(const LmdbOptions& options);

}  // namespace tafel::store
