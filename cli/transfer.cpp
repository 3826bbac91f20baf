// `export` and `import`: boards as text, from a data directory and into one.
#include <fmt/format.h>

#include <filesystem>

#include "blackboard/store/disk.hpp"
#include "blackboard/store/export.hpp"
#include "blackboard/store/import.hpp"
#include "blackboard/store/store.hpp"
#include "broker/schemas.hpp"
#include "cli/arguments.hpp"
#include "cli/input.hpp"
#include "cli/operator.hpp"
#include "cli/output.hpp"
#include "common/base/limits.hpp"

namespace tafel::cli {
namespace {

Result<std::shared_ptr<const Schema>> schema_of(const std::string& board, const store::ReadCell& read) {
  auto found = broker::read_schema(board, read);
  if (!found) return tl::unexpected(found.error());
  return std::move(found->schema);
}

Result<Exit> run_export(const Arguments& arguments, Output& output) {
  store::LmdbOptions disk;
  disk.directory = *arguments.positional(0);
  store::ExportOptions options;
  for (std::size_t i = 1; arguments.positional(i); ++i) {
    auto board = arguments.board(i);
    if (!board) return tl::unexpected(board.error());
    options.boards.push_back(std::move(*board));
  }
  if (!arguments.has("all")) options.schema_of = schema_of;
  const auto kv = as_failure_of_a_store(store::open_disk_reader(disk));
  if (!kv) return tl::unexpected(kv.error());
  const auto read = as_failure_of_a_store((*kv)->read());
  if (!read) return tl::unexpected(read.error());
  std::uint64_t lines = 0;
  ProgressTeller teller;
  const auto counts = store::export_boards(**read, options, [&](const std::string& line) -> Result<void> {
    ++lines;
    teller.tell([&] { return fmt::format("{} line(s) so far", lines); });
    return output.line(line);
  });
  if (!counts) return tl::unexpected(counts.error());
  tell(fmt::format("{} board(s), {} version(s)", counts->boards, counts->versions));
  if (counts->fields_left_out > 0)
    tell(fmt::format("{} personal or secret field(s) were left out; --all takes them along", counts->fields_left_out));
  return Exit::done;
}

// The lines of the file, for as long as there are some.
Result<std::optional<std::string>> next_line(LineReader& reader) {
  std::string line;
  const auto item = reader.next(line, std::nullopt);
  if (!item) return tl::unexpected(item.error());
  switch (*item) {
    case LineReader::Item::line: return line;
    case LineReader::Item::too_long:
      return fail(Fault::bad_bytes, fmt::format("a line has more than {} bytes", limits::import_line_bytes_max));
    case LineReader::Item::end:
    case LineReader::Item::waiting: return std::nullopt;
  }
  return std::nullopt;
}

Result<Exit> run_import(const Arguments& arguments, Output& output) {
  if (std::error_code error; std::filesystem::is_directory(*arguments.positional(1), error))
    return fail(Fault::bad_config, fmt::format("FILE: {} is a directory", *arguments.positional(1)));
  auto reader = LineReader::open(*arguments.positional(1), limits::import_line_bytes_max);
  if (!reader) return tl::unexpected(reader.error());
  store::LmdbOptions disk;
  disk.directory = *arguments.positional(0);
  SystemRandom random;
  const auto kv = as_failure_of_a_store(store::open_disk(disk, random));
  if (!kv) return tl::unexpected(kv.error());
  SystemClock clock;
  const auto epoch = as_failure_of_a_store(store::prepare_store(**kv, random));
  if (!epoch) return tl::unexpected(epoch.error());
  std::uint64_t lines = 0;
  ProgressTeller teller;
  const auto counts = as_failure_of_a_store(store::import_boards(**kv, random, clock.wall_ms(), [&] {
    ++lines;
    teller.tell([&] { return fmt::format("{} line(s) so far", lines); });
    return next_line(*reader);
  }));
  if (!counts) return tl::unexpected(counts.error());
  std::string words = fmt::format("{} board(s), {} version(s)", counts->boards, counts->versions);
  if (counts->boards_known > 0) words += fmt::format("; {} board(s) were there already", counts->boards_known);
  if (counts->fields_left_out > 0)
    words += fmt::format("; {} field(s) that were left out are erased", counts->fields_left_out);
  const auto printed = arguments.has("json") ? output.json_line(Map{{"boards", counts->boards},
                                                                    {"versions", counts->versions},
                                                                    {"known", counts->boards_known},
                                                                    {"left_out", counts->fields_left_out}})
                                             : output.line(words);
  if (!printed) return tl::unexpected(printed.error());
  return Exit::done;
}

}  // namespace

const Command& export_command() {
  static const Command command{.name = "export",
                               .summary = "write boards as text, from a data directory",
                               .help =
                                   "Prints the BOARDs in DATA_DIR (all without any), with the boards that they were "
                                   "forked from, one JSON object a\n"
                                   "line: all events, for people to read and for `tafel import`. A server may run on "
                                   "DATA_DIR. What a schema calls\n"
                                   "personal or secret is left out, from the history too, unless --all is given; the "
                                   "hash chain still verifies.\n"
                                   "Receipts do not come along.",
                               .positionals = {{"DATA_DIR"}, {.name = "BOARD", .required = false, .many = true}},
                               .options = {{"all", "", "personal and secret fields too"}},
                               .run = run_export};
  return command;
}

const Command& import_command() {
  static const Command command{.name = "import",
                               .summary = "take exported boards into a data directory",
                               .help =
                                   "Takes the boards of FILE (- for standard input), which `tafel export` wrote, into "
                                   "the store in DATA_DIR, which is\n"
                                   "made where there is none. No server may run on it. Every line is checked, and each "
                                   "board is seen only when it is\n"
                                   "whole. A board that is there is never written to: with the same history it is "
                                   "passed over, with another one it\n"
                                   "is refused. Fields that were left out are erased by an event of `system`.",
                               .positionals = {{"DATA_DIR"}, {"FILE"}},
                               .options = {json_line_option},
                               .run = run_import};
  return command;
}

}  // namespace tafel::cli
