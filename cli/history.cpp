// `history` and `blame`: the revisions of a field, and who wrote what stands there.
#include <fmt/format.h>

#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/version_names.hpp"
#include "cli/words.hpp"
#include "common/model/utc.hpp"

namespace tafel::cli {
namespace {

constexpr const char* history_help =
    R"(Prints the revisions of the field at PATH, newest first; of a subtree those of all fields in it. Each
tells version, time, actor, op, outcome and the value after it: of a set or log what came (+), went (-)
or changed its confidence (~). Suggestions that were held (?) or dropped (x) are told with them.)";

constexpr const char* blame_help =
    R"(Prints each field at and below PATH (of the whole board without one) with who wrote what it shows:
how surely, at which version, when, and from which turn and evidence. Of a set each element, of a log
each entry. Conflicting values stand below the one that is shown (|).)";

std::string lines_of(const Value& words, std::string_view list, std::string_view sign) {
  std::string text;
  for (const Value& item : list_of(words, list)) {
    text += fmt::format("  {} {}  {}", sign, short_json(item.find("value")), text_of(item, "confidence"));
    if (const Value* id = item.find("id")) text += "  " + *id->get_if<std::string>();
    text += "\n";
  }
  return text;
}

std::string in_lines(const Value& revision) {
  const Value* time = revision.find("time");
  std::string text = fmt::format("version {}  {}  {}  {}", short_json(revision.find("version")),
                                 utc_text(time == nullptr ? 0 : time->as_int64().value_or(0)),
                                 text_of(revision, "actor"), text_of(revision, "path"));
  const std::string op = text_of(revision, "op");
  if (!op.empty()) text += fmt::format("  {} {}", op, text_of(revision, "outcome"));
  const std::string ref = revision.find("source") == nullptr ? "" : text_of(*revision.find("source"), "ref");
  if (!ref.empty()) text += "  " + ref;
  text += "\n";
  if (revision.find("gone") != nullptr) text += "  gone\n";
  if (const Value* value = revision.find("value")) {
    text += fmt::format("  {}  {}\n", short_json(value), text_of(revision, "confidence"));
  }
  text += lines_of(revision, "conflicts", "|") + lines_of(revision, "added", "+") + lines_of(revision, "removed", "-") +
          lines_of(revision, "changed", "~") + lines_of(revision, "held", "?") + lines_of(revision, "dropped", "x");
  text.pop_back();
  return text;
}

Result<void> print_history(Connection& connection, Value question, std::uint64_t count, bool as_json, Output& output) {
  while (count > 0) {
    const auto answer = connection.ask(question);
    if (!answer) return tl::unexpected(answer.error());
    const auto revisions = member_of(*answer, "revisions");
    if (!revisions) return tl::unexpected(revisions.error());
    for (const Value& revision : list_of(*answer, "revisions")) {
      if (count == 0) break;
      --count;
      if (auto printed = as_json ? output.json_line(revision) : output.line(in_lines(revision)); !printed)
        return printed;
    }
    const auto next = member_of(*answer, "next");
    if (!next) return tl::unexpected(next.error());
    if (next->is_nil()) return {};
    question.set("before", *next);
  }
  return {};
}

Result<Exit> run_history(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto path = arguments.path(1);
  const auto count = arguments.number("count");
  const auto before = arguments.number("before");
  if (!board) return tl::unexpected(board.error());
  if (!path) return tl::unexpected(path.error());
  if (!count) return tl::unexpected(count.error());
  if (!before) return tl::unexpected(before.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  Value question(Map{{"what", "history"}, {"board", *board}, {"path", **path}});
  if (*before) question.set("before", **before);
  constexpr std::uint64_t all = UINT64_MAX;
  const auto done = print_history(*connection, question, count->value_or(all), arguments.has("json"), output);
  if (!done) return tl::unexpected(done.error());
  return Exit::done;
}

std::string blame_lines(const std::string& path, const Value& words) {
  std::string text;
  if (const Value* value = words.find("value")) {
    text = fmt::format("{} = {}  {}\n", path, short_json(value), who_said(words));
  } else {
    text = fmt::format("{} ({})\n", path, text_of(words, "kind"));
  }
  for (const auto& [list, sign] : {std::pair("conflicts", "|"), {"elements", "-"}, {"entries", "-"}}) {
    for (const Value& item : list_of(words, list)) {
      text += fmt::format("  {} {}  {}\n", sign, short_json(item.find("value")), who_said(item));
    }
  }
  text.pop_back();
  return text;
}

Result<Exit> run_blame(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto path = arguments.path(1);
  if (!board) return tl::unexpected(board.error());
  if (!path) return tl::unexpected(path.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const auto at = version_option(*connection, *board, arguments, "at");
  if (!at) return tl::unexpected(at.error());
  Value question(Map{{"what", "blame"}, {"board", *board}});
  if (*path) question.set("path", **path);
  if (*at) question.set("at", **at);
  const auto answer = connection->ask(question);
  if (!answer) return tl::unexpected(answer.error());
  const auto fields = member_of(*answer, "fields");
  if (!fields) return tl::unexpected(fields.error());
  if (arguments.has("json")) {
    if (auto printed = output.json(*fields); !printed) return tl::unexpected(printed.error());
    return Exit::done;
  }
  const auto* map = fields->get_if<Map>();
  if (map == nullptr) return fail(Fault::bad_bytes, "the server's answer: \"fields\" is no map");
  for (const auto& [name, words] : *map) {
    if (auto printed = output.line(blame_lines(name, words)); !printed) return tl::unexpected(printed.error());
  }
  return Exit::done;
}

}  // namespace

const Command& history_command() {
  static const Command command{.name = "history",
                               .summary = "show the revisions of a field",
                               .help = history_help,
                               .positionals = {{"BOARD"}, {"PATH"}},
                               .options = {{"count", "N", "stop after N revisions (default: all)"},
                                           {"before", "V", "only those older than version V"},
                                           {"json", "", "one revision a line, as JSON"}},
                               .run = run_history};
  return command;
}

const Command& blame_command() {
  static const Command command{.name = "blame",
                               .summary = "show who wrote what stands there",
                               .help = blame_help,
                               .positionals = {{"BOARD"}, {"PATH", false}},
                               .options = {{"at", "V", "as it was at version V, a number or the name of one"},
                                           {"json", "", "as JSON: each path with its members"}},
                               .run = run_blame};
  return command;
}

}  // namespace tafel::cli
