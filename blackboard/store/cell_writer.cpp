#include "blackboard/store/cell_writer.hpp"

#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/expiry_index.hpp"
#include "blackboard/store/floors.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/check.hpp"

namespace tafel::store {
namespace {

// A cell as it was, and the way back to it.
struct Replaced {
  std::optional<Cell> image;
  blackboard::Trail::Pointers pointers;
};

// True for what was made by an event that is not in the log any more: once replaced, it would be nowhere.
bool must_be_kept(const BoardLog& log, const blackboard::Trail& trail) {
  return !trail.steps().empty() && trail.newest() < log.floor;
}

Result<Replaced> replace(KvWrite& kv, const BoardLog& log, StoredCell& cell, const Change& change, Version version) {
  auto image = cell.cell();
  if (!image) return tl::unexpected(image.error());
  if (must_be_kept(log, cell.trail)) {
    if (auto kept = keep_cell(kv, log.number, change.key, cell); !kept) return tl::unexpected(kept.error());
  }
  const auto pointers = cell.trail.push(version);
  cell.image = encode_image(change.image);
  return Replaced{std::move(*image), pointers};
}

Result<Replaced> replace_part(KvWrite& kv, const BoardLog& log, const Change& change, Version version) {
  auto found = get_part(kv, log.number, change.key);
  if (!found) return tl::unexpected(found.error());
  StoredCell cell = found->value_or(StoredCell());
  auto before = replace(kv, log, cell, change, version);
  if (!before) return before;
  if (auto put = put_record(kv, Table::parts, part_key(log.number, change.key), encode_part(cell)); !put) {
    return tl::unexpected(put.error());
  }
  return before;
}

// Takes the records of all parts of a field away, trails too, and gives what they added to the digest.
Result<Sum128> remove_parts(KvWrite& kv, BoardNumber number, const Path& path) {
  std::vector<CellKey> keys;
  Sum128 digest;
  const auto scanned = scan_all_parts(kv, number, path, Part::element, {},
                                      [&](const CellKey& key, const StoredCell& stored) -> Result<bool> {
                                        const auto cell = stored.cell();
                                        if (!cell) return tl::unexpected(cell.error());
                                        if (*cell) digest += digest_of(key, **cell);
                                        keys.push_back(key);
                                        return true;
                                      });
  if (!scanned) return tl::unexpected(scanned.error());
  for (const CellKey& key : keys) {
    if (auto erased = kv.erase(Table::parts, part_key(number, key)); !erased) return tl::unexpected(erased.error());
  }
  return digest;
}

// Copies the cells of a field that a fork inherits. Their trails begin here: what lies before is found through the
// line.
Result<std::optional<FieldRecord>> take_over(KvWrite& kv, BoardLine& line, const Path& path) {
  auto record = line.field(path);
  if (!record || !*record) return record;
  std::vector<std::pair<CellKey, StoredCell>> parts;
  const auto scanned = line.scan_all_parts(path, Part::element, {}, [&](const CellKey& key, StoredCell part) {
    part.trail = {};
    if (part.is_live()) parts.emplace_back(key, std::move(part));
    return Result<bool>(true);
  });
  if (!scanned) return tl::unexpected(scanned.error());
  const BoardLine::Level& level = line.levels().front();
  if ((*record)->leaf.is_live()) parts.emplace_back(leaf_key(path), (*record)->leaf);
  for (const auto& [key, part] : parts) {
    const auto cell = part.cell();
    if (!cell) return tl::unexpected(cell.error());
    if (auto noted = note_expiry(kv, level.board, level.number, key, **cell); !noted) {
      return tl::unexpected(noted.error());
    }
    if (key.part == Part::leaf) continue;
    const auto put = put_record(kv, Table::parts, part_key(level.number, key), encode_part(part));
    if (!put) return tl::unexpected(put.error());
  }
  (*record)->trail = {};
  (*record)->leaf.trail = {};
  return record;
}

// The field whose changes are being put in place; its record is written once, after the last of them.
class OpenField {
 public:
  static Result<OpenField> open(KvWrite& kv, BoardLine& line, const Path& path) {
    const BoardLog log = line.levels().front().log();
    auto record = get_field(kv, log.number, path);
    if (record && !*record && line.is_fork()) record = take_over(kv, line, path);
    if (!record) return tl::unexpected(record.error());
    if (*record && must_be_kept(log, (*record)->trail)) {
      if (auto kept = keep_field(kv, log.number, path, **record); !kept) return tl::unexpected(kept.error());
    }
    return OpenField(path, record->value_or(FieldRecord()));
  }

  const Path& path() const { return path_; }

  Result<blackboard::CellBefore> apply(KvWrite& kv, const BoardLog& log, const Change& change, Version version) {
    if (change.key.part == Part::field) return remove(kv, log.number, change, version);
    const auto before = change.key.part == Part::leaf ? replace(kv, log, record_.leaf, change, version)
                                                      : replace_part(kv, log, change, version);
    if (!before) return tl::unexpected(before.error());
    record_.info = blackboard::field_after(record_.info, before->image, change, version);
    const Sum128 digest = before->image ? digest_of(change.key, *before->image) : Sum128{};
    return blackboard::CellBefore{digest, before->pointers.previous, before->pointers.jump};
  }

  // After the last change of the event.
  Result<TouchedField> write(KvWrite& kv, BoardNumber number, Version version) {
    const auto pointers = record_.trail.push(version);
    const auto put = put_record(kv, Table::fields, field_key(number, path_), encode_field(path_, record_));
    if (!put) return tl::unexpected(put.error());
    return TouchedField{path_, record_.info, pointers.previous, pointers.jump};
  }

 private:
  OpenField(Path path, FieldRecord record) : path_(std::move(path)), record_(std::move(record)) {}

  // The cells go with their trails: nothing leads back to what they were.
  Result<blackboard::CellBefore> remove(KvWrite& kv, BoardNumber number, const Change& change, Version version) {
    const auto leaf = record_.leaf.cell();
    if (!leaf) return tl::unexpected(leaf.error());
    auto digest = remove_parts(kv, number, path_);
    if (!digest) return tl::unexpected(digest.error());
    if (auto dropped = drop_kept_cells(kv, number, path_); !dropped) return tl::unexpected(dropped.error());
    if (*leaf) *digest += digest_of(leaf_key(path_), **leaf);
    record_.leaf = StoredCell();
    record_.erased = version;
    record_.info = blackboard::field_after(record_.info, std::nullopt, change, version);
    return blackboard::CellBefore{*digest, 0, 0};
  }

  Path path_;
  FieldRecord record_;
};

}  // namespace

Result<blackboard::Placed> write_changes(KvWrite& kv, BoardLine& line, const std::vector<Change>& changes,
                                         Version version) {
  const BoardLog log = line.levels().front().log();
  const BoardNumber number = log.number;
  blackboard::Placed placed;
  for (std::size_t i = 0; i < changes.size();) {
    auto field = OpenField::open(kv, line, changes[i].key.path);
    if (!field) return tl::unexpected(field.error());
    for (; i < changes.size() && changes[i].key.path == field->path(); ++i) {
      // The log is searched by key, so its order is a promise to every later reader.
      TAFEL_CHECK(i == 0 || changes[i - 1].key < changes[i].key, "changes are ordered by cell key, each key once");
      if (changes[i].image) {
        auto noted = note_expiry(kv, line.levels().front().board, number, changes[i].key, *changes[i].image);
        if (!noted) return tl::unexpected(noted.error());
      }
      auto cell = field->apply(kv, log, changes[i], version);
      if (!cell) return tl::unexpected(cell.error());
      placed.cells.push_back(*cell);
    }
    auto touched = field->write(kv, number, version);
    if (!touched) return tl::unexpected(touched.error());
    placed.fields.push_back(std::move(*touched));
  }
  return placed;
}

}  // namespace tafel::store
