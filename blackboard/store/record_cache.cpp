#include "blackboard/store/record_cache.hpp"

#include <utility>

#include "blackboard/store/record.hpp"
#include "common/base/check.hpp"
#include "common/base/hash.hpp"

namespace tafel::store {
namespace {

constexpr std::size_t entry_bytes = 256;  // about what the maps and the decoded form take beside the record itself

}  // namespace

void RecordCache::begin(KvWrite& kv) {
  TAFEL_CHECK(kv_ == nullptr, "one transaction at a time uses the cache");
  kv_ = &kv;
  has_put_ = false;
}

Result<void> RecordCache::write_back() {
  for (Field* field : waiting_fields_) {
    const std::string key = field_key(field->number, field->path);
    if (auto put = put_record(*kv_, Table::fields, key, encode_field(field->path, *field->record)); !put) return put;
    field->is_waiting = false;
  }
  waiting_fields_.clear();
  for (StoredPart* part : waiting_parts_) {
    if (!part->is_waiting) continue;  // erased since, or it stands here twice
    if (auto put = put_record(*kv_, Table::parts, key_of(*part), encode_part(*part->record)); !put) return put;
    part->is_waiting = false;
  }
  waiting_parts_.clear();
  return {};
}

void RecordCache::end(bool is_committed) {
  kv_ = nullptr;
  const bool is_sound = is_committed || !has_put_;
  TAFEL_CHECK(!is_committed || (waiting_fields_.empty() && waiting_parts_.empty()),
              "a transaction is committed with all that was put");
  if (is_sound && bytes_ <= bytes_max_) return;
  waiting_fields_.clear();
  waiting_parts_.clear();
  forget_all();
}

void RecordCache::forget_all() {
  TAFEL_CHECK(waiting_fields_.empty() && waiting_parts_.empty(), "what was put is written back before it is forgotten");
  parts_.clear();
  fields_.clear();
  bytes_ = 0;
  has_put_ = true;
}

std::size_t RecordCache::Hash::operator()(const FieldName& name) const {
  return static_cast<std::size_t>(checksum64(name.path) + static_cast<std::uint64_t>(name.number));
}

std::size_t RecordCache::Hash::operator()(const PartName& name) const {
  return static_cast<std::size_t>(checksum64(name.id) ^ std::hash<const Field*>()(name.field)) +
         static_cast<std::size_t>(name.part);
}

RecordCache::Field& RecordCache::open_field(BoardNumber number, const Path& path) {
  if (const auto at = fields_.find(FieldName{number, path.key()}); at != fields_.end()) return **at;
  bytes_ += path.key().size() + entry_bytes;
  return **fields_.insert(std::make_unique<Field>(number, path)).first;
}

Result<RecordCache::Field*> RecordCache::read_field(BoardNumber number, const Path& path) {
  Field& field = open_field(number, path);
  if (field.is_read) return &field;
  auto record = get_field(*kv_, number, path);
  if (!record) return tl::unexpected(record.error());
  if (*record) {
    bytes_ += (*record)->leaf.image().size();
    field.record = std::make_shared<const FieldRecord>(std::move(**record));
  } else {
    field.suggestions.emplace();  // nothing was ever written to it
  }
  field.is_read = true;
  return &field;
}

Result<FieldPointer> RecordCache::field(BoardNumber number, const Path& path) {
  const auto field = read_field(number, path);
  if (!field) return tl::unexpected(field.error());
  return (*field)->record;
}

RecordCache::StoredPart* RecordCache::find_part(const Field& field, const CellKey& key) {
  const auto at = parts_.find(PartName{&field, key.part, key.id});
  return at == parts_.end() ? nullptr : at->get();
}

RecordCache::StoredPart& RecordCache::new_part(Field& field, const CellKey& key) {
  bytes_ += key.id.size() + entry_bytes;
  return **parts_.insert(std::make_unique<StoredPart>(field, key.part, key.id)).first;
}

std::string RecordCache::key_of(StoredPart& part) {
  Field& field = *part.field;
  if (field.parts_prefix.empty()) field.parts_prefix = parts_prefix(field.number, field.path);
  std::string key;
  key.reserve(field.parts_prefix.size() + 1 + part.id.size());
  return key.append(field.parts_prefix).append(1, static_cast<char>(part.part)).append(part.id);
}

Result<PartPointer> RecordCache::part(BoardNumber number, const CellKey& cell) {
  Field& field = open_field(number, cell.path);
  if (const StoredPart* found = find_part(field, cell)) return found->record;
  StoredPart& part = new_part(field, cell);
  const std::string key = key_of(part);
  const auto payload = get_record(*kv_, Table::parts, key);
  auto record = payload && *payload ? decode_part(**payload) : std::nullopt;
  if (!payload || (*payload && !record)) {
    parts_.erase(parts_.find(part.name()));
    if (!payload) return tl::unexpected(payload.error());
    return bad_record(Table::parts, key, "this is no cell record");
  }
  if (*payload) {
    part.record = std::make_shared<const StoredCell>(std::move(*record));
    bytes_ += (*payload)->size();
  }
  return part.record;
}

Result<std::set<std::string>*> RecordCache::suggestions_of(BoardNumber number, const Path& path) {
  const auto field = read_field(number, path);
  if (!field) return tl::unexpected(field.error());
  auto& known = (*field)->suggestions;
  if (known) return &*known;
  if (auto written = write_back(); !written) return tl::unexpected(written.error());
  std::set<std::string> ids;
  const auto scanned =
      store::scan_parts(*kv_, number, path, Part::suggestion, [&](const CellKey& key, const StoredCell&) {
        ids.insert(key.id);
        return Result<bool>(true);
      });
  if (!scanned) return tl::unexpected(scanned.error());
  known = std::move(ids);
  return &*known;
}

Result<void> RecordCache::scan_parts(BoardNumber number, const Path& path, Part part, const PartVisitor& visit) {
  if (part != Part::suggestion) {
    if (auto written = write_back(); !written) return written;
    return store::scan_parts(*kv_, number, path, part, visit);
  }
  const auto ids = suggestions_of(number, path);
  if (!ids) return tl::unexpected(ids.error());
  for (const std::string& id : **ids) {
    const CellKey key{path, part, id};
    const auto record = this->part(number, key);
    if (!record) return tl::unexpected(record.error());
    if (*record == nullptr) continue;
    const auto goes_on = visit(key, **record);
    if (!goes_on) return tl::unexpected(goes_on.error());
    if (!*goes_on) break;
  }
  return {};
}

Result<KvRead*> RecordCache::kv() {
  if (auto written = write_back(); !written) return tl::unexpected(written.error());
  return kv_;
}

Result<void> RecordCache::put_field(BoardNumber number, const Path& path, FieldRecord record) {
  Field& field = open_field(number, path);
  field.record = std::make_shared<const FieldRecord>(std::move(record));
  field.is_read = true;
  has_put_ = true;
  if (!std::exchange(field.is_waiting, true)) waiting_fields_.push_back(&field);
  return {};
}

Result<void> RecordCache::put_part(BoardNumber number, const CellKey& key, StoredCell record) {
  if (key.part == Part::suggestion) {
    const auto ids = suggestions_of(number, key.path);
    if (!ids) return tl::unexpected(ids.error());
    (*ids)->insert(key.id);
  }
  Field& field = open_field(number, key.path);
  StoredPart* const found = find_part(field, key);
  StoredPart& part = found != nullptr ? *found : new_part(field, key);
  part.record = std::make_shared<const StoredCell>(std::move(record));
  has_put_ = true;
  if (!std::exchange(part.is_waiting, true)) waiting_parts_.push_back(&part);
  return {};
}

Result<void> RecordCache::erase_part(BoardNumber number, const CellKey& key) {
  Field& field = open_field(number, key.path);
  if (field.suggestions && key.part == Part::suggestion) field.suggestions->erase(key.id);
  StoredPart* const found = find_part(field, key);
  StoredPart& part = found != nullptr ? *found : new_part(field, key);
  part.record = nullptr;
  part.is_waiting = false;
  has_put_ = true;
  return kv_->erase(Table::parts, key_of(part));
}

}  // namespace tafel::store
