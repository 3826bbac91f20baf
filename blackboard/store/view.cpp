#include "blackboard/store/view.hpp"

namespace tafel::store {

bool View::keeps(Version version) const {
  if (failure_) return false;
  return version >= board_.fork && checked(line_.keeps(version, board_.head));
}

std::optional<FieldInfo> View::field(const Path& path) const {
  if (failure_) return std::nullopt;
  const auto record = checked(line_.field(path));
  // A field that only ever had suggestions was never there.
  if (record == nullptr || record->info.changed == 0) return std::nullopt;
  return record->info;
}

void View::fields_below(const Path& path, const FieldVisitor& visit) const {
  if (failure_) return;
  note(line_.scan_below_in_path_order(
      path, [&](std::string_view, const Path& found, const FieldRecord& record) -> Result<bool> {
        return record.info.changed == 0 || visit(found, record.info);
      }));
}

void View::all_fields(const FieldVisitor& visit) const {
  if (failure_) return;
  note(line_.scan_fields(std::nullopt, {},
                         [&](std::string_view, const Path& found, const FieldRecord& record) -> Result<bool> {
                           return record.info.changed == 0 || visit(found, record.info);
                         }));
}

CellPointer View::cell(const CellKey& key) const {
  if (failure_) return nullptr;
  const auto record = checked(line_.cell(key));
  return record != nullptr ? checked(record->cell()) : nullptr;
}

CellPointer View::cell_as_of(const CellKey& key, Version version) const {
  if (failure_) return nullptr;
  return checked(line_.image_as_of(key, version));
}

std::optional<conflict::CellChange> View::change_at(const CellKey& key, Version version) const {
  if (failure_) return std::nullopt;
  return checked(line_.change_at(key, version));
}

void View::parts(const Path& path, Part part, const PartVisitor& visit) const {
  if (failure_) return;
  note(line_.scan_parts(path, part, [&](const CellKey& key, const StoredCell& record) -> Result<bool> {
    const auto now = record.cell();
    if (!now) return tl::unexpected(now.error());
    return visit(key, *now, record.trail.newest());
  }));
}

template <class T>
T View::checked(Result<T> result) const {
  if (result) return std::move(*result);
  failure_ = result.error();
  return T();
}

void View::note(const Result<void>& result) const {
  if (!result) failure_ = result.error();
}

}  // namespace tafel::store
