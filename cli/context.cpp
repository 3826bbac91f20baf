// `context`: the bounded context of one model call, as the server assembles it from the board.
#include "context/context.hpp"

#include <fmt/format.h>

#include "cli/connection.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "common/codec/json.hpp"

namespace tafel::cli {
namespace {

constexpr const char* help_text =
    R"(Assembles the bounded context of one model call and prints it as JSON: board, base (the version that a
delta made from it must carry), messages, and a trace of what is in it and what was left out. FILE (or
- for standard input) holds the request as JSON, as in
  {"system": "You plan trips.", "pinned": ["budget"], "turns": 6, "budget_tokens": 4000}
Exit code 1 when the mandatory part alone is larger than the budget.)";

// The request as the server takes it, checked here so that the message can name the file.
Result<Value> read_request(const std::string& file) {
  const auto text = read_small_file(file);
  if (!text) return tl::unexpected(text.error());
  auto request = codec::parse_json(*text);
  if (!request) return fail(Fault::refused, file + ": " + request.error().message);
  const auto checked = context::request_from_value(*request);
  if (!checked) return fail(Fault::refused, file + ": " + checked.error().message);
  return std::move(*request);
}

std::string text_member(const Value& map, std::string_view name) {
  const Value* member = map.find(name);
  const auto* text = member == nullptr ? nullptr : member->get_if<std::string>();
  return text == nullptr ? "" : *text;
}

Result<void> print_text(const Value& answer, Output& output) {
  const auto messages = member_of(answer, "messages");
  if (!messages) return tl::unexpected(messages.error());
  const auto* list = messages->get_if<List>();
  if (list == nullptr) return fail(Fault::bad_bytes, "the server's answer: \"messages\" is no list");
  for (const Value& message : *list) {
    auto printed =
        output.line(fmt::format("[{}]\n{}\n", text_member(message, "role"), text_member(message, "content")));
    if (!printed) return printed;
  }
  return {};
}

Result<Exit> run_context(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  if (!board) return tl::unexpected(board.error());
  const auto request = read_request(arguments.text("request").value_or(""));
  if (!request) return tl::unexpected(request.error());

  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  Value question{Map{}};
  question.set("what", "context").set("board", *board).set("request", *request);
  const auto answer = connection->ask(question);
  if (!answer) return tl::unexpected(answer.error());
  const auto printed = arguments.has("text") ? print_text(*answer, output) : output.json(*answer);
  if (!printed) return tl::unexpected(printed.error());
  return Exit::done;
}

}  // namespace

const Command& context_command() {
  static const Command command{
      .name = "context",
      .summary = "assemble the context of a model call",
      .help = help_text,
      .positionals = {{"BOARD"}},
      .options = {{"request", "FILE", "the request", true}, {"text", "", "the messages as plain text"}},
      .run = run_context};
  return command;
}

}  // namespace tafel::cli
