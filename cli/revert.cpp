// `revert`, `suggestions`, `accept` and `dismiss`: deltas that lead back, and what the confidence gate has held.
#include <fmt/format.h>

#include <algorithm>

#include "agents_sdk/cpp/history.hpp"
#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/receipts.hpp"
#include "cli/version_names.hpp"
#include "cli/words.hpp"

namespace tafel::cli {
namespace {

constexpr const char* revert_help =
    R"(Takes PATH (the whole board without one) back to what was after version V, or takes back what the actor
NAME wrote last, after version V. This is a new version: the past stays as it is. What was written since
this command looked stays too. What is surer than the revert (--confidence, else as sure as you may be) is
not touched; the revert is held there as a suggestion. --check only tells what would happen.)";

Result<sdk::DeltaBuilder> wanted(Connection& connection, const std::string& board, const Arguments& arguments,
                                 sdk::History& history) {
  const auto to = version_option(connection, board, arguments, "to");
  const auto since = arguments.number("since");
  const auto path = arguments.path(1);
  if (!to) return tl::unexpected(to.error());
  if (!since) return tl::unexpected(since.error());
  if (!path) return tl::unexpected(path.error());
  const auto actor = arguments.text("actor");
  if (*to && !actor && !*since) return history.revert_to(**to, path->value_or(""));
  if (!*to && actor && *since) return history.revert_actor(*actor, **since, path->value_or(""));
  return fail(Fault::bad_config, "revert needs either --to V, or --actor NAME and --since V");
}

Result<Exit> run_revert(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto confidence = confidence_of(arguments);
  if (!board) return tl::unexpected(board.error());
  if (!confidence) return tl::unexpected(confidence.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  sdk::History history(connection->agent(), *board);
  auto delta = wanted(*connection, *board, arguments, history);
  if (!delta) return tl::unexpected(delta.error());
  if (*confidence) delta->confidence(**confidence);
  delta->check(arguments.has("check"));
  if (delta->delta().ops.empty()) {
    tell("nothing differs");
    return Exit::done;
  }
  const auto receipt = connection->agent().apply(*board, *delta);
  if (!receipt) return tl::unexpected(receipt.error());
  const auto printed = print_receipt(*receipt, delta->delta(), arguments.has("json"), output);
  const bool is_held = std::any_of(receipt->ops.begin(), receipt->ops.end(),
                                   [](const OpResult& op) { return op.outcome == Outcome::held; });
  if (!printed || !is_held) return printed;
  tell("some of it is held, since what stands there is surer; say how sure you are with --confidence");
  return Exit::refused;
}

Result<void> print_suggestions(const Value& answer, Output& output) {
  const auto all = member_of(answer, "suggestions");
  if (!all) return tl::unexpected(all.error());
  const auto* map = all->get_if<Map>();
  if (map == nullptr) return fail(Fault::bad_bytes, "the server's answer: \"suggestions\" is no map");
  for (const auto& [path, list] : *map) {
    const auto* held = list.get_if<List>();
    for (const Value& one : held != nullptr ? *held : List{}) {
      auto printed = output.line(fmt::format("{}  {}  {} {}  {}", path, text_of(one, "id"), text_of(one, "op"),
                                             short_json(one.find("value")), who_said(one)));
      if (!printed) return printed;
    }
  }
  return {};
}

Result<Exit> run_suggestions(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto path = arguments.path(1);
  if (!board) return tl::unexpected(board.error());
  if (!path) return tl::unexpected(path.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  Value question(Map{{"what", "suggestions"}, {"board", *board}});
  if (*path) question.set("path", **path);
  const auto answer = connection->ask(question);
  if (!answer) return tl::unexpected(answer.error());
  const auto printed =
      arguments.has("json") ? output.json(*answer->find("suggestions")) : print_suggestions(*answer, output);
  if (!printed) return tl::unexpected(printed.error());
  return Exit::done;
}

// One op on one suggestion.
Result<Exit> decide(const Arguments& arguments, Output& output, bool accepts) {
  const auto board = arguments.board(0);
  const auto path = arguments.path(1);
  const auto confidence = confidence_of(arguments);
  if (!board) return tl::unexpected(board.error());
  if (!path) return tl::unexpected(path.error());
  if (!confidence) return tl::unexpected(confidence.error());
  const std::string id = arguments.positional(2).value_or("");
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  sdk::DeltaBuilder delta;
  accepts ? delta.accept(**path, id) : delta.dismiss(**path, id);
  if (*confidence) delta.confidence(**confidence);
  const auto receipt = connection->agent().apply(*board, delta);
  if (!receipt) return tl::unexpected(receipt.error());
  const auto printed = print_receipt(*receipt, delta.delta(), arguments.has("json"), output);
  if (!printed) return printed;
  // A suggestion that is still held was not accepted.
  const bool is_done = !receipt->ops.empty() && receipt->ops.front().outcome != Outcome::held &&
                       receipt->ops.front().outcome != Outcome::unchanged;
  if (*printed == Exit::done && !is_done) {
    tell("it is held again: what stands there is surer; say how sure you are with --confidence");
    return Exit::refused;
  }
  return printed;
}

Result<Exit> run_accept(const Arguments& arguments, Output& output) { return decide(arguments, output, true); }
Result<Exit> run_dismiss(const Arguments& arguments, Output& output) { return decide(arguments, output, false); }

}  // namespace

const Command& revert_command() {
  static const Command command{.name = "revert",
                               .summary = "go back to an older version",
                               .help = revert_help,
                               .positionals = {{"BOARD"}, {"PATH", false}},
                               .options = {{"to", "V", "back to what was after version V, a number or the name of one"},
                                           {"actor", "NAME", "take back what this actor wrote last"},
                                           {"since", "V", "with --actor: after version V"},
                                           confidence_option,
                                           check_option,
                                           receipt_option},
                               .run = run_revert};
  return command;
}

const Command& suggestions_command() {
  static const Command command{.name = "suggestions",
                               .summary = "show what is held for a decision",
                               .help =
                                   "Prints the suggestions that are held at and below PATH, one a line: path, id, "
                                   "what it would do,\nand who made it, how surely, when and from what.",
                               .positionals = {{"BOARD"}, {"PATH", false}},
                               .options = {{"json", "", "as JSON: each path with its suggestions"}},
                               .run = run_suggestions};
  return command;
}

const Command& accept_command() {
  static const Command command{
      .name = "accept",
      .summary = "take over a held suggestion",
      .help =
          "Writes what the suggestion ID at PATH says, as your own write. Exit code 1 when what stands there is\n"
          "surer than you say you are: then it stays held.",
      .positionals = {{"BOARD"}, {"PATH"}, {"ID"}},
      .options = {confidence_option, receipt_option},
      .run = run_accept};
  return command;
}

const Command& dismiss_command() {
  static const Command command{.name = "dismiss",
                               .summary = "drop a held suggestion",
                               .help = "Drops the suggestion ID at PATH. It stays in the history.",
                               .positionals = {{"BOARD"}, {"PATH"}, {"ID"}},
                               .options = {receipt_option},
                               .run = run_dismiss};
  return command;
}

}  // namespace tafel::cli
