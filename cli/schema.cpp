// `schema`: what a board's fields are: read, set, checked, and as the tool that a language model is given.
#include <fmt/format.h>

#include "cli/connection.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/schema_answer.hpp"
#include "cli/schema_templates.hpp"
#include "common/codec/json.hpp"
#include "common/codec/receipt_codec.hpp"
#include "common/codec/schema_codec.hpp"
#include "context/extraction.hpp"

namespace tafel::cli {
namespace {

constexpr const char* help_text =
    R"(  get BOARD          the schema of BOARD with the documents that make it, and how complete the board is
  set BOARD FILE     makes FILE the schema of BOARD (--below: of all boards below it); null in FILE: none.
                     Prints the receipt. Refused, with the offenders, when data on the boards break it
  check FILE         what is wrong with FILE and what is doubtful, without a server
  tool BOARD         the tool (function) for a language model that reads facts out of a dialogue; --file FILE
                     in place of BOARD needs no server; --facts: what is sure already, to be shown to it
  template [NAME]    a schema to begin with; without NAME their names
FILE is JSON (- for standard input). docs/schema.md describes it, docs/schema.schema.json is its JSON Schema.)";

constexpr std::chrono::seconds receipt_patience{30};

Result<Value> read_json(const std::string& file) {
  const auto text = read_small_file(file);
  if (!text) return tl::unexpected(text.error());
  auto value = codec::parse_json(*text);
  if (!value) return fail(Fault::refused, file + ": " + value.error().message);
  return std::move(*value);
}

Result<std::string> needed(const Arguments& arguments, std::size_t index, std::string_view what) {
  if (auto given = arguments.positional(index)) return *given;
  return fail(Fault::bad_config, fmt::format("schema {} needs {}", arguments.positional(0).value_or(""), what));
}

Result<Exit> shown(Result<void> printed, Exit exit = Exit::done) {
  if (!printed) return tl::unexpected(printed.error());
  return exit;
}

Value list_of(const std::vector<std::string>& texts) { return List(texts.begin(), texts.end()); }

Result<Exit> get(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(1);
  if (!board) return tl::unexpected(board.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const auto answer = ask_schema(*connection, *board);
  if (!answer) return tl::unexpected(answer.error());
  return shown(output.json(answer->whole));
}

Result<Exit> set(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(1);
  const auto file = needed(arguments, 2, "FILE");
  if (!board) return tl::unexpected(board.error());
  if (!file) return tl::unexpected(file.error());
  auto document = read_json(*file);
  if (!document) return tl::unexpected(document.error());
  if (const auto checked = codec::schema_from_value(*document); !checked && !document->is_nil()) {
    for (const std::string& defect : checked.error()) tell(*file + ": " + defect);  // all of them; a receipt is short
  }
  Delta delta;
  delta.board = *board;
  delta.check = arguments.has("check");
  Op& op = delta.ops.emplace_back();
  op.verb = Verb::schema;
  op.path = arguments.has("below") ? schema_of_below : schema_of_board;
  op.value = std::move(*document);
  op.has_value = true;
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const auto receipt = connection->agent().submit(delta).wait(connection->patience(receipt_patience));
  if (!receipt) return tl::unexpected(receipt.error());
  return shown(output.json_line(codec::receipt_to_value(*receipt)), receipt->error ? Exit::refused : Exit::done);
}

Result<Exit> check(const Arguments& arguments, Output& output) {
  const auto file = needed(arguments, 1, "FILE");
  if (!file) return tl::unexpected(file.error());
  const auto value = read_json(*file);
  if (!value) return tl::unexpected(value.error());
  const auto document = codec::schema_from_value(*value);
  Value finding{Map{}};
  finding.set("errors", document ? Value(List{}) : list_of(document.error()));
  finding.set("warnings", document ? list_of(codec::schema_warnings(*document)) : Value(List{}));
  return shown(output.json(finding), document ? Exit::done : Exit::refused);
}

Result<Schema> schema_in(const std::string& file) {
  const auto value = read_json(file);
  if (!value) return tl::unexpected(value.error());
  const auto document = codec::schema_from_value(*value);
  if (!document) return fail(Fault::refused, file + ": " + codec::in_one_message(document.error()));
  Schema schema;
  schema.add(*document);
  return schema;
}

Result<Exit> print_facts(Connection& connection, const std::string& board, const Schema& schema, Output& output) {
  const auto mirror = connection.agent().join(board);
  if (!mirror) return tl::unexpected(mirror.error());
  const auto copy = (*mirror)->snapshot();
  return shown(output.line(
      context::known_facts(*copy, schema, SystemClock().wall_ms(), Rights::everything())));  // it has what may be read
}

Result<Exit> tool(const Arguments& arguments, Output& output) {
  if (const auto file = arguments.text("file")) {
    if (arguments.has("facts"))
      return fail(Fault::bad_config, "--facts shows what a BOARD holds: give that in place of --file");
    const auto schema = schema_in(*file);
    if (!schema) return tl::unexpected(schema.error());
    return shown(output.json(context::extraction_tool(*schema)));
  }
  if (!arguments.positional(1)) return fail(Fault::bad_config, "schema tool needs BOARD or --file FILE");
  const auto board = arguments.board(1);
  if (!board) return tl::unexpected(board.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const auto answer = ask_schema(*connection, *board);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->schema.empty()) return fail(Fault::not_found, "board " + *board + " has no schema (tafel schema set)");
  if (arguments.has("facts")) return print_facts(*connection, *board, answer->schema, output);
  return shown(output.json(context::extraction_tool(answer->schema)));
}

Result<Exit> print_template(const Arguments& arguments, Output& output) {
  const auto name = arguments.positional(1);
  for (const SchemaTemplate& one : schema_templates()) {
    if (name && *name == one.name) return shown(output.line(one.json));
  }
  if (name) return fail(Fault::bad_config, fmt::format("there is no template '{}' (tafel schema template)", *name));
  for (const SchemaTemplate& one : schema_templates()) {
    if (auto printed = output.line(fmt::format("{:<12} {}", one.name, one.summary)); !printed)
      return tl::unexpected(printed.error());
  }
  return Exit::done;
}

Result<Exit> run_schema(const Arguments& arguments, Output& output) {
  const std::string action = arguments.positional(0).value_or("");
  if (action == "get") return get(arguments, output);
  if (action == "set") return set(arguments, output);
  if (action == "check") return check(arguments, output);
  if (action == "tool") return tool(arguments, output);
  if (action == "template") return print_template(arguments, output);
  return fail(Fault::bad_config, fmt::format("schema takes get, set, check, tool or template, not '{}'", action));
}

}  // namespace

const Command& schema_command() {
  static const Command command{
      .name = "schema",
      .summary = "say what the fields of a board are",
      .help = help_text,
      .positionals = {{"get|set|check|tool|template"}, {"BOARD|FILE|NAME", false}, {"FILE", false}},
      .options = {{"below", "", "set: for all boards whose ids begin with BOARD/"},
                  {"check", "", "set: only say what would happen"},
                  {"file", "FILE", "tool: of a schema in a file"},
                  {"facts", "", "tool: the block of facts that are sure already"}},
      .run = run_schema};
  return command;
}

}  // namespace tafel::cli
