#include "blackboard/store/board_reader.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "blackboard/store/record.hpp"

namespace tafel::store {
namespace {

// Puts fields that come in store order into path order. Only fields that share a cut prefix can come in another order,
// so only those are held back.
class PathOrder {
 public:
  explicit PathOrder(const FieldVisitor& visit) : visit_(visit) {}

  Result<bool> add(std::string_view key, const Path& path, FieldRecord record) {
    const std::string_view group = std::string_view(path.key()).substr(0, path_key_cut_bytes);
    if (group != group_) {
      const auto goes_on = flush();
      if (!goes_on || !*goes_on) return goes_on;
      group_ = group;
    }
    if (group.size() < path_key_cut_bytes) return visit_(key, path, std::move(record));
    held_.push_back({std::string(key), path, std::move(record)});
    return true;
  }

  Result<bool> flush() {
    std::vector<Held> fields = std::move(held_);
    held_.clear();
    std::sort(fields.begin(), fields.end(), [](const Held& left, const Held& right) { return left.path < right.path; });
    for (Held& field : fields) {
      const auto goes_on = visit_(field.key, field.path, std::move(field.record));
      if (!goes_on || !*goes_on) return goes_on;
    }
    return true;
  }

 private:
  struct Held {
    std::string key;
    Path path;
    FieldRecord record;
  };

  const FieldVisitor& visit_;
  std::string group_;
  std::vector<Held> held_;
};

Result<void> scan_cells(KvRead& kv, const Path& path, std::string_view prefix, std::string_view from,
                        const PartVisitor& visit) {
  return scan_records(kv, Table::parts, prefix, from,
                      [&](std::string_view key, std::string_view payload) -> Result<bool> {
                        const auto place = place_of_part(key);
                        auto record = decode_part(payload);
                        if (!place || !record) return bad_record(Table::parts, key, "this is no cell record");
                        return visit(CellKey{path, place->part, place->id}, std::move(*record));
                      });
}

}  // namespace

Result<BoardRecord> get_board(KvRead& kv, const std::string& board) {
  const auto payload = get_record(kv, Table::boards, board);
  if (!payload) return tl::unexpected(payload.error());
  if (!*payload) return BoardRecord();
  const auto record = decode_board(**payload);
  if (!record) return bad_record(Table::boards, board, "this is no board record");
  return *record;
}

Result<void> scan_fields(KvRead& kv, BoardNumber number, const std::optional<Path>& path, std::string_view from,
                         const FieldVisitor& visit) {
  const std::string prefix = board_prefix(number) + (path ? path->key().substr(0, path_key_cut_bytes) : std::string());
  // Fields below a short path lie side by side, so the first foreign one is the end. A long path shares its prefix.
  const bool is_contiguous = path && path->key().size() < path_key_cut_bytes;
  return scan_records(kv, Table::fields, prefix, std::max(std::string_view(prefix), from),
                      [&](std::string_view key, std::string_view payload) -> Result<bool> {
                        const auto field_path = path_of_field(key, payload);
                        auto record = decode_field(payload);
                        if (!field_path || !record) return bad_record(Table::fields, key, "this is no field record");
                        if (path && !field_path->is_at_or_below(*path)) return !is_contiguous;
                        return visit(key, *field_path, std::move(*record));
                      });
}

Result<void> in_path_order(const Path& path, const FieldVisitor& visit,
                           const std::function<Result<void>(const FieldVisitor&)>& scan) {
  PathOrder order(visit);
  bool is_stopped = false;
  const auto scanned = scan([&](std::string_view key, const Path& found, FieldRecord record) {
    if (found == path) return Result<bool>(true);
    auto goes_on = order.add(key, found, std::move(record));
    is_stopped = goes_on && !*goes_on;
    return goes_on;
  });
  if (!scanned || is_stopped) return scanned;
  const auto flushed = order.flush();
  if (!flushed) return tl::unexpected(flushed.error());
  return {};
}

Result<std::optional<FieldRecord>> get_field(KvRead& kv, BoardNumber number, const Path& path) {
  const std::string key = field_key(number, path);
  const auto payload = get_record(kv, Table::fields, key);
  if (!payload) return tl::unexpected(payload.error());
  if (!*payload) return std::nullopt;
  auto record = decode_field(**payload);
  if (!record || path_of_field(key, **payload) != path)
    return bad_record(Table::fields, key, "this is no record of this field");
  return record;
}

Result<std::optional<StoredCell>> get_part(KvRead& kv, BoardNumber number, const CellKey& cell) {
  const std::string key = part_key(number, cell);
  const auto payload = get_record(kv, Table::parts, key);
  if (!payload) return tl::unexpected(payload.error());
  if (!*payload) return std::nullopt;
  auto record = decode_part(**payload);
  if (!record) return bad_record(Table::parts, key, "this is no cell record");
  return record;
}

Result<std::optional<StoredCell>> get_cell(KvRead& kv, BoardNumber number, const CellKey& key) {
  if (key.part != Part::leaf) return get_part(kv, number, key);
  auto field = get_field(kv, number, key.path);
  if (!field) return tl::unexpected(field.error());
  if (!*field) return std::nullopt;
  return std::move((*field)->leaf);
}

Result<void> scan_parts(KvRead& kv, BoardNumber number, const Path& path, Part part, const PartVisitor& visit) {
  const std::string prefix = part_prefix(number, path, part);
  return scan_cells(kv, path, prefix, prefix, visit);
}

Result<void> scan_all_parts(KvRead& kv, BoardNumber number, const Path& path, Part from_part, std::string_view from_id,
                            const PartVisitor& visit) {
  return scan_cells(kv, path, parts_prefix(number, path), part_prefix(number, path, from_part).append(from_id), visit);
}

}  // namespace tafel::store
