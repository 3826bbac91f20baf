#include "blackboard/store/deep_verify.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/disk.hpp"
#include "blackboard/store/erasures.hpp"
#include "blackboard/store/record.hpp"
#include "blackboard/store/verify.hpp"
#include "common/base/bytes.hpp"
#include "common/base/limits.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/event_pieces.hpp"

namespace tafel::store {
namespace {

// An image stands under the version of the change that made it.
std::optional<std::string> floor_defect(std::string_view key, std::string_view payload) {
  constexpr std::size_t part_at = 24;  // behind number and hash of the path
  if (key.size() <= part_at + sizeof(Version)) return "this is no key of an image";
  const bool is_field = static_cast<Part>(key[part_at]) == Part::field;
  const auto field = is_field ? decode_field(payload) : std::nullopt;
  const auto cell = is_field ? std::nullopt : decode_part(payload);
  const Version newest = field ? field->trail.newest() : cell ? cell->trail.newest() : 0;
  if (newest != 0 && newest == version_of_floor(key)) return std::nullopt;
  return "this is no image of a cell or a field";
}

// What is wrong with the content of a record, of which the checksum fits.
std::optional<std::string> content_defect(Table table, std::string_view key, std::string_view payload) {
  const auto unless = [](bool sound, const char* what) {
    return sound ? std::nullopt : std::optional<std::string>(what);
  };
  switch (table) {
    case Table::meta: return unless(!payload.empty(), "it is empty");
    case Table::boards: return unless(decode_board(payload).has_value(), "this is no board");
    case Table::fields: return unless(decode_field(payload) && path_of_field(key, payload), "this is no field");
    case Table::parts: return unless(decode_part(payload).has_value(), "this is no cell");
    case Table::events: {
      const auto event = codec::decode_event(payload);
      return event ? std::nullopt : std::optional(event.error().message);
    }
    case Table::receipts: return unless(decode_receipt(payload).has_value(), "this is no receipt record");
    case Table::receipt_queue: return unless(decode_queued(payload).has_value(), "this is no entry of the queue");
    case Table::forks: return unless(decode_fork(payload).has_value(), "this is no fork");
    case Table::floors: return floor_defect(key, payload);
    case Table::expiry: return unless(decode_expiring(payload).has_value(), "this is no entry of the index of expiry");
    case Table::erasures: return unless(decode_erasure(payload).has_value(), "this is no erasure");
  }
  return std::nullopt;
}

// Tables whose keys begin with the number of a board.
bool is_of_a_board(Table table) {
  switch (table) {
    case Table::fields:
    case Table::parts:
    case Table::events:
    case Table::receipts:
    case Table::receipt_queue:
    case Table::forks:
    case Table::floors: return true;
    case Table::meta:
    case Table::boards:
    case Table::expiry:
    case Table::erasures: return false;
  }
  return false;
}

class DeepVerification {
 public:
  DeepVerification(KvRead& kv, const DeepProgress& progress) : kv_(kv), progress_(progress) {}

  Result<DeepReport> run() {
    using Step = Result<void> (DeepVerification::*)();
    for (const Step step :
         {&DeepVerification::read_boards, &DeepVerification::read_tables, &DeepVerification::replay_boards,
          &DeepVerification::check_forks, &DeepVerification::check_receipts, &DeepVerification::check_expiry,
          &DeepVerification::check_expiring_cells, &DeepVerification::check_ledger, &DeepVerification::check_erased}) {
      if (is_worn_out()) break;
      if (auto done = tolerate((this->*step)()); !done) return tl::unexpected(done.error());
    }
    return std::move(report_);
  }

 private:
  bool is_worn_out() const { return report_.defects.size() >= limits::deep_defects_max; }
  void note(std::string defect) {
    if (!is_worn_out()) report_.defects.push_back(std::move(defect));
  }
  Result<void> tolerate(const Result<void>& result) {
    if (result || result.error().fault != Fault::bad_bytes) return result;
    note(result.error().message);
    return {};
  }
  void say(const std::string& what) const {
    if (progress_) progress_(what);
  }

  Result<void> read_boards() {
    return kv_.scan(Table::boards, {}, [&](std::string_view key, std::string_view bytes) {
      const auto payload = open_record(Table::boards, key, bytes);
      const auto record = payload ? decode_board(*payload) : std::nullopt;
      if (!record) return true;  // told with the other records
      if (!names_.emplace(record->number, key).second)
        note(fmt::format("the boards {} and {} have one number", names_[record->number], key));
      boards_.emplace(key, *record);
      return !is_worn_out();
    });
  }

  Result<void> read_tables() {
    const auto importing = kv_.get(Table::meta, meta_importing);
    if (!importing) return tl::unexpected(importing.error());
    is_importing_ = importing->has_value();
    for (std::size_t i = 0; i < table_count && !is_worn_out(); ++i) {
      const auto table = static_cast<Table>(i);
      say(fmt::format("the records of table {}", table_name(table)));
      if (auto read = tolerate(read_table(table)); !read) return read;
    }
    return check_meta();
  }

  Result<void> read_table(Table table) {
    std::uint64_t orphans = 0;
    const auto scanned = kv_.scan(table, {}, [&](std::string_view key, std::string_view record) {
      ++report_.records[static_cast<std::size_t>(table)];
      report_.bytes += key.size() + record.size();
      const auto payload = open_record(table, key, record);
      if (!payload) {
        note(payload.error().message);
      } else if (auto defect = content_defect(table, key, *payload)) {
        note(bad_record(table, key, *defect).value().message);
      }
      if (is_of_a_board(table) && !is_known(key)) ++orphans;
      return !is_worn_out();
    });
    // An import that was cut off leaves some; the next start removes them.
    if (orphans > 0 && !is_importing_)
      note(fmt::format("{} records of table {} belong to no board", orphans, table_name(table)));
    return scanned;
  }

  bool is_known(std::string_view key) const {
    return key.size() >= sizeof(std::uint64_t) && names_.contains(static_cast<BoardNumber>(get_be64(key)));
  }

  Result<std::uint64_t> meta_number(std::string_view name, std::uint64_t otherwise) {
    const auto payload = get_record(kv_, Table::meta, name);
    if (!payload) return tl::unexpected(payload.error());
    if (!*payload) return otherwise;
    const auto number = decode_number(**payload);
    if (!number) return bad_record(Table::meta, name, "this is no number");
    return *number;
  }

  Result<void> check_meta() {
    const auto format = meta_number(meta_format, 0);
    if (!format) return tl::unexpected(format.error());
    if (*format != format_version)
      note(fmt::format("the store has format version {}, not {}", *format, format_version));
    const auto next = meta_number(meta_boards, 0);
    if (!next) return tl::unexpected(next.error());
    if (!names_.empty() && static_cast<std::uint64_t>(names_.rbegin()->first) >= *next)
      note(fmt::format("the board {} has a number that is still to be given", names_.rbegin()->second));
    return {};
  }

  Result<void> replay_boards() {
    for (const auto& [id, record] : boards_) {
      if (is_worn_out()) return {};
      say(fmt::format("the log of board {}", id));
      const auto found = verify_board(kv_, id);
      if (!found) return tl::unexpected(found.error());
      ++report_.boards;
      report_.versions += record.deleted > 0 ? 1 : record.head.version - record.fork;
      report_.cells += found->cells;
      for (const std::string& defect : found->defects) note(fmt::format("board {}: {}", id, defect));
    }
    return {};
  }

  Result<void> check_forks() {
    std::uint64_t found = 0;
    const auto scanned =
        scan_records(kv_, Table::forks, {}, {}, [&](std::string_view key, std::string_view payload) -> Result<bool> {
          const auto entry = decode_fork(payload);
          if (!entry) return true;
          const auto fork = boards_.find(entry->board);
          const auto parent = fork == boards_.end() ? boards_.end() : boards_.find(fork->second.parent);
          const bool fits = parent != boards_.end() && fork->second.fork == entry->version &&
                            key == fork_key(parent->second.number, fork->second.number);
          if (fits) {
            ++found;
          } else {
            note(bad_record(Table::forks, key, "no board is that fork").value().message);
          }
          return !is_worn_out();
        });
    if (!scanned) return scanned;
    std::uint64_t expected = 0;
    for (const auto& [id, record] : boards_) {
      if (!record.parent.empty()) ++expected;
    }
    if (found < expected)
      note(fmt::format("{} of {} forks are not listed at their parents", expected - found, expected));
    return {};
  }

  Result<void> check_receipts() {
    for (const auto& board : boards_) {
      const BoardRecord& record = board.second;
      if (record.deleted > 0) continue;  // what is left of it is on its way out, and verified as such
      const std::string prefix = board_prefix(record.number);
      const auto receipts = scan_records(
          kv_, Table::receipts, prefix, {}, [&](std::string_view key, std::string_view payload) -> Result<bool> {
            const auto receipt = decode_receipt(payload);
            if (receipt && receipt->version > record.head.version)
              note(bad_record(Table::receipts, key, "it is of a version that is not there").value().message);
            return !is_worn_out();
          });
      if (!receipts) return receipts;
      const auto queue = scan_records(
          kv_, Table::receipt_queue, prefix, {}, [&](std::string_view key, std::string_view payload) -> Result<bool> {
            const auto queued = decode_queued(payload);
            if (!queued) return true;
            const auto receipt = kv_.get(Table::receipts, receipt_key(record.number, queued->delta_hash));
            if (!receipt) return tl::unexpected(receipt.error());
            if (!*receipt) note(bad_record(Table::receipt_queue, key, "its receipt is not there").value().message);
            return !is_worn_out();
          });
      if (!queue) return queue;
    }
    return {};
  }

  // An entry may be out of date; what it names must be where it says.
  Result<void> check_expiry() {
    return scan_records(
        kv_, Table::expiry, {}, {}, [&](std::string_view key, std::string_view payload) -> Result<bool> {
          const auto cell = decode_expiring(payload);
          const auto time = time_of_expiry(key);
          if (!cell || !time) return true;
          const auto board = boards_.find(cell->board);
          const bool fits = board != boards_.end() && key == expiry_key(*time, board->second.number, cell->key);
          if (!fits && !(is_importing_ && !is_known(key.substr(sizeof(TimeMs)))))
            note(bad_record(Table::expiry, key, "it names another cell").value().message);
          return !is_worn_out();
        });
  }

  // What expires and is not in the index would never leave.
  Result<void> check_expiring_cells() {
    for (const auto& [id, record] : boards_) {
      if (is_worn_out()) return {};
      if (record.deleted > 0) continue;
      say(fmt::format("what expires on board {}", id));
      const BoardNumber number = record.number;
      const auto check = [&](const CellKey& key, const StoredCell& stored) -> Result<bool> {
        const auto cell = stored.cell();
        if (!cell) return tl::unexpected(cell.error());
        if (*cell) {
          if (auto checked = check_indexed(number, key, **cell); !checked) return tl::unexpected(checked.error());
        }
        return !is_worn_out();
      };
      const auto scanned =
          scan_fields(kv_, number, std::nullopt, {},
                      [&](std::string_view, const Path& path, const FieldRecord& field) -> Result<bool> {
                        if (auto checked = check(leaf_key(path), field.leaf); !checked || !*checked) return checked;
                        const auto parts = scan_all_parts(kv_, number, path, Part::element, {}, check);
                        if (!parts) return tl::unexpected(parts.error());
                        return !is_worn_out();
                      });
      if (!scanned) return scanned;
    }
    return {};
  }

  Result<void> check_indexed(BoardNumber number, const CellKey& key, const Cell& cell) {
    Result<void> outcome;
    for_each_dot(cell, [&](const Dot& dot) {
      if (!dot.expires || !outcome) return;
      const auto entry = kv_.get(Table::expiry, expiry_key(*dot.expires, number, key));
      if (!entry) {
        outcome = tl::unexpected(entry.error());
      } else if (!*entry) {
        note(fmt::format("board {}: a value of field {} expires, and the index does not know it", names_[number],
                         key.path.text()));
      }
    });
    return outcome;
  }

  Result<void> check_ledger() {
    const auto next = meta_number(meta_erasures, 0);
    if (!next) return tl::unexpected(next.error());
    const auto scrubbed = meta_number(meta_scrubbed, 0);
    if (!scrubbed) return tl::unexpected(scrubbed.error());
    std::uint64_t expected = 0;
    const auto scanned =
        scan_records(kv_, Table::erasures, {}, {}, [&](std::string_view key, std::string_view payload) -> Result<bool> {
          const auto record = decode_erasure(payload);
          if (!record) return true;
          const std::uint64_t sequence = sequence_of_erasure(key);
          if (sequence != expected) note(fmt::format("the ledger of erasures has a gap at {}", expected));
          expected = sequence + 1;
          if (record->is_done != (sequence < *scrubbed))
            note(fmt::format("erasure {} is {}, and the work stands at {}", sequence,
                             record->is_done ? "done" : "pending", *scrubbed));
          const auto board = boards_.find(record->board);
          if (board == boards_.end() || record->version > board->second.head.version + 1) {
            note(fmt::format("erasure {} is of a version of {} that is not there", sequence, record->board));
          } else if (record->is_done && board->second.deleted == 0) {
            done_[record->board].push_back({Path::from_key(record->path), record->version});
          }
          return !is_worn_out();
        });
    if (!scanned) return scanned;
    if (expected != *next && !is_worn_out())
      note(fmt::format("the ledger of erasures ends at {}, not at {}", expected, *next));
    return {};
  }

  // Of an erasure that is done, nothing is left in the log.
  Result<void> check_erased() {
    for (const auto& entry : done_) {
      const std::string& id = entry.first;
      const std::vector<Done>& erasures = entry.second;
      if (is_worn_out()) return {};
      say(fmt::format("what was erased on board {}", id));
      const std::string prefix = board_prefix(boards_.at(id).number);
      const auto scanned =
          scan_records(kv_, Table::events, prefix, {}, [&](std::string_view, std::string_view payload) -> Result<bool> {
            auto event = codec::decode_event(payload);
            if (!event) return true;
            for (const Done& erasure : erasures) {
              if (event->version >= erasure.version || !codec::erase_pieces(*event, erasure.path)) continue;
              note(fmt::format("board {}: version {} still holds something of {}, which was erased", id, event->version,
                               erasure.path.text()));
            }
            return !is_worn_out();
          });
      if (!scanned) return scanned;
    }
    return {};
  }

  struct Done {
    Path path;
    Version version = 0;
  };

  KvRead& kv_;
  const DeepProgress& progress_;
  DeepReport report_;
  std::map<std::string, BoardRecord, std::less<>> boards_;
  std::map<BoardNumber, std::string> names_;
  std::map<std::string, std::vector<Done>> done_;
  bool is_importing_ = false;
};

}  // namespace

Result<DeepReport> verify_deep(KvRead& kv, const DeepProgress& progress) {
  return DeepVerification(kv, progress).run();
}

Result<DeepReport> verify_deep(const std::filesystem::path& directory, const DeepProgress& progress) {
  const auto damaged = [](const Failure& failure) {
    DeepReport report;
    report.defects.push_back(failure.message);
    return report;
  };
  std::error_code error;
  if (!std::filesystem::exists(directory / "store" / "data.mdb", error))
    return fail(Fault::not_found, fmt::format("{} holds no store", directory.string()));
  if (progress) progress("the pages of the data file");
  const auto walked = walk_quiet_store(directory);
  if (!walked && walked.error().fault == Fault::bad_bytes) return damaged(walked.error());
  if (!walked) return tl::unexpected(walked.error());
  LmdbOptions options;
  options.directory = directory;
  options.walk_bytes_max = 0;  // has been done
  const auto kv = open_disk_reader(options);
  if (!kv && kv.error().fault == Fault::bad_bytes) return damaged(kv.error());
  if (!kv) return tl::unexpected(kv.error());
  const auto read = (*kv)->read();
  if (!read && read.error().fault == Fault::bad_bytes) return damaged(read.error());
  if (!read) return tl::unexpected(read.error());
  auto report = verify_deep(**read, progress);
  if (report) report->pages_walked = *walked;
  return report;
}

}  // namespace tafel::store
