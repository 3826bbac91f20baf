#include "blackboard/expiry.hpp"

#include <map>

namespace tafel::blackboard {
namespace {

bool has_expired(const Cell& cell, TimeMs now) {
  bool found = false;
  for_each_dot(cell, [&](const Dot& dot) { found = found || dot.is_expired(now); });
  return found;
}

}  // namespace

conflict::Judgement expire(const conflict::BoardView& board, const std::vector<CellKey>& cells, TimeMs now) {
  std::map<CellKey, std::optional<Cell>> images;
  for (const CellKey& key : cells) {
    const auto cell = board.cell(key);
    if (cell && has_expired(*cell, now)) images[key] = without_expired(*cell, now);
  }
  conflict::Judgement judgement;
  judgement.base = board.version();
  for (auto& [key, image] : images) judgement.changes.push_back({key, std::move(image)});
  return judgement;
}

}  // namespace tafel::blackboard
