#include "blackboard/store/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "blackboard/seal.hpp"
#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/text.hpp"
#include "common/codec/event_codec.hpp"

namespace tafel::store {
namespace {

constexpr std::size_t defects_max = 20;

// "the element 0a of field countries"
std::string name_of_cell(const CellKey& key) {
  constexpr std::array<const char*, 4> parts{"leaf", "element", "entry", "suggestion"};
  const std::string id = key.id.empty() ? std::string() : " " + to_hex(key.id);
  return fmt::format("the {}{} of field {}", parts[static_cast<std::size_t>(key.part)], id, key.path.text());
}

class Verification {
 public:
  Verification(KvRead& kv, const std::string& board) : kv_(kv) { report_.board = board; }

  Result<VerifyReport> run() {
    if (auto read = tolerate(read_head()); !read) return tl::unexpected(read.error());
    if (board_.number == BoardNumber::none) return report_;
    for (const auto step : {&Verification::replay, &Verification::compare_fields, &Verification::count_parts,
                            &Verification::check_receipts}) {
      if (is_worn_out()) break;
      if (auto done = tolerate((this->*step)()); !done) return tl::unexpected(done.error());
    }
    return report_;
  }

 private:
  // A cell as the log tells it.
  struct Replayed {
    blackboard::Trail trail;
    std::optional<Cell> cell;
  };

  bool is_worn_out() const { return report_.defects.size() >= defects_max; }
  void note(std::string defect) {
    if (!is_worn_out()) report_.defects.push_back(std::move(defect));
  }
  // Bytes that are not right are what a verification looks for; any other failure ends it.
  Result<void> tolerate(const Result<void>& result) {
    if (result || result.error().fault != Fault::bad_bytes) return result;
    note(result.error().message);
    return {};
  }

  Result<void> read_head() {
    const auto record = get_board(kv_, report_.board);
    if (!record) return tl::unexpected(record.error());
    board_ = *record;
    report_.version = board_.head.version;
    return {};
  }

  Result<void> replay() {
    const std::string prefix = board_prefix(board_.number);
    const auto scanned =
        scan_records(kv_, Table::events, prefix, prefix,
                     [&](std::string_view key, std::string_view record) { return replay_event(key, record); });
    if (!scanned) return scanned;
    const Head& head = board_.head;
    if (replayed_.version != head.version) {
      note(fmt::format("the log ends at version {}, the head says {}", replayed_.version, head.version));
    } else if (replayed_.hash != head.hash || replayed_.time != head.time || !(replayed_.digest == head.digest)) {
      note(fmt::format("the head does not fit the event of version {}", head.version));
    }
    return {};
  }

  Result<bool> replay_event(std::string_view key, std::string_view record) {
    const auto event = codec::decode_event(record);
    if (!event) return bad_record(Table::events, key, event.error().message);
    if (key != event_key(board_.number, event->version))
      note(fmt::format("version {} stands in a wrong place", event->version));
    if (event->board != report_.board)
      note(fmt::format("version {} belongs to board {}", event->version, event->board));
    if (auto defect = blackboard::chain_defect(replayed_, *event)) note(std::move(*defect));
    Sum128 digest = replayed_.digest;
    for (const LoggedChange& change : event->changes) apply(change, event->version, digest);
    if (!(digest == event->digest))
      note(fmt::format("the digest of version {} does not fit the state after it", event->version));
    replayed_ = blackboard::head_after(replayed_, *event);
    ++report_.events;
    return !is_worn_out();
  }

  void apply(const LoggedChange& logged, Version version, Sum128& digest) {
    const Change& change = logged.change;
    Replayed& cell = cells_[change.key];
    if (version <= cell.trail.newest()) {
      note(fmt::format("version {} changes {} twice", version, name_of_cell(change.key)));
      return;
    }
    const auto pointers = cell.trail.push(version);
    if (pointers.previous != logged.previous || pointers.jump != logged.jump) {
      note(fmt::format("version {} leads to wrong older versions of {}", version, name_of_cell(change.key)));
    }
    if (cell.cell) digest -= digest_of(change.key, *cell.cell);
    if (change.image) digest += digest_of(change.key, *change.image);
    conflict::FieldInfo& field = fields_[change.key.path];
    field = blackboard::field_after(field, cell.cell, change, version);
    cell.cell = change.image;
  }

  Result<void> compare_fields() {
    std::size_t found = 0;
    const auto scanned =
        scan_fields(kv_, board_.number, std::nullopt, {},
                    [&](std::string_view, const Path& path, const FieldRecord& stored) -> Result<bool> {
                      ++found;
                      return compare_field(path, stored);
                    });
    if (!scanned || is_worn_out()) return scanned;
    if (found < fields_.size())
      note(fmt::format("{} of {} fields are missing", fields_.size() - found, fields_.size()));
    const auto is_live = [](const auto& cell) { return cell.second.cell.has_value(); };
    const auto live = static_cast<std::uint64_t>(std::count_if(cells_.begin(), cells_.end(), is_live));
    if (report_.cells != live) note(fmt::format("{} cells are stored, the log makes {}", report_.cells, live));
    return {};
  }

  Result<bool> compare_field(const Path& path, const FieldRecord& stored) {
    const auto field = fields_.find(path);
    if (field == fields_.end()) {
      note(fmt::format("the log does not know the field {}", path.text()));
      return !is_worn_out();
    }
    const conflict::FieldInfo& info = field->second;
    if (stored.info.kind != info.kind || stored.info.changed != info.changed || stored.info.parts != info.parts ||
        stored.info.lasting != info.lasting) {
      note(fmt::format("the record of field {} does not fit the log", path.text()));
    }
    if (!stored.leaf.trail.steps().empty() || cells_.contains(leaf_key(path)))
      compare_cell(leaf_key(path), stored.leaf);
    const auto scanned = scan_all_parts(kv_, board_.number, path, Part::element, {},
                                        [&](const CellKey& key, const StoredCell& cell) -> Result<bool> {
                                          ++parts_;
                                          compare_cell(key, cell);
                                          return !is_worn_out();
                                        });
    if (!scanned) return tl::unexpected(scanned.error());
    return !is_worn_out();
  }

  void compare_cell(const CellKey& key, const StoredCell& stored) {
    if (stored.is_live()) ++report_.cells;
    const auto cell = cells_.find(key);
    if (cell == cells_.end()) {
      note(fmt::format("the log does not know {}", name_of_cell(key)));
    } else if (stored.image != encode_image(cell->second.cell)) {
      note(fmt::format("{} does not fit the log", name_of_cell(key)));
    } else if (stored.trail.steps() != cell->second.trail.steps()) {
      note(fmt::format("the trail of {} does not fit the log", name_of_cell(key)));
    }
  }

  // Every cell that the log knows, tombstones too, and nothing else.
  Result<void> count_parts() {
    std::size_t stored = 0;
    const std::string prefix = board_prefix(board_.number);
    const auto scanned =
        scan_records(kv_, Table::parts, prefix, prefix, [&](std::string_view, std::string_view) -> Result<bool> {
          ++stored;
          return true;
        });
    if (!scanned) return scanned;
    const auto is_part = [](const auto& cell) { return cell.first.part != Part::leaf; };
    const auto logged = static_cast<std::size_t>(std::count_if(cells_.begin(), cells_.end(), is_part));
    if (parts_ != stored) note(fmt::format("{} cells belong to no field", stored - std::min(stored, parts_)));
    if (stored != logged) note(fmt::format("{} records of cells are stored, the log makes {}", stored, logged));
    return {};
  }

  // Only that they can be read, and that the queue is whole: what they say is in the log or can not be made again.
  Result<void> check_receipts() {
    const std::string prefix = board_prefix(board_.number);
    const auto receipts =
        scan_records(kv_, Table::receipts, prefix, prefix, [](std::string_view key, std::string_view payload) {
          return decode_receipt(payload) ? Result<bool>(true)
                                         : bad_record(Table::receipts, key, "this is no receipt record");
        });
    if (!receipts) return receipts;
    std::uint64_t queued = 0;
    const auto queue = scan_records(kv_, Table::receipt_queue, prefix, prefix,
                                    [&](std::string_view key, std::string_view payload) -> Result<bool> {
                                      if (!decode_queued(payload))
                                        return bad_record(Table::receipt_queue, key, "this is no entry");
                                      ++queued;
                                      return true;
                                    });
    if (!queue) return queue;
    const std::uint64_t expected = board_.receipts_next - board_.receipts_first;
    if (queued != expected) note(fmt::format("{} receipts are queued, the head says {}", queued, expected));
    return {};
  }

  KvRead& kv_;
  VerifyReport report_;
  BoardRecord board_;
  Head replayed_;
  std::map<CellKey, Replayed> cells_;
  std::map<Path, conflict::FieldInfo> fields_;
  std::size_t parts_ = 0;  // stored and reached through a field
};

}  // namespace

Result<VerifyReport> verify_board(KvRead& kv, const std::string& board) { return Verification(kv, board).run(); }

}  // namespace tafel::store
