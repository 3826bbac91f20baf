#include "blackboard/store/expiry_index.hpp"

#include <set>

#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/record.hpp"

namespace tafel::store {
namespace {

Result<bool> expires_at(KvRead& kv, BoardNumber number, const CellKey& key, TimeMs time) {
  const auto stored = get_cell(kv, number, key);
  if (!stored) return tl::unexpected(stored.error());
  if (!*stored) return false;
  const auto cell = (*stored)->cell();
  if (!cell) return tl::unexpected(cell.error());
  bool expires = false;
  if (*cell) for_each_dot(**cell, [&](const Dot& dot) { expires = expires || dot.expires == time; });
  return expires;
}

}  // namespace

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

Result<bool> drop_stale(KvWrite& kv, BoardNumber number, const Path& path, std::string& cursor, std::size_t count) {
  std::vector<std::pair<std::string, CellKey>> candidates;
  std::size_t looked_at = 0;
  const auto scanned =
      scan_records(kv, Table::expiry, {}, cursor,
                   [&, after = cursor](std::string_view key, std::string_view payload) -> Result<bool> {
                     if (key == after) return true;
                     if (looked_at++ == count) return false;
                     cursor = key;
                     if (!is_expiry_of(number, key)) return true;
                     auto cell = decode_expiring(payload);
                     if (!cell) return bad_record(Table::expiry, key, "this is no entry of the index of expiry");
                     if (cell->key.path.is_at_or_below(path)) candidates.emplace_back(key, std::move(cell->key));
                     return true;
                   });
  if (!scanned) return tl::unexpected(scanned.error());
  for (const auto& [key, cell] : candidates) {
    const auto is_due = expires_at(kv, number, cell, time_of_expiry(key).value_or(0));
    if (!is_due) return is_due;
    if (*is_due) continue;
    if (auto erased = kv.erase(Table::expiry, key); !erased) return tl::unexpected(erased.error());
  }
  return looked_at <= count;
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
