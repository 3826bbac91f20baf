#include "blackboard/store/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "blackboard/seal.hpp"
#include "blackboard/store/board_line.hpp"
#include "blackboard/store/field_count.hpp"
#include "blackboard/store/floors.hpp"
#include "blackboard/store/pins.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/text.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/event_pieces.hpp"

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
    if (board_.deleted > 0) {
      const auto note_defect = [this](std::string defect) { note(std::move(defect)); };
      if (auto done = tolerate(verify_deleted(kv_, board_, report_, note_defect)); !done)
        return tl::unexpected(done.error());
      return report_;
    }
    for (const auto step : {&Verification::replay, &Verification::compare_fields, &Verification::count_parts,
                            &Verification::check_pins, &Verification::count_log, &Verification::check_receipts}) {
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
  struct ReplayedField {
    FieldInfo info;
    blackboard::Trail trail;
    bool is_known = true;  // false: some of its content was erased, and its cells are not gone yet
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

  // Level by level, from the oldest board that this one descends from, or from where the history begins.
  Result<void> replay() {
    EventLog log(kv_);
    const auto line = BoardLine::open(kv_, log, report_.board, board_);
    if (!line) return tl::unexpected(line.error());
    const auto& levels = line->levels();
    const auto is_whole = [](const BoardLine::Level& level) { return level.floor <= level.from + 1; };
    std::size_t first = 0;
    while (is_whole(levels[first]) && first + 1 < levels.size() && levels[first + 1].floor <= levels[first].from)
      ++first;
    const Version start = std::max(levels[first].floor, levels[first].from + 1);
    if (start > 1) {
      if (auto begun = begin(*line, levels[first], start); !begun) return begun;
    }
    if (auto replayed = replay_level(levels[first], start); !replayed) return replayed;
    for (std::size_t level = first; level-- > 0;) {
      if (auto replayed = replay_level(levels[level], levels[level].from + 1); !replayed) return replayed;
    }
    const Head& head = board_.head;
    if (replayed_.version != head.version) {
      note(fmt::format("the log ends at version {}, the head says {}", replayed_.version, head.version));
    } else if (replayed_.hash != head.hash || replayed_.time != head.time || !(replayed_.digest == head.digest)) {
      note(fmt::format("the head does not fit the event of version {}", head.version));
    }
    return {};
  }

  // The state before the first version that is replayed, as the store keeps it.
  Result<void> begin(const BoardLine& line, const BoardLine::Level& level, Version start) {
    BoardLine whole = line.at(start);
    BoardLine below = whole.below();
    if (whole.is_fork()) {
      begins_with_inherited_ = true;
      if (auto taken = begin_with_inherited(below); !taken) return taken;
    }
    const auto scanned = scan_fields(kv_, level.number, std::nullopt, {},
                                     [&](std::string_view, const Path& path, const FieldRecord& now) {
                                       return begin_with_own(level, below, path, now, start);
                                     });
    if (!scanned) return scanned;
    for (const auto& [key, cell] : cells_) {
      if (cell.cell) replayed_.digest += digest_of(key, *cell.cell);
    }
    // The event before the first one is kept only where a board was forked.
    const bool is_fork_point = start == level.from + 1;
    const auto event = whole.event(is_fork_point ? level.from : start);
    if (!event) return tl::unexpected(event.error());
    replayed_.version = start - 1;
    replayed_.hash = is_fork_point ? (*event)->hash : (*event)->previous_hash;
    if (is_fork_point) is_base_known_ = is_base_known_ && replayed_.digest == (*event)->digest;
    return {};
  }

  Result<void> begin_with_inherited(BoardLine& below) {
    return below.scan_fields(std::nullopt, {},
                             [&](std::string_view, const Path& path, const FieldRecord& field) -> Result<bool> {
                               fields_[path].info = field.info;
                               const auto take = [&](const CellKey& key, const StoredCell& stored) -> Result<bool> {
                                 const auto cell = stored.cell();
                                 if (!cell) return tl::unexpected(cell.error());
                                 if (*cell) cells_[key].cell = copy_of(*cell);
                                 return true;
                               };
                               if (auto leaf = take(leaf_key(path), field.leaf); !leaf) return leaf;
                               const auto scanned = below.scan_all_parts(path, Part::element, {}, take);
                               if (!scanned) return tl::unexpected(scanned.error());
                               return true;
                             });
  }

  Result<bool> begin_with_own(const BoardLine::Level& level, BoardLine& below, const Path& path, const FieldRecord& now,
                              Version start) {
    // What was erased since is not there, also of what is inherited: until then nothing can be summed.
    const auto present = fields_.find(path);
    if (now.erased >= start && present != fields_.end()) is_base_known_ = present->second.is_known = false;
    std::optional<FieldRecord> before = now;
    if (now.trail.newest() >= start) {
      auto kept = kept_field(kv_, level.number, path, start - 1);
      if (!kept) return tl::unexpected(kept.error());
      before = std::move(*kept);
    }
    if (!before) return true;  // it was first written to later
    Sum128 unused;
    remove_field(path, unused);  // what is inherited of it: all of that was taken over
    ReplayedField& field = fields_[path];
    field.info = before->info;
    field.trail = before->trail;
    if (now.erased >= start) is_base_known_ = field.is_known = false;
    const auto take = [&](const CellKey& key, StoredCell stored) -> Result<bool> {
      if (stored.trail.newest() >= start) {
        auto kept = kept_cell(kv_, level.number, key, start - 1);
        if (!kept) return tl::unexpected(kept.error());
        if (!*kept) {
          const auto inherited = below.cell(key);
          if (!inherited) return tl::unexpected(inherited.error());
          if (*inherited != nullptr) (*kept = **inherited)->trail = {};
        }
        if (!*kept) return true;  // it was made later
        stored = std::move(**kept);
      }
      const auto cell = stored.cell();
      if (!cell) return tl::unexpected(cell.error());
      if (*cell || !stored.trail.steps().empty()) cells_[key] = {std::move(stored.trail), copy_of(*cell)};
      return true;
    };
    if (auto leaf = take(leaf_key(path), now.leaf); !leaf) return leaf;
    const auto scanned = scan_all_parts(kv_, level.number, path, Part::element, {}, take);
    if (!scanned) return tl::unexpected(scanned.error());
    return true;
  }

  Result<void> replay_level(const BoardLine::Level& level, Version start) {
    if (start == level.from + 1) {
      for (auto& [path, field] : fields_) field.trail = {};
      for (auto& [key, cell] : cells_) cell.trail = {};
    }
    const std::string prefix = board_prefix(level.number);
    return scan_records(
        kv_, Table::events, prefix, event_key(level.number, start), [&](std::string_view key, std::string_view record) {
          return key > event_key(level.number, level.to) ? Result<bool>(false) : replay_event(level, key, record);
        });
  }

  Result<bool> replay_event(const BoardLine::Level& level, std::string_view key, std::string_view record) {
    const auto event = codec::decode_event(record);
    if (!event) return bad_record(Table::events, key, event.error().message);
    if (key != event_key(level.number, event->version))
      note(fmt::format("version {} stands in a wrong place", event->version));
    if (event->board != level.board) note(fmt::format("version {} belongs to board {}", event->version, event->board));
    if (auto defect = blackboard::chain_defect(replayed_, *event)) note(std::move(*defect));
    replay_changes(*event);
    compare_touched(*event);
    replayed_ = blackboard::head_after(replayed_, *event);
    ++report_.events;
    return !is_worn_out();
  }

  void replay_changes(const Event& event) {
    Sum128 digest = replayed_.digest;
    bool is_summable = is_base_known_;  // every cell that the event replaces is known
    is_base_known_ = true;              // from here on the chain vouches for the digest
    for (std::size_t i = 0; i < event.changes.size(); ++i) {
      const LoggedChange& logged = event.changes[i];
      ReplayedField& field = fields_[logged.change.key.path];
      if (codec::is_change_erased(event, i)) field.is_known = false;
      is_summable = is_summable && field.is_known;
      if (logged.change.key.part == Part::field) {
        // What a fork inherited, and its parent has erased since, is not known any more.
        is_summable = is_summable && !begins_with_inherited_;
        remove_field(logged.change.key.path, digest);
        field.info = blackboard::field_after(field.info, nullptr, logged.change, event.version);
        field.is_known = true;
      } else if (!codec::is_change_erased(event, i)) {
        apply(logged, event.version, field, digest);
      }
    }
    // Where something was erased the chain vouches for the digest; at the end it is compared with the cells.
    if (is_summable && !(digest == event.digest))
      note(fmt::format("the digest of version {} does not fit the state after it", event.version));
  }

  void remove_field(const Path& path, Sum128& digest) {
    auto at = cells_.lower_bound(leaf_key(path));
    for (; at != cells_.end() && at->first.path == path; at = cells_.erase(at)) {
      if (at->second.cell) digest -= digest_of(at->first, *at->second.cell);
    }
  }

  void apply(const LoggedChange& logged, Version version, ReplayedField& field, Sum128& digest) {
    const Change& change = logged.change;
    Replayed& cell = cells_[change.key];
    if (version <= cell.trail.newest()) {
      note(fmt::format("version {} changes {} twice", version, name_of_cell(change.key)));
      return;
    }
    const auto pointers = cell.trail.push(version);
    if (field.is_known && (pointers.previous != logged.previous || pointers.jump != logged.jump)) {
      note(fmt::format("version {} leads to wrong older versions of {}", version, name_of_cell(change.key)));
    }
    if (cell.cell) digest -= digest_of(change.key, *cell.cell);
    if (change.image) digest += digest_of(change.key, *change.image);
    if (field.is_known)
      field.info = blackboard::field_after(field.info, cell.cell ? &*cell.cell : nullptr, change, version);
    cell.cell = change.image;
  }

  // What the event says of the fields that it changed.
  void compare_touched(const Event& event) {
    std::size_t touched = 0;
    for (const LoggedChange& logged : event.changes) {
      const Path& path = logged.change.key.path;
      ReplayedField& field = fields_[path];
      if (field.trail.newest() == event.version) continue;
      const auto pointers = field.trail.push(event.version);
      const bool is_there = touched < event.fields.size() && event.fields[touched].path == path;
      const TouchedField said = is_there ? event.fields[touched] : TouchedField{path, {}, 0, 0};
      if (!field.is_known) field.info = said.info;
      if (!is_there || said.info != field.info || said.previous != pointers.previous || said.jump != pointers.jump)
        note(fmt::format("version {} tells field {} wrong", event.version, path.text()));
      ++touched;
    }
    if (touched != event.fields.size()) note(fmt::format("version {} tells of fields that it left", event.version));
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
    const auto is_own = [this](const auto& field) { return is_stored(field.second); };
    const auto own = static_cast<std::size_t>(std::count_if(fields_.begin(), fields_.end(), is_own));
    if (found < own) note(fmt::format("{} of {} fields are missing", own - found, own));
    std::uint64_t live = 0;
    Sum128 digest;
    for (const auto& [key, cell] : cells_) {
      if (!cell.cell) continue;
      ++report_.cells;
      if (is_stored(key, cell)) ++live;
      digest += digest_of(key, *cell.cell);
    }
    if (stored_cells_ != live) note(fmt::format("{} cells are stored, the log makes {}", stored_cells_, live));
    if (!(digest == board_.head.digest)) note("the digest of the head is not that of the cells");
    return {};
  }

  // A fork stores the fields that it has written to, with all their cells; a board without a parent stores all.
  bool is_stored(const ReplayedField& field) const { return !field.trail.steps().empty(); }
  bool is_stored(const CellKey& key, const Replayed& cell) const {
    return is_stored(fields_.at(key.path)) && (cell.cell || !cell.trail.steps().empty());
  }

  Result<bool> compare_field(const Path& path, const FieldRecord& stored) {
    if (auto counted = count_images(path); !counted) return tl::unexpected(counted.error());
    const auto field = fields_.find(path);
    if (field == fields_.end()) {
      note(fmt::format("the log does not know the field {}", path.text()));
      return !is_worn_out();
    }
    const ReplayedField& replayed = field->second;
    if (stored.info != replayed.info || stored.trail.steps() != replayed.trail.steps()) {
      note(fmt::format("the record of field {} does not fit the log", path.text()));
    }
    const auto leaf = cells_.find(leaf_key(path));
    if (!stored.leaf.trail.steps().empty() || stored.leaf.is_live() ||
        (leaf != cells_.end() && is_stored(leaf->first, leaf->second)))
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

  Result<void> count_images(const Path& path) {
    const auto cells = kept_cells(kv_, board_.number, path, leaf_key(path), std::numeric_limits<std::size_t>::max());
    if (!cells) return tl::unexpected(cells.error());
    for (const CellKey& cell : *cells) {
      const auto versions = kept_versions(kv_, board_.number, cell);
      if (!versions) return tl::unexpected(versions.error());
      images_ += versions->size();
    }
    return {};
  }

  void compare_cell(const CellKey& key, const StoredCell& stored) {
    if (stored.is_live()) ++stored_cells_;
    const auto cell = cells_.find(key);
    if (cell == cells_.end()) {
      note(fmt::format("the log does not know {}", name_of_cell(key)));
    } else if (stored.image() != encode_image(cell->second.cell)) {
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
    const auto is_part = [this](const auto& cell) {
      return cell.first.part != Part::leaf && is_stored(cell.first, cell.second);
    };
    const auto logged = static_cast<std::size_t>(std::count_if(cells_.begin(), cells_.end(), is_part));
    if (parts_ != stored) note(fmt::format("{} cells belong to no field", stored - std::min(stored, parts_)));
    if (stored != logged) note(fmt::format("{} records of cells are stored, the log makes {}", stored, logged));
    return {};
  }

  // Older versions that a tag or a fork keeps.
  Result<void> check_pins() {
    const auto pins = Pins::read(kv_, board_.number);
    if (!pins) return tl::unexpected(pins.error());
    EventLog log(kv_);
    auto line = BoardLine::open(kv_, log, report_.board, board_);
    if (!line) return tl::unexpected(line.error());
    for (const Version version : pins->versions()) {
      if (version <= board_.fork || version >= board_.head.floor || is_worn_out()) continue;
      const auto event = log.event(board_.number, version);
      if (!event) return tl::unexpected(event.error());
      if (codec::chain_hash(**event) != (*event)->hash)
        note(fmt::format("the hash of version {} does not fit its content", version));
      if (version < board_.head.erased) continue;  // what was erased is missing from its digest
      const auto digest = digest_at(line->at(version), version);
      if (!digest) return tl::unexpected(digest.error());
      if (!(*digest == (*event)->digest))
        note(fmt::format("what is kept of version {} does not fit its digest", version));
    }
    return {};
  }

  // The digest of what is kept of `version`. On the way the fields, which are in no digest, are held against their
  // cells.
  Result<Sum128> digest_at(BoardLine line, Version version) {
    Sum128 digest;
    FieldCount count;
    const auto add = [&](const CellKey& key) -> Result<bool> {
      const auto cell = line.image_as_of(key, version);
      if (!cell) return tl::unexpected(cell.error());
      if (*cell) digest += digest_of(key, **cell);
      if (*cell) count.add(key, **cell);
      return true;
    };
    const auto scanned =
        line.scan_fields(std::nullopt, {}, [&](std::string_view, const Path& path, const FieldRecord&) -> Result<bool> {
          count = {};
          if (auto leaf = add(leaf_key(path)); !leaf) return leaf;
          const auto parts = line.scan_all_parts(path, Part::element, {},
                                                 [&](const CellKey& key, const StoredCell&) { return add(key); });
          if (!parts) return tl::unexpected(parts.error());
          const auto info = line.field_as_of(path, version);
          if (!info) return tl::unexpected(info.error());
          if (!count.fits(info->value_or(FieldInfo())))
            note(
                fmt::format("what is kept of the field {} at version {} does not fit its cells", path.text(), version));
          return true;
        });
    if (!scanned) return tl::unexpected(scanned.error());
    return digest;
  }

  // What the record of the board says of its log, and that every image that is kept belongs to a field.
  Result<void> count_log() {
    std::uint64_t bytes = 0;
    const std::string prefix = board_prefix(board_.number);
    const auto events =
        scan_records(kv_, Table::events, prefix, prefix, [&](std::string_view, std::string_view payload) {
          bytes += payload.size();
          return Result<bool>(true);
        });
    if (!events) return events;
    // An event that was altered has been told already.
    if (bytes != board_.log_bytes && report_.defects.empty())
      note(fmt::format("the log has {} bytes, the head says {}", bytes, board_.log_bytes));
    std::size_t images = 0;
    const auto floors = scan_records(kv_, Table::floors, prefix, prefix, [&](std::string_view, std::string_view) {
      ++images;
      return Result<bool>(true);
    });
    if (!floors) return floors;
    if (images != images_) note(fmt::format("{} kept images belong to no field", images - std::min(images, images_)));
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
  bool begins_with_inherited_ = false;
  bool is_base_known_ = true;  // the state before the first event lacks nothing
  std::map<CellKey, Replayed> cells_;
  std::map<Path, ReplayedField> fields_;
  std::uint64_t stored_cells_ = 0;  // live ones
  std::size_t parts_ = 0;           // stored and reached through a field
  std::size_t images_ = 0;          // kept of older versions, and reached through a field
};

}  // namespace

Result<VerifyReport> verify_board(KvRead& kv, const std::string& board) { return Verification(kv, board).run(); }

}  // namespace tafel::store
