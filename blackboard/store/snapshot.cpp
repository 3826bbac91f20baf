#include "blackboard/store/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/bytes.hpp"
#include "common/base/text.hpp"

namespace tafel::store {
namespace {

// Where a page of cells begins. As a cursor: base64 of be32 size of the field key ‖ field key ‖ part u8 ‖ id.
struct Position {
  std::string field_key;  // of the store, without the board's number; empty: the first field
  Part part = Part::leaf;
  std::string id;
};

std::string to_cursor(const Position& position) {
  std::string bytes;
  put_be32(bytes, static_cast<std::uint32_t>(position.field_key.size()));
  bytes.append(position.field_key).push_back(static_cast<char>(position.part));
  return to_base64(bytes.append(position.id));
}

Result<Position> from_cursor(const std::string& cursor) {
  if (cursor.empty()) return Position();
  const auto bytes = from_base64(cursor);
  const std::size_t key_size = bytes && bytes->size() > 4 ? get_be32(*bytes) : 0;
  const bool fits = bytes && key_size <= key_bytes_max && bytes->size() > 4 + key_size;
  if (!fits) return fail(Fault::bad_bytes, "the cursor did not come from a page of this query");
  const std::size_t part_at = 4 + key_size;
  return Position{bytes->substr(4, key_size), static_cast<Part>((*bytes)[part_at]), bytes->substr(part_at + 1)};
}

// Collects cells until the page is full; then it names the first cell that found no room.
class PageBuilder {
 public:
  explicit PageBuilder(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  Result<bool> add(std::string_view field_key, const CellKey& key, const StoredCell& record) {
    if (!record.is_live()) return true;
    bytes_ += key.path.key().size() + key.id.size() + record.image.size();
    if (bytes_ > bytes_max_ && !page_.cells.empty()) {
      page_.next = to_cursor({std::string(field_key), key.part, key.id});
      return false;
    }
    auto cell = record.cell();
    if (!cell) return tl::unexpected(cell.error());
    page_.cells.push_back({key, std::move(*cell)});
    return true;
  }

  bool is_full() const { return !page_.next.empty(); }
  Snapshot::CellPage take() { return std::move(page_); }

 private:
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  Snapshot::CellPage page_;
};

// Fills a board with cells as they are, or as they were, up to a bound.
class BoardLoader {
 public:
  BoardLoader(EventLog& log, const BoardRecord& record, Version version, std::size_t bytes_max)
      : log_(log), record_(record), version_(version), bytes_max_(bytes_max) {
    board_.set_version(version);
  }

  Result<bool> add(const CellKey& key, const StoredCell& stored) {
    const bool is_current = stored.trail.newest() <= version_;
    auto cell = is_current ? stored.cell() : log_.image_as_of(record_.number, key, stored, version_);
    if (!cell) return tl::unexpected(cell.error());
    if (!*cell) return true;
    bytes_ += key.path.key().size() + key.id.size() + (is_current ? stored.image.size() : encode_image(*cell).size());
    if (bytes_ > bytes_max_) {
      return fail(Fault::full,
                  fmt::format("this part of the board is larger than {} bytes: read a smaller part, or page by page",
                              bytes_max_));
    }
    board_.put(key, std::move(*cell));
    return true;
  }

  blackboard::Board take() { return std::move(board_); }

 private:
  EventLog& log_;
  const BoardRecord& record_;
  const Version version_;
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  blackboard::Board board_;
};

}  // namespace

Result<std::optional<Head>> StoreSnapshot::head(const std::string& board) {
  const auto record = get_board(*kv_, board);
  if (!record) return tl::unexpected(record.error());
  if (record->head.version == 0) return std::nullopt;
  return record->head;
}

Result<std::vector<BoardSummary>> StoreSnapshot::boards(const std::string& after, std::size_t count) {
  std::vector<BoardSummary> found;
  if (count == 0) return found;
  const auto scanned =
      scan_records(*kv_, Table::boards, {}, after, [&](std::string_view id, std::string_view payload) -> Result<bool> {
        const auto record = decode_board(payload);
        if (!record) return bad_record(Table::boards, id, "this is no board record");
        // Version 0: only receipts of deltas that changed nothing.
        if (id != after && record->head.version > 0) found.push_back({std::string(id), record->head});
        return found.size() < count;
      });
  if (!scanned) return tl::unexpected(scanned.error());
  return found;
}

Result<std::vector<std::string>> StoreSnapshot::event_records(const std::string& board, Version from, Version to,
                                                              std::size_t bytes_max) {
  const auto record = get_board(*kv_, board);
  if (!record) return tl::unexpected(record.error());
  std::vector<std::string> records;
  Version version = std::max<Version>(from, 1);
  const Version last = std::min(to, record->head.version);
  if (version > last) return records;
  std::size_t bytes = 0;
  const std::string first = event_key(record->number, version);
  const auto scanned = scan_records(*kv_, Table::events, board_prefix(record->number), first,
                                    [&](std::string_view key, std::string_view payload) -> Result<bool> {
                                      if (key != event_key(record->number, version)) return false;
                                      bytes += payload.size();
                                      if (bytes > bytes_max && !records.empty()) return false;
                                      records.emplace_back(payload);
                                      return version++ < last;
                                    });
  if (!scanned) return tl::unexpected(scanned.error());
  // Stopped early, and not for want of room: the event that should have come is not there.
  if (version <= last && bytes <= bytes_max) {
    return bad_record(Table::events, event_key(record->number, version),
                      fmt::format("the event of version {} is missing", version));
  }
  return records;
}

Result<Snapshot::CellPage> StoreSnapshot::cells(const std::string& board, const std::optional<Path>& path,
                                                const std::string& cursor, std::size_t bytes_max) {
  const auto record = get_board(*kv_, board);
  if (!record) return tl::unexpected(record.error());
  const auto start = from_cursor(cursor);
  if (!start) return tl::unexpected(start.error());
  PageBuilder page(bytes_max);
  const std::string prefix = board_prefix(record->number);
  const auto visit_field = [&](std::string_view key, const Path& field, const FieldRecord& stored) -> Result<bool> {
    const std::string_view field_key = key.substr(prefix.size());
    const Position from = field_key == start->field_key ? *start : Position();
    if (from.part == Part::leaf) {
      const auto goes_on = page.add(field_key, leaf_key(field), stored.leaf);
      if (!goes_on || !*goes_on) return goes_on;
    }
    const auto scanned =
        scan_all_parts(*kv_, record->number, field, from.part, from.id,
                       [&](const CellKey& cell, const StoredCell& part) { return page.add(field_key, cell, part); });
    if (!scanned) return tl::unexpected(scanned.error());
    return !page.is_full();
  };
  const auto scanned = scan_fields(*kv_, record->number, path, prefix + start->field_key, visit_field);
  if (!scanned) return tl::unexpected(scanned.error());
  return page.take();
}

Result<blackboard::Board> StoreSnapshot::load(const std::string& board, const std::optional<Path>& path,
                                              std::optional<Version> version, std::size_t bytes_max) {
  const auto record = get_board(*kv_, board);
  if (!record) return tl::unexpected(record.error());
  const Head& head = record->head;
  if (version && (*version < head.floor || *version > head.version)) {
    return fail(Fault::not_found, fmt::format("version {} of board {} is not there: versions {} to {} are", *version,
                                              board, head.floor, head.version));
  }
  BoardLoader loader(log_, *record, version.value_or(head.version), bytes_max);
  const auto add = [&](const CellKey& key, const StoredCell& cell) { return loader.add(key, cell); };
  const auto visit_field = [&](std::string_view, const Path& field, const FieldRecord& stored) -> Result<bool> {
    const auto added = add(leaf_key(field), stored.leaf);
    if (!added) return added;
    const auto scanned = scan_all_parts(*kv_, record->number, field, Part::element, {}, add);
    if (!scanned) return tl::unexpected(scanned.error());
    return true;
  };
  const auto scanned = scan_fields(*kv_, record->number, path, {}, visit_field);
  if (!scanned) return tl::unexpected(scanned.error());
  return loader.take();
}

}  // namespace tafel::store
