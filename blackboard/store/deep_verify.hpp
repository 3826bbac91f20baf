// Looks at everything that a store holds: each page, each record of each table, each board by a replay of its log, and
// what the tables say of one another.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "blackboard/store/kv.hpp"

namespace tafel::store {

struct DeepReport {
  bool pages_walked = false;                         // false: a server runs, and gives pages to other uses meanwhile
  std::array<std::uint64_t, table_count> records{};  // by table
  std::uint64_t boards = 0;
  std::uint64_t versions = 0;
  std::uint64_t cells = 0;
  std::uint64_t bytes = 0;           // of keys and records
  std::vector<std::string> defects;  // at most limits::deep_defects_max, then it stops
};
using DeepProgress = std::function<void(const std::string& what)>;  // may be empty

// Of the data directory, at one moment; a server may run on it, in another process. Damage is told as a defect.
Result<DeepReport> verify_deep(const std::filesystem::path& directory, const DeepProgress& progress = nullptr);
// All but the pages.
Result<DeepReport> verify_deep(KvRead& kv, const DeepProgress& progress = nullptr);

}  // namespace tafel::store
