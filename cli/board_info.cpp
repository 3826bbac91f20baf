// `boards`, `verify` and `stat`: what the server holds, and whether it is sound.
#include <fmt/format.h>

#include "cli/connection.hpp"
#include "cli/deep_verify.hpp"
#include "cli/output.hpp"

namespace tafel::cli {
namespace {

constexpr std::chrono::minutes verify_patience{10};  // a replay reads the whole log of a board

Value question_of(std::string_view what) {
  Value question{Map{}};
  question.set("what", what);
  return question;
}

Result<Exit> run_boards(const Arguments& arguments, Output& output) {
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  Value question = question_of("boards");
  if (arguments.has("deleted")) question.set("deleted", true);
  const auto done = connection->ask_pages(question, "boards", "after",
                                          [&output](const Value& board) { return output.json_line(board); });
  if (!done) return tl::unexpected(done.error());
  return Exit::done;
}

// Verifies one board and prints the finding; false when it has defects.
Result<bool> verify_board(Connection& connection, const Value& board, Output& output) {
  Value question = question_of("verify");
  question.set("board", board);
  const auto finding = connection.ask(question, verify_patience);
  if (!finding) return tl::unexpected(finding.error());
  const auto defects = member_of(*finding, "defects");
  if (!defects) return tl::unexpected(defects.error());
  if (auto printed = output.json_line(*finding); !printed) return tl::unexpected(printed.error());
  return *defects == Value(List{});
}

Result<bool> verify_all(Connection& connection, Output& output) {
  bool is_sound = true;
  const auto done =
      connection.ask_pages(question_of("boards"), "boards", "after", [&](const Value& entry) -> Result<void> {
        const auto board = member_of(entry, "board");
        if (!board) return tl::unexpected(board.error());
        const auto verified = verify_board(connection, *board, output);
        if (!verified) return tl::unexpected(verified.error());
        is_sound = is_sound && *verified;
        return {};
      });
  if (!done) return tl::unexpected(done.error());
  return is_sound;
}

Result<Exit> run_verify(const Arguments& arguments, Output& output) {
  if (arguments.has("deep")) return run_deep_verify(arguments, output);
  const bool is_one = arguments.positional(0).has_value();
  const Result<std::string> board = is_one ? arguments.board(0) : std::string();
  if (!board) return tl::unexpected(board.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const auto is_sound = is_one ? verify_board(*connection, *board, output) : verify_all(*connection, output);
  if (!is_sound) return tl::unexpected(is_sound.error());
  return *is_sound ? Exit::done : Exit::refused;
}

Result<Exit> run_stat(const Arguments& arguments, Output& output) {
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const auto counters = connection->ask(question_of("stat"));
  if (!counters) return tl::unexpected(counters.error());
  if (auto printed = output.json(*counters); !printed) return tl::unexpected(printed.error());
  return Exit::done;
}

}  // namespace

const Command& boards_command() {
  static const Command command{
      .name = "boards",
      .summary = "list the boards",
      .help =
          "Prints one board a line, as JSON: its id, its version, and the time (ms) of that version. With --deleted "
          "those\n"
          "that were deleted: when and by whom, and whether all that they held is gone (done).",
      .positionals = {},
      .options = {{"deleted", "", "those that were deleted"}},
      .run = run_boards};
  return command;
}

const Command& verify_command() {
  static const Command command{
      .name = "verify",
      .summary = "replay the log of a board and compare",
      .help =
          "Replays the log of BOARD (of every board without one) and compares hash chain, digest and cells. Prints\n"
          "one finding a line, as JSON. Exit code 1 when there are defects.\n"
          "With --deep: looks at everything in the data directory DATA_DIR, without asking a server (one may run on "
          "it):\n"
          "pages, checksums of all records, a replay of each board, forks, receipts, the index of expiry, the ledger "
          "of\n"
          "erasures and that nothing is left of what was erased.",
      .positionals = {{"BOARD|DATA_DIR", false}},
      .options = {{"deep", "", "all that is in DATA_DIR"}},
      .run = run_verify};
  return command;
}

const Command& stat_command() {
  static const Command command{.name = "stat",
                               .summary = "show the counters of the server",
                               .help = "Prints the counters of the server as JSON.",
                               .positionals = {},
                               .options = {},
                               .run = run_stat};
  return command;
}

}  // namespace tafel::cli
