#include "blackboard/store/board_line.hpp"

#include <algorithm>
#include <deque>
#include <limits>

#include "blackboard/store/pins.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/limits.hpp"

namespace tafel::store {
namespace {

constexpr std::size_t chunk = 64;

struct ScannedField {
  std::string key;  // without the number of the board
  Path path;
  FieldRecord record;
};

// The fields of one board, read in chunks, so that several boards can be read side by side.
class FieldCursor {
 public:
  FieldCursor(KvRead& kv, BoardNumber number, const std::optional<Path>& path, std::string_view from)
      : kv_(kv), number_(number), path_(path), next_(board_prefix(number).append(from)) {}

  // The field at the cursor; null at the end.
  Result<const ScannedField*> peek() {
    if (fields_.empty() && !is_at_end_) {
      if (auto read = read_chunk(); !read) return tl::unexpected(read.error());
    }
    return fields_.empty() ? nullptr : &fields_.front();
  }
  ScannedField take() {
    ScannedField field = std::move(fields_.front());
    fields_.pop_front();
    return field;
  }

 private:
  Result<void> read_chunk() {
    is_at_end_ = true;
    const std::size_t prefix = board_prefix(number_).size();
    return scan_fields(kv_, number_, path_, next_, [&](std::string_view key, const Path& path, FieldRecord record) {
      if (fields_.size() == chunk) {
        next_ = key;
        is_at_end_ = false;
        return Result<bool>(false);
      }
      fields_.push_back({std::string(key.substr(prefix)), path, std::move(record)});
      return Result<bool>(true);
    });
  }

  KvRead& kv_;
  BoardNumber number_;
  std::optional<Path> path_;
  std::string next_;
  bool is_at_end_ = false;
  std::deque<ScannedField> fields_;
};

}  // namespace

Result<BoardLine> BoardLine::open(KvRead& kv, EventLog& log, const std::string& board, const BoardRecord& record) {
  return open(std::make_shared<PlainRecords>(kv), log, board, record);
}

Result<BoardLine> BoardLine::open(std::shared_ptr<Records> records, EventLog& log, const std::string& board,
                                  const BoardRecord& record) {
  BoardLine line(std::move(records), log);
  // What a deleted board held may be there for a while, and is read no more.
  const BoardNumber number = record.deleted > 0 ? BoardNumber::none : record.number;
  line.levels_.push_back({board, number, record.fork, std::numeric_limits<Version>::max(), record.head.floor});
  BoardRecord above = record;
  Version limit = above.fork;
  for (; !above.parent.empty(); ++line.depth_) {
    const std::string parent = above.parent;
    if (line.depth_ > limits::forks_depth_max) return bad_record(Table::boards, board, "it descends from itself");
    const auto kv = line.records_->kv();
    if (!kv) return tl::unexpected(kv.error());
    const auto found = get_board(**kv, parent);
    if (!found) return tl::unexpected(found.error());
    if (found->number == BoardNumber::none) return bad_record(Table::boards, board, "its parent is missing");
    above = *found;
    if (above.fork >= limit) continue;  // what is inherited is older than this board
    line.levels_.push_back({parent, above.number, above.fork, limit, above.head.floor});
    limit = above.fork;
  }
  line.floor_ = floor_of(line.levels_);
  return line;
}

// Where a log was trimmed, the version that the younger board was forked at is kept, but nothing before it.
Version BoardLine::floor_of(const std::vector<Level>& levels) {
  for (const Level& level : levels) {
    const Version floor = std::min(level.floor, level.to);
    if (floor > level.from + 1) return floor;
  }
  return 0;
}

const BoardLine::Level& BoardLine::level_of(Version version) const {
  return *std::find_if(levels_.begin(), levels_.end() - 1, [&](const Level& level) { return version > level.from; });
}

Result<bool> BoardLine::keeps(Version version, const Head& head) {
  if (version > head.version) return false;
  const Level& level = level_of(version);
  if (version >= level.floor) return true;
  const auto kv = records_->kv();
  if (!kv) return tl::unexpected(kv.error());
  const auto pins = Pins::read(**kv, level.number);
  if (!pins) return tl::unexpected(pins.error());
  return pins->holds(version);
}

BoardLine BoardLine::at(Version version) const {
  BoardLine line = *this;
  while (line.is_fork() && version <= line.levels_.front().from) line.levels_.erase(line.levels_.begin());
  return line;
}

BoardLine BoardLine::below() const {
  BoardLine line = *this;
  line.levels_.front().number = BoardNumber::none;  // under which nothing is ever stored
  return line;
}

Result<FieldPointer> BoardLine::field(const Path& path) {
  if (!is_fork()) return records_->field(levels_[0].number, path);
  auto found = find(path);
  if (!found) return tl::unexpected(found.error());
  return *found ? std::move((*found)->record) : nullptr;
}

Result<std::optional<BoardLine::Found>> BoardLine::find(const Path& path) {
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    auto record = records_->field(levels_[level].number, path);
    if (!record) return tl::unexpected(record.error());
    if (*record == nullptr) continue;
    if (level == 0) return Found{0, std::move(*record)};
    auto as_it_was = inherited(level, path, **record);
    if (!as_it_was) return tl::unexpected(as_it_was.error());
    if (*as_it_was != nullptr) return Found{level, std::move(*as_it_was)};
    if ((*record)->erased > 0) return std::nullopt;  // nothing leads past an erasure
  }
  return std::nullopt;
}

Result<FieldPointer> BoardLine::inherited(std::size_t level, const Path& path, const FieldRecord& record) {
  const Level& there = levels_[level];
  const auto info = log_->field_as_of(there.log(), path, record, there.to);
  if (!info) return tl::unexpected(info.error());
  if (!*info) return nullptr;
  FieldRecord as_it_was;
  as_it_was.info = **info;
  as_it_was.trail = blackboard::Trail({{there.to, 0}});
  auto leaf = inherited(level, leaf_key(path));
  if (!leaf) return tl::unexpected(leaf.error());
  as_it_was.leaf = std::move(*leaf);
  return std::make_shared<const FieldRecord>(std::move(as_it_was));
}

Result<StoredCell> BoardLine::inherited(std::size_t level, const CellKey& key) {
  const Version version = levels_[level].to;
  auto image = image_from(level, key, version);
  if (!image) return tl::unexpected(image.error());
  return StoredCell(blackboard::Trail({{version, 0}}), std::move(*image));
}

Result<PartPointer> BoardLine::stored(std::size_t level, const CellKey& key) {
  if (key.part != Part::leaf) return records_->part(levels_[level].number, key);
  auto field = records_->field(levels_[level].number, key.path);
  if (!field) return tl::unexpected(field.error());
  if (*field == nullptr) return nullptr;
  const StoredCell& leaf = (*field)->leaf;
  return PartPointer(std::move(*field), &leaf);
}

Result<PartPointer> BoardLine::cell(const CellKey& key) {
  if (!is_fork()) return stored(0, key);
  const auto found = find(key.path);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return nullptr;
  if ((*found)->level == 0) return stored(0, key);
  auto cell = inherited((*found)->level, key);
  if (!cell) return tl::unexpected(cell.error());
  return std::make_shared<const StoredCell>(std::move(*cell));
}

Result<CellPointer> BoardLine::image_as_of(const CellKey& key, Version version) {
  std::size_t level = 0;
  while (level + 1 < levels_.size() && version <= levels_[level].from) ++level;
  return image_from(level, key, version);
}

Result<std::optional<FieldInfo>> BoardLine::field_as_of(const Path& path, Version version) {
  for (std::size_t level = 0; level < levels_.size(); version = std::min(version, levels_[level++].from)) {
    if (level + 1 < levels_.size() && version <= levels_[level].from) continue;
    const auto record = records_->field(levels_[level].number, path);
    if (!record) return tl::unexpected(record.error());
    if (*record == nullptr) continue;
    auto info = log_->field_as_of(levels_[level].log(), path, **record, version);
    if (!info || *info || (*record)->erased > 0) return info;
  }
  return std::nullopt;
}

Result<std::optional<BoardLine::StoredHere>> BoardLine::stored_at(std::size_t level, const CellKey& key,
                                                                  Version version) {
  const BoardNumber number = levels_[level].number;
  StoredHere here;
  here.is_cut_off = level + 1 == levels_.size();
  if (!here.is_cut_off) {
    const auto field = records_->field(number, key.path);
    if (!field) return tl::unexpected(field.error());
    if (*field == nullptr) return std::nullopt;
    const auto info = log_->field_as_of(levels_[level].log(), key.path, **field, version);
    if (!info) return tl::unexpected(info.error());
    here.is_cut_off = (*field)->erased > 0;
    if (!*info) return here.is_cut_off ? std::optional(here) : std::nullopt;
  }
  auto cell = stored(level, key);
  if (!cell) return tl::unexpected(cell.error());
  here.cell = std::move(*cell);  // all cells of the field were taken over with its first change
  return here;
}

Result<CellPointer> BoardLine::image_from(std::size_t first, const CellKey& key, Version version) {
  for (std::size_t level = first; level < levels_.size(); version = levels_[level++].from) {
    const auto here = stored_at(level, key, version);
    if (!here) return tl::unexpected(here.error());
    if (!*here) continue;
    if ((*here)->cell == nullptr) return nullptr;
    auto found = log_->image_as_of(levels_[level].log(), key, *(*here)->cell, version);
    if (!found) return tl::unexpected(found.error());
    if (*found || (*here)->is_cut_off) return found->value_or(nullptr);
  }
  return nullptr;
}

Result<std::optional<conflict::CellChange>> BoardLine::change_at(const CellKey& key, Version version) {
  for (std::size_t level = 0; level < levels_.size(); version = std::min(version, levels_[level++].from)) {
    if (level + 1 < levels_.size() && version <= levels_[level].from) continue;
    const auto here = stored_at(level, key, version);
    if (!here) return tl::unexpected(here.error());
    if (!*here) continue;
    if ((*here)->cell == nullptr) return std::nullopt;
    auto found = log_->change_at(levels_[level].log(), key, *(*here)->cell, version);
    if (!found || *found || (*here)->is_cut_off) return found;
  }
  return std::nullopt;
}

Result<std::shared_ptr<const Event>> BoardLine::revision_as_of(const Path& path, Version version) {
  for (const Level& level : levels_) {
    if (version <= level.from) continue;
    const auto field = records_->field(level.number, path);
    if (!field) return tl::unexpected(field.error());
    if (*field == nullptr) {
      version = std::min(version, level.from);
      continue;
    }
    auto found = log_->revision_as_of(level.log(), path, (*field)->trail, version);
    if (!found || *found != nullptr) return found;
    version = level.from;
  }
  return nullptr;
}

Result<void> BoardLine::scan_fields(const std::optional<Path>& path, std::string_view from, const FieldVisitor& visit) {
  const auto kv = records_->kv();
  if (!kv) return tl::unexpected(kv.error());
  if (!is_fork()) return store::scan_fields(**kv, levels_[0].number, path, from, visit);
  const std::string prefix = board_prefix(levels_[0].number);
  const std::string_view start = from.substr(std::min(from.size(), prefix.size()));
  std::vector<FieldCursor> cursors;
  for (const Level& level : levels_) cursors.emplace_back(**kv, level.number, path, start);
  while (true) {
    std::optional<std::string> least;
    for (FieldCursor& cursor : cursors) {
      const auto at = cursor.peek();
      if (!at) return tl::unexpected(at.error());
      if (*at != nullptr && (!least || (*at)->key < *least)) least = (*at)->key;
    }
    if (!least) return {};
    bool is_told = false;  // the youngest level that has the field tells it
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const auto at = cursors[level].peek();
      if (!at) return tl::unexpected(at.error());
      if (*at == nullptr || (*at)->key != *least) continue;
      ScannedField field = cursors[level].take();
      if (is_told) continue;
      auto record = level == 0 ? std::optional(std::move(field.record)) : std::nullopt;
      if (level > 0) {
        auto as_it_was = inherited(level, field.path, field.record);
        if (!as_it_was) return tl::unexpected(as_it_was.error());
        if (*as_it_was != nullptr) record = **as_it_was;
      }
      if (!record) {
        is_told = field.record.erased > 0;  // nothing leads past an erasure
        continue;
      }
      is_told = true;
      const auto goes_on = visit(prefix + field.key, field.path, std::move(*record));
      if (!goes_on) return tl::unexpected(goes_on.error());
      if (!*goes_on) return {};
    }
  }
}

Result<void> BoardLine::scan_below_in_path_order(const Path& path, const FieldVisitor& visit) {
  return in_path_order(path, visit, [&](const FieldVisitor& each) { return scan_fields(path, {}, each); });
}

PartVisitor BoardLine::as_inherited(std::size_t level, const PartVisitor& visit) {
  return [this, level, &visit](const CellKey& key, const StoredCell&) -> Result<bool> {
    auto cell = inherited(level, key);
    if (!cell) return tl::unexpected(cell.error());
    return visit(key, std::move(*cell));
  };
}

Result<void> BoardLine::scan_parts(const Path& path, Part part, const PartVisitor& visit) {
  if (!is_fork()) return records_->scan_parts(levels_[0].number, path, part, visit);
  const auto found = find(path);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return {};
  const std::size_t level = (*found)->level;
  return records_->scan_parts(levels_[level].number, path, part, level == 0 ? visit : as_inherited(level, visit));
}

Result<void> BoardLine::scan_all_parts(const Path& path, Part from_part, std::string_view from_id,
                                       const PartVisitor& visit) {
  const auto kv = records_->kv();
  if (!kv) return tl::unexpected(kv.error());
  if (!is_fork()) return store::scan_all_parts(**kv, levels_[0].number, path, from_part, from_id, visit);
  const auto found = find(path);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return {};
  const std::size_t level = (*found)->level;
  return store::scan_all_parts(**kv, levels_[level].number, path, from_part, from_id,
                               level == 0 ? visit : as_inherited(level, visit));
}

}  // namespace tafel::store
