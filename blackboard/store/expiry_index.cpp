#include "blackboard/store/expiry_index.hpp"

#include <set>

#include "blackboard/store/record.hpp"

namespace tafel::store {

Result<void> note_expiry(KvWrite& kv, const std::string& board, BoardNumber number, const CellKey& key,
                         const Cell& cell) {
  std::set<TimeMs> times;
  for_each_dot(cell, [&](const Dot& dot) {
    if (dot.expires) times.insert(*dot.expires);
  });
  for (const TimeMs time : times) {
    const auto put = put_record(kv, Table::expiry, expiry_key(time, number, key), encode_expiring({board, key}));
    if (!put) return put;
  }
  return {};
}

Result<std::vector<ExpiringCell>> take_due(KvWrite& kv, TimeMs now, std::size_t count) {
  std::vector<ExpiringCell> due;
  std::vector<std::string> keys;
  const auto scanned =
      scan_records(kv, Table::expiry, {}, {}, [&](std::string_view key, std::string_view payload) -> Result<bool> {
        const auto time = time_of_expiry(key);
        auto cell = decode_expiring(payload);
        if (!time || !cell) return bad_record(Table::expiry, key, "this is no entry of the index of expiry");
        if (*time > now || due.size() == count) return false;
        due.push_back(std::move(*cell));
        keys.emplace_back(key);
        return true;
      });
  if (!scanned) return tl::unexpected(scanned.error());
  for (const std::string& key : keys) {
    if (auto erased = kv.erase(Table::expiry, key); !erased) return tl::unexpected(erased.error());
  }
  return due;
}

Result<std::optional<TimeMs>> next_due(KvRead& kv) {
  std::optional<TimeMs> first;
  const auto scanned = scan_records(kv, Table::expiry, {}, {}, [&](std::string_view key, std::string_view) {
    first = time_of_expiry(key);
    return Result<bool>(false);
  });
  if (!scanned) return tl::unexpected(scanned.error());
  return first;
}

}  // namespace tafel::store
