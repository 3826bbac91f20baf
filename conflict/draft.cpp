#include "conflict/draft.hpp"

#include <set>

namespace tafel::conflict {
namespace {

bool is_one_cell(Kind kind) { return kind != Kind::set && kind != Kind::log; }
Part part_of(Kind kind) { return kind == Kind::set ? Part::element : Part::entry; }

}  // namespace

CellPointer Draft::alive(CellPointer cell) const {
  if (!cell || !may_expire(*cell)) return cell;
  auto left = without_expired(*cell, now_);
  return left ? std::make_shared<const Cell>(std::move(*left)) : nullptr;
}

CellPointer Draft::cell(const CellKey& key) const {
  const auto at = overlay_.find(key);
  return at != overlay_.end() ? at->second : alive(board_.cell(key));
}

CellPointer Draft::as_of(const CellKey& key, Version version) const {
  if (version >= board_.version()) return alive(board_.cell(key));
  return alive(board_.cell_as_of(key, version));
}

CellPointer Draft::seen(const CellKey& key) const { return as_of(key, base_); }

std::vector<std::pair<CellKey, Cell>> Draft::seen_parts(const Path& path, Part part) const {
  std::vector<std::pair<CellKey, Cell>> found;
  std::vector<CellKey> moved;  // changed after the base: looked up when the scan is over
  board_.parts(path, part, [&](const CellKey& key, const CellPointer& now, Version changed) {
    if (changed > base_) {
      moved.push_back(key);
    } else if (const auto live = alive(now)) {
      found.emplace_back(key, *live);
    }
    return true;
  });
  for (const CellKey& key : moved) {
    if (const auto live = seen(key)) found.emplace_back(key, *live);
  }
  return found;
}

std::vector<std::pair<CellKey, Cell>> Draft::parts(const Path& path, Part part) const {
  std::map<CellKey, Cell> live;
  board_.parts(path, part, [&](const CellKey& key, const CellPointer& now, Version) {
    if (overlay_.contains(key)) return true;
    if (const auto cell = alive(now)) live.emplace(key, *cell);
    return true;
  });
  for (auto at = overlay_.lower_bound(CellKey{path, part, {}});
       at != overlay_.end() && at->first.path == path && at->first.part == part; ++at) {
    if (at->second) live.emplace(at->first, *at->second);
  }
  return {live.begin(), live.end()};
}

bool Draft::has_part(const Path& path, Part part) const {
  for (auto at = overlay_.lower_bound(CellKey{path, part, {}});
       at != overlay_.end() && at->first.path == path && at->first.part == part; ++at) {
    if (at->second) return true;
  }
  bool found = false;
  board_.parts(path, part, [&](const CellKey& key, const CellPointer& now, Version) {
    found = !overlay_.contains(key) && alive(now) != nullptr;
    return !found;
  });
  return found;
}

std::optional<Kind> Draft::kind_in_board(const Path& path, bool ignore_overlaid_parts) const {
  const auto info = board_.field(path);
  if (!info || !info->kind) return std::nullopt;
  const Kind kind = *info->kind;
  if (is_one_cell(kind)) {
    if (info->lasting > 0 || alive(board_.cell(leaf_key(path)))) return kind;
    return std::nullopt;
  }
  if (!ignore_overlaid_parts && info->lasting > 0) return kind;
  return has_part(path, part_of(kind)) ? std::optional(kind) : std::nullopt;
}

std::optional<Kind> Draft::kind(const Path& path) const {
  bool parts_overlaid = false;
  bool leaf_gone = false;
  for (auto at = overlay_.lower_bound(CellKey{path, Part::leaf, {}}); at != overlay_.end() && at->first.path == path;
       ++at) {
    if (at->first.part == Part::suggestion) break;
    if (at->second) return kind_of(*at->second);
    (at->first.part == Part::leaf ? leaf_gone : parts_overlaid) = true;
  }
  if (leaf_gone) return std::nullopt;
  return kind_in_board(path, parts_overlaid);
}

std::vector<std::pair<Path, Kind>> Draft::leaves_below(const Path& path, std::size_t count_max) const {
  std::map<Path, Kind> leaves;
  std::vector<Path> candidates;
  std::size_t certain = 0;  // the others may have expired, or be gone in this delta
  board_.fields_below(path, [&](const Path& below, const FieldInfo& info) {
    if (!info.kind) return true;
    candidates.push_back(below);
    const auto overlaid = overlay_.lower_bound(CellKey{below, Part::leaf, {}});
    const bool is_overlaid = overlaid != overlay_.end() && overlaid->first.path == below;
    certain += info.lasting > 0 && !is_overlaid ? 1 : 0;
    return certain < count_max;
  });
  std::set<Path> paths(candidates.begin(), candidates.end());
  for (auto at = overlay_.lower_bound(CellKey{path, Part::leaf, {}});
       at != overlay_.end() && at->first.path.is_at_or_below(path); ++at) {
    if (at->second && at->first.path != path) paths.insert(at->first.path);
  }
  for (const Path& below : paths) {
    if (leaves.size() >= count_max) break;
    if (const auto found = kind(below)) leaves.emplace(below, *found);
  }
  return {leaves.begin(), leaves.end()};
}

void Draft::remove_expired(const Path& path) {
  const auto info = board_.field(path);
  if (!info || !info->kind || info->lasting == info->parts) return;
  if (is_one_cell(*info->kind)) {
    const CellKey key = leaf_key(path);
    if (!overlay_.contains(key) && !alive(board_.cell(key))) put(key, std::nullopt);
    return;
  }
  std::vector<CellKey> expired;
  board_.parts(path, part_of(*info->kind), [&](const CellKey& key, const CellPointer& now, Version) {
    if (now && !overlay_.contains(key) && !alive(now)) expired.push_back(key);
    return true;
  });
  for (const CellKey& key : expired) put(key, std::nullopt);
}

void Draft::make_room(const Path& path) {
  remove_expired(path);
  for (auto above = path.parent(); above; above = above->parent()) remove_expired(*above);
  std::vector<Path> fields;
  board_.fields_below(path, [&](const Path& below, const FieldInfo& info) {
    if (info.kind) fields.push_back(below);
    return true;
  });
  for (const Path& below : fields) remove_expired(below);
}

void Draft::put(const CellKey& key, std::optional<Cell> given) {
  CellPointer image = given ? std::make_shared<const Cell>(std::move(*given)) : nullptr;
  const auto at = overlay_.find(key);
  if (at == overlay_.end()) {
    undo_.emplace_back(key, std::nullopt);
    overlay_.emplace(key, std::move(image));
  } else {
    undo_.emplace_back(key, std::move(at->second));
    at->second = std::move(image);
  }
}

void Draft::back_to(std::size_t point) {
  while (undo_.size() > point) {
    auto& [key, before] = undo_.back();
    if (before) {
      overlay_[key] = std::move(*before);
    } else {
      overlay_.erase(key);
    }
    undo_.pop_back();
  }
}

std::vector<Change> Draft::changes() const {
  std::vector<Change> changes;
  for (const auto& [key, image] : overlay_) {
    // A cell that this delta made and took away again was never there for anybody.
    if (image || board_.cell(key)) changes.push_back({key, image ? std::optional(*image) : std::nullopt});
  }
  return changes;
}

}  // namespace tafel::conflict
