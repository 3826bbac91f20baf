// `delete`: a whole board, for good.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/input.hpp"
#include "cli/ledger.hpp"
#include "cli/output.hpp"
#include "cli/receipts.hpp"

namespace tafel::cli {
namespace {

// Whoever deletes says so twice: with --yes, or by typing the name of the board.
Result<void> confirm(const Arguments& arguments, const std::string& board) {
  if (arguments.has("yes") || arguments.has("check")) return {};
  if (::isatty(STDIN_FILENO) == 0)
    return fail(Fault::bad_config, "delete asks first, and nobody is there to answer: give --yes");
  tell(fmt::format("this deletes {} with all its history, for good. Type its name to go on:", board));
  auto input = LineReader::open("-");
  if (!input) return tl::unexpected(input.error());
  std::string line;
  const auto read = input->next(line, std::nullopt);
  if (!read) return tl::unexpected(read.error());
  if (*read == LineReader::Item::line && line == board) return {};
  return fail(Fault::refused, "that is not its name: nothing was deleted");
}

Result<Exit> run_delete(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  if (!board) return tl::unexpected(board.error());
  if (auto confirmed = confirm(arguments, *board); !confirmed) return tl::unexpected(confirmed.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  sdk::DeltaBuilder delta;
  delta.delete_board();
  const auto receipt = receipt_for(*connection, arguments, *board, delta);
  if (!receipt) return tl::unexpected(receipt.error());
  if (receipt->error || arguments.has("json")) {
    const auto printed = print_receipt(*receipt, delta.delta(), arguments.has("json"), output);
    if (!printed || receipt->error) return printed;
  } else {
    const std::string_view words = arguments.has("check") ? "this would delete" : "deleted";
    if (auto printed = output.line(fmt::format("{} {}, by version {}", words, *board, receipt->version)); !printed)
      return tl::unexpected(printed.error());
  }
  if (arguments.has("check")) return Exit::done;
  const auto done = wait_until_done(*connection, *board);
  if (!done) return tl::unexpected(done.error());
  if (!*done) tell("what it held is still being taken away; `tafel boards --deleted` tells when it is done");
  return Exit::done;
}

}  // namespace

const Command& delete_command() {
  static const Command command{.name = "delete",
                               .summary = "delete a board for good, with its history",
                               .help =
                                   "Deletes BOARD: its state, its history, all that it held. Whatever is still written "
                                   "to it is refused, and its\n"
                                   "name is not used again. A board with forks is refused: they go first. Asks for the "
                                   "name of the board, unless\n"
                                   "--yes is given. Returns when all of it has been taken out of the store.",
                               .positionals = {{"BOARD"}},
                               .options = {{"yes", "", "do not ask"}, check_option, receipt_option},
                               .run = run_delete};
  return command;
}

}  // namespace tafel::cli
