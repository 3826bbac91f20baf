#include "blackboard/store/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/deletions.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/bytes.hpp"
#include "common/base/text.hpp"
#include "common/codec/event_codec.hpp"

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
    bytes_ += key.path.key().size() + key.id.size() + record.image().size();
    if (bytes_ > bytes_max_ && !page_.cells.empty()) {
      page_.next = to_cursor({std::string(field_key), key.part, key.id});
      return false;
    }
    const auto cell = record.cell();
    if (!cell) return tl::unexpected(cell.error());
    page_.cells.push_back({key, copy_of(*cell)});
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
  BoardLoader(BoardLine& line, const Head& head, std::optional<Version> version, std::size_t bytes_max)
      : line_(line), version_(version), bytes_max_(bytes_max) {
    board_.set_version(version.value_or(head.version));
  }

  Result<bool> add(const CellKey& key, const StoredCell& stored) {
    const bool is_current = !version_ || (!line_.is_fork() && stored.trail.newest() <= *version_);
    const auto cell = is_current ? stored.cell() : line_.image_as_of(key, *version_);
    if (!cell) return tl::unexpected(cell.error());
    if (!*cell) return true;
    bytes_ +=
        key.path.key().size() + key.id.size() + (is_current ? stored.image().size() : encode_image(cell->get()).size());
    if (bytes_ > bytes_max_) {
      return fail(Fault::full,
                  fmt::format("this part of the board is larger than {} bytes: read a smaller part, or page by page",
                              bytes_max_));
    }
    board_.put(key, **cell);
    return true;
  }

  blackboard::Board take() { return std::move(board_); }

 private:
  BoardLine& line_;
  const std::optional<Version> version_;
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  blackboard::Board board_;
};

}  // namespace

Result<StoreSnapshot::Found> StoreSnapshot::find(const std::string& board) {
  auto record = get_board(*kv_, board);
  if (!record) return tl::unexpected(record.error());
  auto line = BoardLine::open(*kv_, log_, board, *record);
  if (!line) return tl::unexpected(line.error());
  record->head.floor = line->floor();
  return Found{std::move(*record), std::move(*line)};
}

Result<std::optional<Head>> StoreSnapshot::head(const std::string& board) {
  const auto found = find(board);
  if (!found) return tl::unexpected(found.error());
  if (found->record.head.version == 0) return std::nullopt;
  return found->record.head;
}

Result<std::vector<BoardSummary>> StoreSnapshot::boards(const std::string& after, std::size_t count) {
  std::vector<BoardSummary> found;
  if (count == 0) return found;
  const auto scanned =
      scan_records(*kv_, Table::boards, {}, after, [&](std::string_view id, std::string_view payload) -> Result<bool> {
        const auto record = decode_board(payload);
        if (!record) return bad_record(Table::boards, id, "this is no board record");
        // Version 0: only receipts of deltas that changed nothing.
        if (id != after && record->head.version > 0 && record->deleted == 0) {
          found.push_back({std::string(id), record->head, record->fork, record->log_bytes});
        }
        return found.size() < count;
      });
  if (!scanned) return tl::unexpected(scanned.error());
  return found;
}

Result<std::vector<std::string>> StoreSnapshot::event_records(const std::string& board, Version from, Version to,
                                                              std::size_t bytes_max) {
  auto found = find(board);
  if (!found) return tl::unexpected(found.error());
  if (found->record.deleted > 0) return last_event_record(*kv_, found->record, from, to);
  std::vector<std::string> records;
  const Version last = std::min(to, found->record.head.version);
  std::size_t bytes = 0;
  bool is_full = false;
  // Level by level: a fork's older events stand in the log of its parent.
  for (Version version = std::max<Version>(from, 1); version <= last && !is_full;) {
    const BoardLine::Level& level = found->line.level_of(version);
    const Version end = std::min(last, level.to);
    const auto scanned = scan_records(*kv_, Table::events, board_prefix(level.number), event_key(level.number, version),
                                      [&](std::string_view key, std::string_view payload) -> Result<bool> {
                                        if (key != event_key(level.number, version)) return false;
                                        bytes += payload.size();
                                        is_full = bytes > bytes_max && !records.empty();
                                        if (is_full) return false;
                                        records.emplace_back(payload);
                                        return version++ < end;
                                      });
    if (!scanned) return tl::unexpected(scanned.error());
    // Stopped early, and not for want of room: the event that should have come is not there.
    if (version <= end && !is_full) {
      return bad_record(Table::events, event_key(level.number, version),
                        fmt::format("the event of version {} is missing", version));
    }
  }
  return records;
}

Result<std::vector<std::shared_ptr<const Event>>> StoreSnapshot::revisions(const std::string& board, const Path& path,
                                                                           Version before, std::size_t count,
                                                                           std::size_t bytes_max) {
  std::vector<std::shared_ptr<const Event>> found;
  auto board_found = this->find(board);
  if (!board_found) return tl::unexpected(board_found.error());
  BoardLine& line = board_found->line;
  std::size_t bytes = 0;
  for (Version at = before; at > line.floor() && found.size() < count;) {
    auto event = line.revision_as_of(path, at);
    if (!event) return tl::unexpected(event.error());
    if (*event == nullptr || (*event)->version <= line.floor()) break;
    bytes += codec::encode_event(**event).size();
    if (bytes > bytes_max && !found.empty()) break;
    at = (*event)->version - 1;
    found.push_back(std::move(*event));
  }
  return found;
}

Result<Snapshot::CellPage> StoreSnapshot::cells(const std::string& board, const std::optional<Path>& path,
                                                const std::string& cursor, std::size_t bytes_max) {
  auto found = find(board);
  if (!found) return tl::unexpected(found.error());
  const auto start = from_cursor(cursor);
  if (!start) return tl::unexpected(start.error());
  PageBuilder page(bytes_max);
  const std::string prefix = board_prefix(found->record.number);
  const auto visit_field = [&](std::string_view key, const Path& field, const FieldRecord& stored) -> Result<bool> {
    const std::string_view field_key = key.substr(prefix.size());
    const Position from = field_key == start->field_key ? *start : Position();
    if (from.part == Part::leaf) {
      const auto goes_on = page.add(field_key, leaf_key(field), stored.leaf);
      if (!goes_on || !*goes_on) return goes_on;
    }
    const auto scanned = found->line.scan_all_parts(
        field, from.part, from.id,
        [&](const CellKey& cell, const StoredCell& part) { return page.add(field_key, cell, part); });
    if (!scanned) return tl::unexpected(scanned.error());
    return !page.is_full();
  };
  const auto scanned = found->line.scan_fields(path, prefix + start->field_key, visit_field);
  if (!scanned) return tl::unexpected(scanned.error());
  return page.take();
}

Result<std::vector<Path>> StoreSnapshot::fields(const std::string& board, const Path& path, std::size_t count) {
  auto found = find(board);
  if (!found) return tl::unexpected(found.error());
  std::vector<Path> fields;
  const auto scanned =
      found->line.scan_fields(path, {}, [&](std::string_view, const Path& field, const FieldRecord&) -> Result<bool> {
        if (fields.size() < count) fields.push_back(field);
        return fields.size() < count;
      });
  if (!scanned) return tl::unexpected(scanned.error());
  return fields;
}

Result<bool> StoreSnapshot::keeps(const std::string& board, Version version) {
  auto found = find(board);
  if (!found) return tl::unexpected(found.error());
  return found->line.keeps(version, found->record.head);
}

Result<blackboard::Board> StoreSnapshot::load(const std::string& board, const std::optional<Path>& path,
                                              std::optional<Version> version, std::size_t bytes_max) {
  auto found = find(board);
  if (!found) return tl::unexpected(found.error());
  const Head& head = found->record.head;
  const auto is_kept = version ? found->line.keeps(*version, head) : Result<bool>(true);
  if (!is_kept) return tl::unexpected(is_kept.error());
  if (!*is_kept) {
    return fail(Fault::not_found, fmt::format("version {} of board {} is not there: versions {} to {} are", *version,
                                              board, head.floor, head.version));
  }
  // What a board holds of itself tells nothing of what was gone when it was forked.
  BoardLine line = version ? found->line.at(*version) : found->line;
  BoardLoader loader(line, head, version, bytes_max);
  const auto add = [&](const CellKey& key, const StoredCell& cell) { return loader.add(key, cell); };
  const auto visit_field = [&](std::string_view, const Path& field, const FieldRecord& stored) -> Result<bool> {
    const auto added = add(leaf_key(field), stored.leaf);
    if (!added) return added;
    const auto scanned = line.scan_all_parts(field, Part::element, {}, add);
    if (!scanned) return tl::unexpected(scanned.error());
    return true;
  };
  const auto scanned = line.scan_fields(path, {}, visit_field);
  if (!scanned) return tl::unexpected(scanned.error());
  return loader.take();
}

}  // namespace tafel::store
