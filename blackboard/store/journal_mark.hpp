// What a store says of the journal before it: which one it is, and up to where the store holds what stands in it.
//
//   payload = id[16] ‖ covered be64
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "blackboard/store/kv.hpp"

namespace tafel::store {

struct JournalMark {
  std::string id;             // of Journal::id_bytes
  std::uint64_t covered = 0;  // sequence of the last record that the store holds
};

// nullopt: there is no journal before this store.
Result<std::optional<JournalMark>> read_mark(KvRead& kv);
Result<void> put_mark(KvWrite& kv, const JournalMark& mark);

}  // namespace tafel::store
