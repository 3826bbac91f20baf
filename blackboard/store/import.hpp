// Reads what export.hpp writes into a store that nobody else has open. Nothing in the file is believed: each event must
// continue the chain, lead back to the older versions that are there and make the digest that it says, and a board is
// seen only when all of it is there and a replay of its log agrees.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "blackboard/store/kv.hpp"
#include "common/base/clock.hpp"
#include "common/base/random.hpp"

namespace tafel::store {

struct ImportCounts {
  std::uint64_t boards = 0;
  std::uint64_t versions = 0;
  std::uint64_t boards_known = 0;     // were there, with the same history
  std::uint64_t fields_left_out = 0;  // erased here, since the export did not hold them
};

// The next line without its end; nullopt: the end of the file.
using NextLine = std::function<Result<std::optional<std::string>>()>;

// `kv` holds a store (see prepare_store). A failure names the line; the boards before it are there, the one in which it
// was is not. A board that is there already is never written to: it must have the same event at the version of the
// file.
Result<ImportCounts> import_boards(Kv& kv, Random& random, TimeMs now, const NextLine& next_line);

// Removes what an import that was cut off has left.
Result<void> undo_import(Kv& kv);

}  // namespace tafel::store
