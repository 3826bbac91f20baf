#include "blackboard/board.hpp"

#include <algorithm>

namespace tafel::blackboard {

void Board::put(const CellKey& key, std::optional<Cell> image) {
  if (key.part == Part::field) return remove_field(key.path);
  if (key.part == Part::board) return remove_all();
  const auto at = cells_.find(key);
  if (at != cells_.end()) digest_ -= digest_of(key, at->second);
  if (image) digest_ += digest_of(key, *image);
  if (!image) {
    if (at != cells_.end()) cells_.erase(at);
  } else if (at != cells_.end()) {
    at->second = std::move(*image);
  } else {
    cells_.emplace(key, std::move(*image));
  }
}

void Board::remove_field(const Path& path) {
  auto at = cells_.lower_bound(leaf_key(path));
  for (; at != cells_.end() && at->first.path == path; at = cells_.erase(at))
    digest_ -= digest_of(at->first, at->second);
}

void Board::remove_all() {
  cells_.clear();
  digest_ = {};
}

void Board::apply(Version version, const std::vector<Change>& changes) {
  for (const Change& change : changes) put(change.key, change.image);
  version_ = version;
}

const Cell* Board::find(const CellKey& key) const {
  const auto at = cells_.find(key);
  return at == cells_.end() ? nullptr : &at->second;
}

std::pair<Board::Cells::const_iterator, Board::Cells::const_iterator> Board::range(
    const std::optional<Path>& path) const {
  if (!path) return {cells_.begin(), cells_.end()};
  const auto first = cells_.lower_bound(CellKey{*path, Part::leaf, {}});
  const auto last =
      std::find_if(first, cells_.end(), [&](const auto& entry) { return !entry.first.path.is_at_or_below(*path); });
  return {first, last};
}

}  // namespace tafel::blackboard
