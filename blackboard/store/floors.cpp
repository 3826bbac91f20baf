#include "blackboard/store/floors.hpp"

#include <algorithm>
#include <limits>

#include "blackboard/store/record.hpp"

namespace tafel::store {
namespace {

// The record of the newest image at or before `version`, with its key.
struct Found {
  std::string key;
  std::string payload;
};

Result<std::optional<Found>> newest_at(KvRead& kv, BoardNumber number, const CellKey& cell, Version version) {
  std::optional<Found> newest;
  const std::string prefix = floors_prefix(number, cell);
  const auto scanned = scan_records(kv, Table::floors, prefix, floor_key(number, cell, version),
                                    [&](std::string_view key, std::string_view payload) {
                                      newest = Found{std::string(key), std::string(payload)};
                                      return Result<bool>(false);
                                    });
  if (!scanned) return tl::unexpected(scanned.error());
  return newest;
}

}  // namespace

Result<void> keep_cell(KvWrite& kv, BoardNumber number, const CellKey& key, const StoredCell& cell) {
  return put_record(kv, Table::floors, floor_key(number, key, cell.trail.newest()), encode_part(cell));
}

Result<void> keep_field(KvWrite& kv, BoardNumber number, const Path& path, FieldRecord record) {
  record.leaf = StoredCell();
  const std::string key = floor_key(number, field_key(path), record.trail.newest());
  return put_record(kv, Table::floors, key, encode_field(path, record));
}

Result<std::optional<StoredCell>> kept_cell(KvRead& kv, BoardNumber number, const CellKey& key, Version version) {
  const auto found = newest_at(kv, number, key, version);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::nullopt;
  auto cell = decode_part((*found)->payload);
  if (!cell || cell->trail.newest() != version_of_floor((*found)->key))
    return bad_record(Table::floors, (*found)->key, "this is no image of a cell");
  return cell;
}

Result<std::optional<FieldRecord>> kept_field(KvRead& kv, BoardNumber number, const Path& path, Version version) {
  const auto found = newest_at(kv, number, field_key(path), version);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::nullopt;
  auto record = decode_field((*found)->payload);
  if (!record || record->trail.newest() != version_of_floor((*found)->key))
    return bad_record(Table::floors, (*found)->key, "this is no image of a field");
  return record;
}

Result<std::vector<Version>> kept_versions(KvRead& kv, BoardNumber number, const CellKey& key) {
  std::vector<Version> versions;
  const std::string prefix = floors_prefix(number, key);
  const auto scanned = scan_records(kv, Table::floors, prefix, prefix, [&](std::string_view found, std::string_view) {
    versions.push_back(version_of_floor(found));
    return Result<bool>(true);
  });
  if (!scanned) return tl::unexpected(scanned.error());
  std::reverse(versions.begin(), versions.end());
  return versions;
}

Result<std::vector<CellKey>> kept_cells(KvRead& kv, BoardNumber number, const Path& path, const CellKey& from,
                                        std::size_t count) {
  std::vector<CellKey> cells;
  const std::string prefix = parts_prefix(number, path);
  const auto scanned =
      scan_records(kv, Table::floors, prefix, floors_prefix(number, from), [&](std::string_view key, std::string_view) {
        constexpr std::size_t version_bytes = 8;
        if (key.size() <= prefix.size() + version_bytes)
          return Result<bool>(bad_record(Table::floors, key, "this is no key of an image"));
        const std::string_view place = key.substr(prefix.size(), key.size() - prefix.size() - version_bytes);
        CellKey cell{path, static_cast<Part>(place.front()), std::string(place.substr(1))};
        if (!cells.empty() && cells.back() == cell) return Result<bool>(true);
        if (cells.size() == count) return Result<bool>(false);
        cells.push_back(std::move(cell));
        return Result<bool>(true);
      });
  if (!scanned) return tl::unexpected(scanned.error());
  return cells;
}

Result<void> drop_kept_cells(KvWrite& kv, BoardNumber number, const Path& path) {
  const auto cells = kept_cells(kv, number, path, leaf_key(path), std::numeric_limits<std::size_t>::max());
  if (!cells) return tl::unexpected(cells.error());
  for (const CellKey& cell : *cells) {
    if (cell.part == Part::field) continue;
    const auto versions = kept_versions(kv, number, cell);
    if (!versions) return tl::unexpected(versions.error());
    for (const Version version : *versions) {
      if (auto erased = kv.erase(Table::floors, floor_key(number, cell, version)); !erased) return erased;
    }
  }
  return {};
}

}  // namespace tafel::store
