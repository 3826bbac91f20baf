// Copies a store record by record into a new one. What was erased, and what lies in pages that are free, is in no
// record, so it is not in the copy.
#pragma once

#include <cstdint>
#include <functional>

#include "blackboard/store/kv.hpp"

namespace tafel::store {

struct CopyCounts {
  std::uint64_t boards = 0;
  std::uint64_t versions = 0;  // events
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  // of keys and values
};
using CopyProgress = std::function<void(const CopyCounts& so_far)>;  // called each now and then; may be empty

enum class CopyKind : std::uint8_t {
  same,    // the store itself, written anew
  backup,  // marked, so that the first server that opens it gives it an epoch of its own
};

// All that `from` shows, with each checksum looked at. Fault::bad_bytes names the record that does not fit.
Result<CopyCounts> copy_store(KvRead& from, KvAppend& to, CopyKind kind, const CopyProgress& progress = nullptr);

}  // namespace tafel::store
