// `fork`, `merge`, `tag`, `tags`, `erase` and `erasures`: what is done to a whole board, or to its history.
#include <fmt/format.h>

#include "blackboard/store/erasure_ledger.hpp"
#include "cli/connection.hpp"
#include "cli/ledger.hpp"
#include "cli/output.hpp"
#include "cli/receipts.hpp"
#include "cli/version_names.hpp"
#include "cli/words.hpp"
#include "common/codec/fields.hpp"
#include "common/model/names.hpp"

namespace tafel::cli {
namespace {

// --- fork, merge ---

// BOARD or BOARD@V, where V is a number or the name of a version.
struct AtVersion {
  std::string board;
  std::optional<Version> version;
};
Result<AtVersion> board_at(const Arguments& arguments) {
  AtVersion named{arguments.positional(0).value_or(""), std::nullopt};
  const std::size_t at = named.board.rfind('@');
  const std::string digits = at == std::string::npos ? std::string() : named.board.substr(at + 1);
  if (digits.empty() || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) return named;
  named.version = std::stoull(digits);
  named.board.resize(at);
  return named;
}

// A board may have an @ in its id, so a name is one only where the board before it has such a tag.
Result<void> look_up_name(Connection& connection, AtVersion& named) {
  const std::size_t at = named.board.rfind('@');
  if (named.version || at == std::string::npos || at == 0) return {};
  const auto version = tagged_version(connection, named.board.substr(0, at), named.board.substr(at + 1));
  if (!version || !*version) return {};
  named.version = **version;
  named.board.resize(at);
  return {};
}

Result<Exit> run_fork(const Arguments& arguments, Output& output) {
  auto from = board_at(arguments);
  const auto to = arguments.board(1);
  if (!from) return tl::unexpected(from.error());
  if (!to) return tl::unexpected(to.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  if (auto named = look_up_name(*connection, *from); !named) return tl::unexpected(named.error());
  sdk::DeltaBuilder delta;
  delta.fork(from->board, from->version);
  return send_delta(*connection, arguments, *to, delta, output);
}

Result<std::string> parent_of(Connection& connection, const std::string& fork) {
  const auto answer = connection.ask(Map{{"what", "get"}, {"board", fork}, {"path", fork_path}});
  if (!answer) return tl::unexpected(answer.error());
  const auto value = member_of(*answer, "value");
  if (!value) return tl::unexpected(value.error());
  const std::string parent = text_of(*value, "parent");
  if (parent.empty()) return fail(Fault::refused, fork + " is no fork");
  return parent;
}

Result<Exit> run_merge(const Arguments& arguments, Output& output) {
  const auto fork = board_at(arguments);
  if (!fork) return tl::unexpected(fork.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const auto parent = parent_of(*connection, fork->board);
  if (!parent) return tl::unexpected(parent.error());
  sdk::DeltaBuilder delta;
  delta.merge(fork->board, fork->version);
  return send_delta(*connection, arguments, *parent, delta, output);
}

// --- tag, tags ---

Result<Exit> run_tag(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto at = arguments.number("at");
  if (!board) return tl::unexpected(board.error());
  if (!at) return tl::unexpected(at.error());
  if (*at && arguments.has("remove")) return fail(Fault::bad_config, "tag takes --at V or --remove, not both");
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const std::string name = arguments.positional(1).value_or("");
  sdk::DeltaBuilder delta;
  if (arguments.has("remove")) {
    delta.untag(name);
  } else {
    std::optional<Version> version = *at;
    if (!version) {
      const auto answer = connection->ask(Map{{"what", "get"}, {"board", *board}, {"path", tags_path}});
      if (!answer) return tl::unexpected(answer.error());
      const auto head = member_of(*answer, "head");
      version = head ? codec::as_uint64(*head) : std::nullopt;
    }
    delta.tag(name, version.value_or(0));
  }
  return send_delta(*connection, arguments, *board, delta, output);
}

Result<Exit> run_tags(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  if (!board) return tl::unexpected(board.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const auto answer = connection->ask(Map{{"what", "get"}, {"board", *board}, {"path", tags_path}});
  if (!answer) return tl::unexpected(answer.error());
  const auto value = member_of(*answer, "value");
  if (!value) return tl::unexpected(value.error());
  const Value none{Map{}};
  const Value& tags = value->is_nil() ? none : *value;
  if (arguments.has("json")) {
    if (auto printed = output.json(tags); !printed) return tl::unexpected(printed.error());
    return Exit::done;
  }
  for (const auto& [name, version] : *tags.get_if<Map>()) {
    if (auto printed = output.line(fmt::format("{}  {}", name, short_json(&version))); !printed)
      return tl::unexpected(printed.error());
  }
  return Exit::done;
}

// --- erase, erasures ---

Result<Exit> run_erase(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto path = arguments.path(1);
  if (!board) return tl::unexpected(board.error());
  if (!path) return tl::unexpected(path.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  sdk::DeltaBuilder delta;
  delta.erase(**path);
  const auto sent = send_delta(*connection, arguments, *board, delta, output);
  if (!sent || *sent != Exit::done || arguments.has("check")) return sent;
  const auto done = wait_until_done(*connection, *board);
  if (!done) return tl::unexpected(done.error());
  if (*done) return sent;
  tell("the history is still being gone through; `tafel erasures` tells when it is done");
  return sent;
}

// The whole ledger, as lines of a file that lies beside backups.
Result<Exit> export_erasures(Connection& connection, Output& output) {
  const auto read =
      connection.ask_pages(Map{{"what", "erasures"}}, "erasures", "from", [&](const Value& found) -> Result<void> {
        const auto erasure = store::erasure_from_value(found);
        if (!erasure) return tl::unexpected(erasure.error());
        return output.line(store::ledger_line(*erasure));
      });
  if (!read) return tl::unexpected(read.error());
  return Exit::done;
}

Result<Exit> run_erasures(const Arguments& arguments, Output& output) {
  std::optional<std::string> board;
  if (arguments.positional(0)) {
    const auto named = arguments.board(0);
    if (!named) return tl::unexpected(named.error());
    board = *named;
  }
  if (board && arguments.has("export"))
    return fail(Fault::bad_config, "erasures --export prints the ledger of all boards: leave BOARD out");
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  if (arguments.has("export")) return export_erasures(*connection, output);
  const auto ledger = read_ledger(*connection, board);
  if (!ledger) return tl::unexpected(ledger.error());
  for (const Value& erasure : *ledger) {
    const Value* version = erasure.find("version");
    const auto printed =
        arguments.has("json")
            ? output.json_line(erasure)
            : output.line(fmt::format("{}  {}  version {}  {}  {}", text_of(erasure, "board"), text_of(erasure, "path"),
                                      short_json(version), text_of(erasure, "actor"),
                                      is_done(erasure) ? "done" : "pending"));
    if (!printed) return tl::unexpected(printed.error());
  }
  return Exit::done;
}

const OptionSpec json_option{"json", "", "as JSON"};

}  // namespace

const Command& fork_command() {
  static const Command command{
      .name = "fork",
      .summary = "begin a new board as another one was",
      .help =
          "Makes the board NEW, which must not exist, a fork of BOARD as it was after version V (BOARD@V), or as it\n"
          "is. Nothing is copied until it is written to; the history before V is that of BOARD.",
      .positionals = {{"BOARD[@V]"}, {"NEW"}},
      .options = {check_option, receipt_option},
      .run = run_fork};
  return command;
}

const Command& merge_command() {
  static const Command command{
      .name = "merge",
      .summary = "bring what a fork changed back to its parent",
      .help =
          "Sends what FORK differs in from where it began to its parent, as one delta whose base is the fork point.\n"
          "The rules decide as for every delta: what the parent did meanwhile stays beside it, or is held.",
      .positionals = {{"FORK[@V]"}},
      .options = {confidence_option, check_option, receipt_option},
      .run = run_merge};
  return command;
}

const Command& tag_command() {
  static const Command command{
      .name = "tag",
      .summary = "give a version a name",
      .help = "Names version V of BOARD (the newest without --at), or takes the name away.",
      .positionals = {{"BOARD"}, {"NAME"}},
      .options = {{"at", "V", "the version"}, {"remove", "", "take the name away"}, check_option, receipt_option},
      .run = run_tag};
  return command;
}

const Command& tags_command() {
  static const Command command{.name = "tags",
                               .summary = "list the named versions",
                               .help = "Prints the names of versions of BOARD, one a line, each with its version.",
                               .positionals = {{"BOARD"}},
                               .options = {json_option},
                               .run = run_tags};
  return command;
}

const Command& erase_command() {
  static const Command command{
      .name = "erase",
      .summary = "erase fields for good, with their history",
      .help =
          "Takes what stands at and below PATH, and ever stood there, out of the state, the history, the suggestions\n"
          "and the receipts of BOARD and of its forks. Events keep a salted hash of it, so the log still verifies.\n"
          "This can not be taken back. Returns when the history has been gone through.",
      .positionals = {{"BOARD"}, {"PATH"}},
      .options = {check_option, receipt_option},
      .run = run_erase};
  return command;
}

const Command& erasures_command() {
  static const Command command{.name = "erasures",
                               .summary = "list what was erased",
                               .help =
                                   "Prints the ledger of erasures (of BOARD): where, at which version, by whom, and\n"
                                   "whether the history has been gone through. With --export: the whole ledger, as\n"
                                   "a file to keep beside older backups (`tafeld --erasures FILE`).",
                               .positionals = {{"BOARD", false}},
                               .options = {json_option, {"export", "", "the whole ledger, one JSON object a line"}},
                               .run = run_erasures};
  return command;
}

}  // namespace tafel::cli
