// `get`: a value, a subtree or the whole of a board, now or at a version.
#include <fmt/format.h>

#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/schema_answer.hpp"
#include "cli/version_names.hpp"
#include "cli/words.hpp"

namespace tafel::cli {
namespace {

constexpr const char* help_text =
    R"(Prints the value at PATH (the whole board without one) as JSON. Exit code 1 when nothing is there.
PATH is a dot path, as budget.max; \. is a literal dot. Bytes are shown as {"$bytes": base64}.)";

// What the answer of a `get` says, or the failure that nothing is there.
Result<Exit> print_value(const Value& answer, const std::string& board, const std::optional<std::string>& path,
                         Output& output) {
  const auto value = member_of(answer, "value");
  const auto found = member_of(answer, "found");
  const auto version = member_of(answer, "version");
  if (!value) return tl::unexpected(value.error());
  if (!found) return tl::unexpected(found.error());
  if (!version) return tl::unexpected(version.error());
  if (*found == Value(false) && path) {
    return fail(Fault::not_found,
                fmt::format("nothing at {} on board {} at version {}", *path, board, brief(*version)));
  }
  if (auto printed = output.json(*found == Value(false) ? Value(Map{}) : *value); !printed) {
    return tl::unexpected(printed.error());
  }
  return Exit::done;
}

Result<Exit> print_members(const Value& answer, const std::vector<std::string_view>& names, Output& output) {
  Value shown{Map{}};
  for (const std::string_view name : names) {
    auto member = member_of(answer, name);
    if (!member) return tl::unexpected(member.error());
    shown.set(name, std::move(*member));
  }
  if (auto printed = output.json(shown); !printed) return tl::unexpected(printed.error());
  return Exit::done;
}

Result<Exit> print_suggestions(const Value& answer, Output& output) {
  const auto suggestions = member_of(answer, "suggestions");
  if (!suggestions) return tl::unexpected(suggestions.error());
  if (auto printed = output.json(*suggestions); !printed) return tl::unexpected(printed.error());
  return Exit::done;
}

Result<Exit> print_completeness(Connection& connection, const std::string& board, Output& output) {
  const auto answer = ask_schema(connection, board);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->completeness.is_nil())
    return fail(Fault::not_found,
                fmt::format("the schema of board {} requires nothing (tafel schema get {})", board, board));
  if (auto printed = output.json(answer->completeness); !printed) return tl::unexpected(printed.error());
  return Exit::done;
}

Result<std::optional<TimeMs>> time_of(const Arguments& arguments) {
  const auto text = arguments.text("at-time");
  if (!text) return std::nullopt;
  const auto time = time_from(*text, "at-time");
  if (!time) return tl::unexpected(time.error());
  return *time;
}

Result<Exit> run_get(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto path = arguments.path(1);
  if (!board) return tl::unexpected(board.error());
  if (!path) return tl::unexpected(path.error());
  const auto time = time_of(arguments);
  if (!time) return tl::unexpected(time.error());
  if (arguments.has("at") && *time) return fail(Fault::bad_config, "--at and --at-time: give one of them");
  const bool is_full = arguments.has("full");
  const bool is_suggestions = arguments.has("suggestions");
  const bool is_completeness = arguments.has("completeness");
  if (int{is_full} + int{is_suggestions} + int{is_completeness} > 1)
    return fail(Fault::bad_config, "--full, --suggestions and --completeness: give one of them");
  if (is_completeness && (*path || arguments.has("at")))
    return fail(Fault::bad_config, "--completeness is of a whole board as it is now");

  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  if (is_completeness) return print_completeness(*connection, *board, output);
  const auto at = version_option(*connection, *board, arguments, "at");
  if (!at) return tl::unexpected(at.error());
  Value question{Map{}};
  question.set("what", is_full || is_suggestions ? "full" : "get").set("board", *board);
  if (*path) question.set("path", **path);
  if (*at) question.set("at", **at);
  if (*time) question.set("at_time", **time);
  if (is_suggestions) question.set("detail", true);
  const auto answer = connection->ask(question);
  if (!answer) return tl::unexpected(answer.error());
  if (is_full) return print_members(*answer, {"version", "state", "fields", "suggestions"}, output);
  if (is_suggestions) return print_suggestions(*answer, output);
  return print_value(*answer, *board, *path, output);
}

}  // namespace

const Command& get_command() {
  static const Command command{
      .name = "get",
      .summary = "show a value, or a whole board",
      .help = help_text,
      .positionals = {{"BOARD"}, {"PATH", false}},
      .options = {{"at", "V", "as it was at version V, a number or the name of one"},
                  {"at-time", "T", "as it was at a time: 2026-11-30T09:30:00Z (UTC without a zone), or ms since 1970"},
                  {"full", "", "version, state, fields (kind, value, confidence, conflicts) and suggestions"},
                  {"suggestions", "", "held suggestions with id, actor, time and source"},
                  {"completeness", "", "how much of what the schema requires is there, and what is missing"}},
      .run = run_get};
  return command;
}

}  // namespace tafel::cli
