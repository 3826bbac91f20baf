// `log`: the events of a board, oldest first.
#include "cli/connection.hpp"
#include "cli/output.hpp"

namespace tafel::cli {
namespace {

constexpr const char* help_text =
    R"(Prints one event a line, as JSON: version, time, actor, delta id, base, source, ops with their
results, what changed, and the hashes of the chain.)";

Result<Exit> run_log(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto from = arguments.number("from");
  const auto to = arguments.number("to");
  if (!board) return tl::unexpected(board.error());
  if (!from) return tl::unexpected(from.error());
  if (!to) return tl::unexpected(to.error());

  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  Value question{Map{}};
  question.set("what", "log").set("board", *board);
  if (*from) question.set("from", **from);
  if (*to) question.set("to", **to);
  const auto done = connection->ask_pages(question, "events", "from",
                                          [&output](const Value& event) { return output.json_line(event); });
  if (!done) return tl::unexpected(done.error());
  return Exit::done;
}

}  // namespace

const Command& log_command() {
  static const Command command{.name = "log",
                               .summary = "show the events of a board",
                               .help = help_text,
                               .positionals = {{"BOARD"}},
                               .options = {{"from", "V", "the first version shown (default 1)"},
                                           {"to", "V", "the last one (default: the newest)"}},
                               .run = run_log};
  return command;
}

}  // namespace tafel::cli
