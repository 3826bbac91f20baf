#include "blackboard/store/export.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "blackboard/store/board_base.hpp"
#include "blackboard/store/board_line.hpp"
#include "blackboard/store/erasure_ledger.hpp"
#include "blackboard/store/left_out.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/event_pieces.hpp"
#include "common/codec/event_view.hpp"
#include "common/codec/json.hpp"

namespace tafel::store {
namespace {

class Exporting {
 public:
  Exporting(KvRead& kv, const ExportOptions& options, const WriteLine& write)
      : kv_(kv), options_(options), write_(write) {}

  Result<ExportCounts> run() {
    if (auto read = read_erasures(); !read) return tl::unexpected(read.error());
    if (auto written = write_header(); !written) return tl::unexpected(written.error());
    for (const std::string& board : options_.boards) {
      if (auto written = write_with_parents(board); !written) return tl::unexpected(written.error());
    }
    if (options_.boards.empty()) {
      if (auto written = write_all(); !written) return tl::unexpected(written.error());
    }
    if (auto written = line("end", Map{{"boards", counts_.boards}, {"versions", counts_.versions}}); !written)
      return tl::unexpected(written.error());
    return counts_;
  }

 private:
  Result<void> line(std::string_view kind, Value members) {
    members.set("line", kind);
    return write_(codec::to_json(members));
  }

  Result<void> write_header() {
    const auto epoch = get_record(kv_, Table::meta, meta_epoch);
    if (!epoch) return tl::unexpected(epoch.error());
    return line("header",
                Map{{"tafel_export", export_format}, {"epoch", epoch->value_or("")}, {"all", !options_.schema_of}});
  }

  Result<void> read_erasures() {
    for (std::uint64_t next = 0;;) {
      auto page = list_erasures(kv_, next, limits::boards_page_max);
      if (!page) return tl::unexpected(page.error());
      if (page->empty()) return {};
      next = page->back().sequence + 1;
      for (Erasure& erasure : *page) erasures_[erasure.board].push_back(std::move(erasure));
    }
  }

  Result<void> write_all() {
    return scan_records(kv_, Table::boards, {}, {},
                        [&](std::string_view key, std::string_view payload) -> Result<bool> {
                          const auto record = decode_board(payload);
                          if (!record) return bad_record(Table::boards, key, "this is no board record");
                          if (record->deleted > 0) return true;
                          const auto written = write_with_parents(std::string(key));
                          if (!written) return tl::unexpected(written.error());
                          return true;
                        });
  }

  Result<void> write_with_parents(const std::string& board) {
    std::vector<std::string> line_of_parents;
    for (std::string at = board; !at.empty() && !written_.contains(at);) {
      if (line_of_parents.size() > limits::forks_depth_max + 1)
        return bad_record(Table::boards, board, "it descends from itself");
      const auto record = get_board(kv_, at);
      if (!record) return tl::unexpected(record.error());
      if (record->deleted > 0) return fail(Fault::not_found, fmt::format("the board {} was deleted", at));
      if (record->number == BoardNumber::none) return fail(Fault::not_found, fmt::format("there is no board {}", at));
      line_of_parents.push_back(at);
      at = record->parent;
    }
    for (auto at = line_of_parents.rbegin(); at != line_of_parents.rend(); ++at) {
      if (auto written = write_board(*at); !written) return written;
    }
    return {};
  }

  Result<void> write_board(const std::string& id) {
    const auto record = get_board(kv_, id);
    if (!record) return tl::unexpected(record.error());
    if (record->head.version == 0) return {};  // only receipts of what changed nothing
    auto left_out = left_out_of(id, record->parent);
    if (!left_out) return tl::unexpected(left_out.error());
    const Head& head = record->head;
    const Value parent =
        record->parent.empty() ? Value() : Value(Map{{"board", record->parent}, {"version", record->fork}});
    const auto told = line("board", Map{{"board", id},
                                        {"version", head.version},
                                        {"time", head.time},
                                        {"hash", to_hex(as_view(head.hash))},
                                        {"digest", to_hex(to_bytes(head.digest))},
                                        {"floor", head.floor},
                                        {"erased", head.erased},
                                        {"parent", parent}});
    if (!told) return told;
    if (is_trimmed(*record)) {
      if (auto written = write_base(id, *record, *left_out); !written) return written;
    }
    if (auto written = write_events(id, *record, *left_out); !written) return written;
    for (const Erasure& erasure : erasures_[id]) {
      if (auto written = line("erasure", erasure_to_value(erasure)); !written) return written;
    }
    ++counts_.boards;
    counts_.fields_left_out += left_out->taken();
    if (left_out->is_any()) left_out_.emplace(id, left_out->paths());
    written_.insert(id);
    return {};
  }

  Result<LeftOut> left_out_of(const std::string& id, const std::string& parent) {
    if (!options_.schema_of) return LeftOut(nullptr, {});
    auto schema =
        options_.schema_of(id, [&](const std::string& board, const CellKey& key) { return read_cell(board, key); });
    if (!schema) return tl::unexpected(schema.error());
    const auto above = left_out_.find(parent);
    return LeftOut(std::move(*schema), above == left_out_.end() ? std::set<Path>() : above->second);
  }

  Result<std::optional<Cell>> read_cell(const std::string& board, const CellKey& key) {
    const auto record = get_board(kv_, board);
    if (!record) return tl::unexpected(record.error());
    if (record->number == BoardNumber::none) return std::nullopt;
    EventLog log(kv_);
    auto open = BoardLine::open(kv_, log, board, *record);
    if (!open) return tl::unexpected(open.error());
    const auto stored = open->cell(key);
    if (!stored) return tl::unexpected(stored.error());
    const auto cell = *stored ? (*stored)->cell() : nullptr;
    if (!cell) return tl::unexpected(cell.error());
    return copy_of(*cell);
  }

  Result<void> write_base(const std::string& id, const BoardRecord& record, LeftOut& left_out) {
    EventLog log(kv_);
    const auto open = BoardLine::open(kv_, log, id, record);
    if (!open) return tl::unexpected(open.error());
    return visit_base(
        kv_, *open, [&](const Path& path) { return left_out.takes(path); },
        [&](const BaseImage& image) {
          return line("image", Map{{"path", image.key.path.text()},
                                   {"part", static_cast<std::uint64_t>(image.key.part)},
                                   {"id", to_base64(image.key.id)},
                                   {"older", image.is_older},
                                   {"known", image.is_known},
                                   {"record", to_base64(image.payload)}});
        });
  }

  Result<void> write_events(const std::string& id, const BoardRecord& record, LeftOut& left_out) {
    const std::string prefix = board_prefix(record.number);
    Version next = record.fork;
    const auto scanned = scan_records(kv_, Table::events, prefix, prefix,
                                      [&](std::string_view key, std::string_view payload) -> Result<bool> {
                                        const Version version = version_of_event(key);
                                        // Before the floor only those are there that a tag or a fork keeps.
                                        if (version != ++next && version > std::max(next, record.head.floor))
                                          return bad_record(Table::events, key, "an event before it is missing");
                                        next = version;
                                        const auto written = write_event(id, key, payload, left_out);
                                        if (!written) return tl::unexpected(written.error());
                                        return true;
                                      });
    if (!scanned) return scanned;
    if (next == record.head.version) return {};
    return bad_record(Table::events, event_key(record.number, next + 1), "an event is missing");
  }

  Result<void> write_event(const std::string& id, std::string_view key, std::string_view payload, LeftOut& left_out) {
    auto event = codec::decode_event(payload);
    if (!event) return bad_record(Table::events, key, event.error().message);
    // What is pending in this store is done in what leaves it.
    for (const Erasure& erasure : erasures_[id]) {
      if (!erasure.is_done && event->version < erasure.version) codec::erase_pieces(*event, erasure.path);
    }
    left_out.take_from(*event);
    const std::string bytes = codec::encode_event(*event);
    // A very large event is not shown a second time in words.
    Value members = bytes.size() > limits::export_readable_bytes_max ? Value(Map{}) : codec::event_to_map(*event);
    members.set("record", to_base64(bytes));
    ++counts_.versions;
    return line("event", std::move(members));
  }

  KvRead& kv_;
  const ExportOptions& options_;
  const WriteLine& write_;
  ExportCounts counts_;
  std::map<std::string, std::vector<Erasure>> erasures_;
  std::set<std::string> written_;
  std::map<std::string, std::set<Path>> left_out_;
};

}  // namespace

Result<ExportCounts> export_boards(KvRead& kv, const ExportOptions& options, const WriteLine& write) {
  return Exporting(kv, options, write).run();
}

}  // namespace tafel::store
