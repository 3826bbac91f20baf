// `backup` and `compact`: what is done to a data directory, without asking a server.
#include "blackboard/store/backup.hpp"

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/operator.hpp"
#include "cli/output.hpp"

namespace tafel::cli {
namespace {

Value counts_of(const store::CopyCounts& counts) {
  return Map{{"boards", counts.boards}, {"versions", counts.versions}, {"bytes", counts.bytes}};
}

std::string in_words(const store::CopyCounts& counts) {
  return fmt::format("{} board(s), {} version(s), {} bytes", counts.boards, counts.versions, counts.bytes);
}

store::CopyProgress progress() {
  return [teller = ProgressTeller()](const store::CopyCounts& so_far) mutable {
    teller.tell([&] { return in_words(so_far) + " so far"; });
  };
}

Result<Exit> run_backup(const Arguments& arguments, Output& output) {
  const auto report =
      as_failure_of_a_store(store::back_up(*arguments.positional(0), *arguments.positional(1), progress()));
  if (!report) return tl::unexpected(report.error());
  if (report->erasures_pending > 0) {
    tell(
        fmt::format("{} erasure(s) were still going through the history: what they erase stands in the log of this "
                    "copy until a server has opened it",
                    report->erasures_pending));
  }
  Value line = counts_of(report->counts);
  line.set("erasures", report->erasures);
  const auto printed = arguments.has("json") ? output.json_line(line) : output.line(in_words(report->counts));
  if (!printed) return tl::unexpected(printed.error());
  return Exit::done;
}

Result<Exit> run_compact(const Arguments& arguments, Output& output) {
  SystemRandom random;
  const auto report = as_failure_of_a_store(store::compact(*arguments.positional(0), random, progress()));
  if (!report) return tl::unexpected(report.error());
  Value line = counts_of(report->counts);
  line.set("file_before", report->bytes_before);
  line.set("file_after", report->bytes_after);
  const auto printed =
      arguments.has("json")
          ? output.json_line(line)
          : output.line(fmt::format("{}; the data file had {} bytes and has {}", in_words(report->counts),
                                    report->bytes_before, report->bytes_after));
  if (!printed) return tl::unexpected(printed.error());
  return Exit::done;
}

}  // namespace

const Command& backup_command() {
  static const Command command{.name = "backup",
                               .summary = "copy a data directory, also of a running server",
                               .help =
                                   "Copies the store in DATA_DIR, as it is at one moment, to the new directory DEST, "
                                   "with the ledger of erasures\n"
                                   "beside it in DEST/erasures.jsonl. A server may run on DATA_DIR. Every checksum is "
                                   "looked at; what was erased,\n"
                                   "or lies in pages that are free, is not in the copy. DEST is itself a data "
                                   "directory: a server that is started\n"
                                   "on it takes a new epoch by itself.",
                               .positionals = {{"DATA_DIR"}, {"DEST"}},
                               .options = {json_line_option},
                               .run = run_backup};
  return command;
}

const Command& compact_command() {
  static const Command command{
      .name = "compact",
      .summary = "write a data directory anew, without what is free",
      .help =
          "Copies the store in DATA_DIR record by record and puts the copy in its place, so that its files hold "
          "nothing of\n"
          "what was erased or overwritten. No server may run on DATA_DIR (`tafeld --compact` does the same at its "
          "start).\n"
          "There must be room for the copy beside it; a crash at any moment leaves one whole store.",
      .positionals = {{"DATA_DIR"}},
      .options = {json_line_option},
      .run = run_compact};
  return command;
}

}  // namespace tafel::cli
