// What a history that was trimmed begins with: the state before its first event, and the older images that tags and
// forks keep.
#pragma once

#include <functional>

#include "blackboard/store/board_line.hpp"

namespace tafel::store {

struct BaseImage {
  CellKey key;            // part `field`: the record of the field, with its leaf; else a cell of it
  std::string payload;    // as in `fields` or `parts`; of an older one as in `floors`
  bool is_older = false;  // of a version that a tag or a fork keeps
  bool is_known = true;  // part `field`: false where its cells are not there, as they were erased since or are left out
};

inline bool is_trimmed(const BoardRecord& board) { return board.head.floor > board.fork + 1; }

// Visits the images of the board whose line it is, which is trimmed: of each field its record first. `is_left_out`
// names fields without whose cells it is to go.
Result<void> visit_base(KvRead& kv, const BoardLine& line, const std::function<bool(const Path&)>& is_left_out,
                        const std::function<Result<void>(BaseImage image)>& visit);

}  // namespace tafel::store
