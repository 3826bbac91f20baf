// What is left to do when a board was deleted: all that it held goes, a part at a time, until only its record, the last
// event, and the receipt of the deletion are left.
#pragma once

#include <string>

#include "blackboard/store/layout.hpp"

namespace tafel::store {

// Takes at most `count` records away. What goes is not decoded, so damage in it does no harm. `cursor` is kept by the
// caller from one call to the next: the index of expiry is not ordered by boards, and is gone through once. True when
// nothing is left.
Result<bool> purge(KvWrite& kv, const BoardRecord& board, std::string& cursor, std::size_t count);

// Whether nothing is left but for the index of expiry, which is not looked at.
Result<bool> is_purged(KvRead& kv, const BoardRecord& board);

}  // namespace tafel::store
