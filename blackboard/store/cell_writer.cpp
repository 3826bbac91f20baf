#include "blackboard/store/cell_writer.hpp"

#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/check.hpp"

namespace tafel::store {
namespace {

Result<blackboard::CellBefore> replace(StoredCell& cell, const Change& change, Version version) {
  auto image = cell.cell();
  if (!image) return tl::unexpected(image.error());
  const auto pointers = cell.trail.push(version);
  cell.image = encode_image(change.image);
  return blackboard::CellBefore{std::move(*image), pointers.previous, pointers.jump};
}

Result<blackboard::CellBefore> replace_part(KvWrite& kv, BoardNumber number, const Change& change, Version version) {
  auto found = get_part(kv, number, change.key);
  if (!found) return tl::unexpected(found.error());
  StoredCell cell = found->value_or(StoredCell());
  auto before = replace(cell, change, version);
  if (!before) return before;
  if (auto put = put_record(kv, Table::parts, part_key(number, change.key), encode_part(cell)); !put) {
    return tl::unexpected(put.error());
  }
  return before;
}

// The field whose changes are being put in place; its record is written once, after the last of them.
class OpenField {
 public:
  static Result<OpenField> open(KvWrite& kv, BoardNumber number, const Path& path) {
    auto record = get_field(kv, number, path);
    if (!record) return tl::unexpected(record.error());
    return OpenField(path, record->value_or(FieldRecord()));
  }

  const Path& path() const { return path_; }

  Result<blackboard::CellBefore> apply(KvWrite& kv, BoardNumber number, const Change& change, Version version) {
    auto before = change.key.part == Part::leaf ? replace(record_.leaf, change, version)
                                                : replace_part(kv, number, change, version);
    if (before) record_.info = blackboard::field_after(record_.info, before->image, change, version);
    return before;
  }

  Result<void> write(KvWrite& kv, BoardNumber number) const {
    return put_record(kv, Table::fields, field_key(number, path_), encode_field(path_, record_));
  }

 private:
  OpenField(Path path, FieldRecord record) : path_(std::move(path)), record_(std::move(record)) {}

  Path path_;
  FieldRecord record_;
};

}  // namespace

Result<std::vector<blackboard::CellBefore>> write_changes(KvWrite& kv, BoardNumber number,
                                                          const std::vector<Change>& changes, Version version) {
  std::vector<blackboard::CellBefore> before;
  for (std::size_t i = 0; i < changes.size();) {
    auto field = OpenField::open(kv, number, changes[i].key.path);
    if (!field) return tl::unexpected(field.error());
    for (; i < changes.size() && changes[i].key.path == field->path(); ++i) {
      // The log is searched by key, so its order is a promise to every later reader.
      TAFEL_CHECK(i == 0 || changes[i - 1].key < changes[i].key, "changes are ordered by cell key, each key once");
      auto cell = field->apply(kv, number, changes[i], version);
      if (!cell) return tl::unexpected(cell.error());
      before.push_back(std::move(*cell));
    }
    if (auto written = field->write(kv, number); !written) return tl::unexpected(written.error());
  }
  return before;
}

}  // namespace tafel::store
