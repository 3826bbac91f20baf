// `diff`: what differs between two versions of a board.
#include <fmt/format.h>

#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/version_names.hpp"
#include "cli/words.hpp"

namespace tafel::cli {
namespace {

constexpr const char* help_text =
    R"(Prints what differs between version V1 and version V2 of a board, at and below PATH: one field a line,
with + for what came, - for what went and ~ for what changed. Of a set and a log the elements and entries
that came and went, and suggestions (?) likewise. V2 may be the older one. A version is a number, or a name
that `tag` gave.)";

std::string part_lines(const Value& field, std::string_view member, std::string_view mark) {
  const Value* parts = field.find(member);
  if (parts == nullptr) return {};
  std::string text;
  for (const auto& [list, sign] : {std::pair("added", "+"), {"removed", "-"}, {"changed", "~"}}) {
    for (const Value& item : list_of(*parts, list)) {
      text += fmt::format("  {}{} {}  {}\n", mark, sign, short_json(item.find("value")), who_said(item));
    }
  }
  return text;
}

std::string in_lines(const Value& field) {
  const std::string path = text_of(field, "path");
  const Value* before = field.find("before");
  const Value* after = field.find("after");
  std::string text;
  if (before == nullptr || after == nullptr) {
    text = fmt::format("~ {}\n", path);
  } else if (before->is_nil()) {
    text = fmt::format("+ {} = {}  {}\n", path, short_json(after->find("value")), who_said(*after));
  } else if (after->is_nil()) {
    text = fmt::format("- {} = {}\n", path, short_json(before->find("value")));
  } else {
    text = fmt::format("~ {} = {} -> {}  {}\n", path, short_json(before->find("value")),
                       short_json(after->find("value")), who_said(*after));
  }
  text += part_lines(field, "elements", "") + part_lines(field, "entries", "") + part_lines(field, "suggestions", "?");
  text.pop_back();
  return text;
}

Result<Exit> run_diff(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto path = arguments.path(3);
  if (!board) return tl::unexpected(board.error());
  if (!path) return tl::unexpected(path.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const auto from = version_from(*connection, *board, arguments.positional(1).value_or(""), "V1");
  if (!from) return tl::unexpected(from.error());
  const auto to = version_from(*connection, *board, arguments.positional(2).value_or(""), "V2");
  if (!to) return tl::unexpected(to.error());
  Value question(Map{{"what", "diff"}, {"board", *board}, {"from", *from}, {"to", *to}});
  if (*path) question.set("path", **path);
  const bool as_json = arguments.has("json");
  const auto done = connection->ask_pages(question, "fields", "cursor", [&](const Value& field) {
    return as_json ? output.json_line(field) : output.line(in_lines(field));
  });
  if (!done) return tl::unexpected(done.error());
  return Exit::done;
}

}  // namespace

const Command& diff_command() {
  static const Command command{.name = "diff",
                               .summary = "show what differs between two versions",
                               .help = help_text,
                               .positionals = {{"BOARD"}, {"V1"}, {"V2"}, {"PATH", false}},
                               .options = {{"json", "", "one field a line, as JSON"}},
                               .run = run_diff};
  return command;
}

}  // namespace tafel::cli
