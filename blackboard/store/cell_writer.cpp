#include "blackboard/store/cell_writer.hpp"

#include "blackboard/store/expiry_index.hpp"
#include "blackboard/store/floors.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/check.hpp"

namespace tafel::store {
namespace {

// A cell as it was, and what the event is to know of it.
struct Replaced {
  CellPointer image;
  blackboard::CellBefore before;
};

// True for what was made by an event that is not in the log any more: once replaced, it would be nowhere.
bool must_be_kept(const BoardLog& log, const blackboard::Trail& trail) {
  return !trail.steps().empty() && trail.newest() < log.floor;
}

Result<Replaced> replace(RecordCache& records, const BoardLog& log, StoredCell& cell, const Change& change,
                         Version version) {
  auto image = cell.cell();
  if (!image) return tl::unexpected(image.error());
  const auto digest = cell.digest(change.key);
  if (!digest) return tl::unexpected(digest.error());
  if (must_be_kept(log, cell.trail)) {
    if (auto kept = keep_cell(records.other_tables(), log.number, change.key, cell); !kept)
      return tl::unexpected(kept.error());
  }
  const auto pointers = cell.trail.push(version);
  cell.set_cell(change.image ? std::make_shared<const Cell>(*change.image) : nullptr);
  const auto after = cell.digest(change.key);
  if (!after) return tl::unexpected(after.error());
  return Replaced{std::move(*image), {*digest, pointers.previous, pointers.jump, *after}};
}

Result<Replaced> replace_part(RecordCache& records, const BoardLog& log, const Change& change, Version version) {
  const auto found = records.part(log.number, change.key);
  if (!found) return tl::unexpected(found.error());
  StoredCell cell = *found != nullptr ? **found : StoredCell();
  auto before = replace(records, log, cell, change, version);
  if (!before) return before;
  if (auto put = records.put_part(log.number, change.key, std::move(cell)); !put) return tl::unexpected(put.error());
  return before;
}

// Takes the records of all parts of a field away, trails too, and gives what they added to the digest.
Result<Sum128> remove_parts(RecordCache& records, BoardNumber number, const Path& path) {
  std::vector<CellKey> keys;
  Sum128 digest;
  const auto kv = records.kv();
  if (!kv) return tl::unexpected(kv.error());
  const auto scanned = scan_all_parts(**kv, number, path, Part::element, {},
                                      [&](const CellKey& key, const StoredCell& stored) -> Result<bool> {
                                        const auto added = stored.digest(key);
                                        if (!added) return tl::unexpected(added.error());
                                        digest += *added;
                                        keys.push_back(key);
                                        return true;
                                      });
  if (!scanned) return tl::unexpected(scanned.error());
  for (const CellKey& key : keys) {
    if (auto erased = records.erase_part(number, key); !erased) return tl::unexpected(erased.error());
  }
  return digest;
}

// Copies the cells of a field that a fork inherits. Their trails begin here: what lies before is found through the
// line.
Result<std::optional<FieldRecord>> take_over(RecordCache& records, BoardLine& line, const Path& path) {
  const auto inherited = line.field(path);
  if (!inherited) return tl::unexpected(inherited.error());
  if (*inherited == nullptr) return std::nullopt;
  FieldRecord record = **inherited;
  std::vector<std::pair<CellKey, StoredCell>> parts;
  const auto scanned = line.scan_all_parts(path, Part::element, {}, [&](const CellKey& key, StoredCell part) {
    part.trail = {};
    if (part.is_live()) parts.emplace_back(key, std::move(part));
    return Result<bool>(true);
  });
  if (!scanned) return tl::unexpected(scanned.error());
  const BoardLine::Level& level = line.levels().front();
  if (record.leaf.is_live()) parts.emplace_back(leaf_key(path), record.leaf);
  for (auto& [key, part] : parts) {
    const auto cell = part.cell();
    if (!cell) return tl::unexpected(cell.error());
    if (auto noted = note_expiry(records.other_tables(), level.board, level.number, key, **cell); !noted) {
      return tl::unexpected(noted.error());
    }
    if (key.part == Part::leaf) continue;
    if (auto put = records.put_part(level.number, key, std::move(part)); !put) return tl::unexpected(put.error());
  }
  record.trail = {};
  record.leaf.trail = {};
  return record;
}

// The field whose changes are being put in place; its record is written once, after the last of them.
class OpenField {
 public:
  static Result<OpenField> open(RecordCache& records, BoardLine& line, const Path& path) {
    const BoardLog log = line.levels().front().log();
    const auto present = records.field(log.number, path);
    if (!present) return tl::unexpected(present.error());
    std::optional<FieldRecord> record;
    if (*present != nullptr) {
      record = **present;
    } else if (line.is_fork()) {
      auto taken_over = take_over(records, line, path);
      if (!taken_over) return tl::unexpected(taken_over.error());
      record = std::move(*taken_over);
    }
    if (record && must_be_kept(log, record->trail)) {
      if (auto kept = keep_field(records.other_tables(), log.number, path, *record); !kept)
        return tl::unexpected(kept.error());
    }
    return OpenField(path, std::move(record).value_or(FieldRecord()));
  }

  const Path& path() const { return path_; }

  Result<blackboard::CellBefore> apply(RecordCache& records, const BoardLog& log, const Change& change,
                                       Version version) {
    if (change.key.part == Part::field) return remove(records, log.number, change, version);
    const auto replaced = change.key.part == Part::leaf ? replace(records, log, record_.leaf, change, version)
                                                        : replace_part(records, log, change, version);
    if (!replaced) return tl::unexpected(replaced.error());
    record_.info = blackboard::field_after(record_.info, replaced->image.get(), change, version);
    return replaced->before;
  }

  // After the last change of the event.
  Result<TouchedField> write(RecordCache& records, BoardNumber number, Version version) {
    const auto pointers = record_.trail.push(version);
    TouchedField touched{path_, record_.info, pointers.previous, pointers.jump};
    if (auto put = records.put_field(number, path_, std::move(record_)); !put) return tl::unexpected(put.error());
    return touched;
  }

 private:
  OpenField(Path path, FieldRecord record) : path_(std::move(path)), record_(std::move(record)) {}

  // The cells go with their trails: nothing leads back to what they were.
  Result<blackboard::CellBefore> remove(RecordCache& records, BoardNumber number, const Change& change,
                                        Version version) {
    const auto leaf = record_.leaf.digest(leaf_key(path_));
    if (!leaf) return tl::unexpected(leaf.error());
    auto digest = remove_parts(records, number, path_);
    if (!digest) return tl::unexpected(digest.error());
    if (auto dropped = drop_kept_cells(records.other_tables(), number, path_); !dropped)
      return tl::unexpected(dropped.error());
    *digest += *leaf;
    record_.leaf = StoredCell();
    record_.erased = version;
    record_.info = blackboard::field_after(record_.info, nullptr, change, version);
    return blackboard::CellBefore{*digest, 0, 0};
  }

  Path path_;
  FieldRecord record_;
};

}  // namespace

Result<blackboard::Placed> write_changes(RecordCache& records, BoardLine& line, const std::vector<Change>& changes,
                                         Version version) {
  const BoardLog log = line.levels().front().log();
  blackboard::Placed placed;
  for (std::size_t i = 0; i < changes.size();) {
    auto field = OpenField::open(records, line, changes[i].key.path);
    if (!field) return tl::unexpected(field.error());
    for (; i < changes.size() && changes[i].key.path == field->path(); ++i) {
      // The log is searched by key, so its order is a promise to every later reader.
      TAFEL_CHECK(i == 0 || changes[i - 1].key < changes[i].key, "changes are ordered by cell key, each key once");
      if (changes[i].image) {
        auto noted = note_expiry(records.other_tables(), line.levels().front().board, log.number, changes[i].key,
                                 *changes[i].image);
        if (!noted) return tl::unexpected(noted.error());
      }
      auto cell = field->apply(records, log, changes[i], version);
      if (!cell) return tl::unexpected(cell.error());
      placed.cells.push_back(*cell);
    }
    auto touched = field->write(records, log.number, version);
    if (!touched) return tl::unexpected(touched.error());
    placed.fields.push_back(std::move(*touched));
  }
  return placed;
}

Result<blackboard::Placed> write_changes(KvWrite& kv, BoardLine& line, const std::vector<Change>& changes,
                                         Version version) {
  RecordCache records;
  records.begin(kv);
  auto placed = write_changes(records, line, changes, version);
  if (!placed) return placed;
  if (auto written = records.write_back(); !written) return tl::unexpected(written.error());
  return placed;
}

}  // namespace tafel::store
