// What is said to those who still write to a board that was deleted, or ask for it.
#pragma once

#include <string>

#include "blackboard/store/store.hpp"
#include "common/model/receipt.hpp"
#include "common/model/rights.hpp"

namespace tafel::broker {

// When and by whom is for those who may read something of the board.
ErrorInfo deleted_error(const std::string& board, const store::Deletion& deletion, const Rights& rights);

}  // namespace tafel::broker
