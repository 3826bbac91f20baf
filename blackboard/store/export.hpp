// Boards as text, to be read by people and tools and to be imported into another store. One JSON object a line:
//
//   {"line":"header","tafel_export":1,"epoch":…,"all":…}          all: nothing was left out
//   {"line":"board","board":…,"version":…,"time":…,"hash":…,"digest":…,"floor":…,"erased":…,
//    "parent":null|{"board":…,"version":…}}
//   {"line":"image","path":…,"part":…,"id":…,"older":…,"known":…,"record":…}          see board_base.hpp; base64
//   {"line":"event", members as `tafel log` shows them …, "record":…}   record: codec/event_codec.hpp, in base64
//   {"line":"erasure","board":…,"path":…,"version":…,"actor":…,"time":…}
//   {"line":"end","boards":…,"versions":…}
//
// A board is followed by its events, in order (a fork's from the one after its parent's version on), and by its
// erasures. Where its history was trimmed, the images that it begins with come first, then the older events that tags
// and forks keep. Parents stand before their forks. Of an event only `line` and `record` are read back.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "blackboard/store/kv.hpp"
#include "common/model/cell.hpp"
#include "common/model/schema.hpp"

namespace tafel::store {

inline constexpr std::uint64_t export_format = 1;

using ReadCell = std::function<Result<std::optional<Cell>>(const std::string& board, const CellKey& key)>;

struct ExportOptions {
  std::vector<std::string> boards;  // with the boards that they were forked from; empty: all
  // The schema of a board: what it calls personal or secret is left out. Empty: nothing is.
  std::function<Result<std::shared_ptr<const Schema>>(const std::string& board, const ReadCell& read)> schema_of;
};

struct ExportCounts {
  std::uint64_t boards = 0;
  std::uint64_t versions = 0;
  std::uint64_t fields_left_out = 0;
};

using WriteLine = std::function<Result<void>(const std::string& line)>;

// Fault::not_found for a board that is not there. `kv` shows one moment.
Result<ExportCounts> export_boards(KvRead& kv, const ExportOptions& options, const WriteLine& write);

}  // namespace tafel::store
