// `retain`: how much of the history of a board is kept.
#include <fmt/format.h>

#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/receipts.hpp"
#include "common/base/quantity.hpp"
#include "common/codec/retention_codec.hpp"
#include "common/model/names.hpp"

namespace tafel::cli {
namespace {

Result<Exit> show(Connection& connection, const std::string& board, const Arguments& arguments, Output& output) {
  const auto answer = connection.ask(Map{{"what", "get"}, {"board", board}, {"path", retention_path}});
  if (!answer) return tl::unexpected(answer.error());
  const Value* value = answer->find("value");
  const bool is_own = value != nullptr && !value->is_nil();
  if (arguments.has("json")) {
    if (auto printed = output.json(is_own ? *value : Value()); !printed) return tl::unexpected(printed.error());
    return Exit::done;
  }
  const auto retention = is_own ? codec::retention_from_value(*value) : Result<Retention>(Retention());
  if (!retention) return tl::unexpected(retention.error());
  std::string words = !is_own ? "as the server's default says" : retention->keeps_everything() ? "everything" : "";
  const auto add = [&](const std::string& part) { words += words.empty() ? part : ", " + part; };
  if (retention->versions) add(fmt::format("the newest {} versions", *retention->versions));
  if (retention->age_ms) add(fmt::format("{} ms back", *retention->age_ms));
  if (retention->bytes) add(fmt::format("{} bytes", *retention->bytes));
  if (auto printed = output.line("kept: " + words); !printed) return tl::unexpected(printed.error());
  return Exit::done;
}

Result<Retention> retention_of(const Arguments& arguments) {
  Retention retention;
  const auto versions = arguments.number("versions");
  if (!versions) return tl::unexpected(versions.error());
  if (*versions && **versions == 0) return fail(Fault::bad_config, "--versions must be 1 or more");
  retention.versions = *versions;
  if (const auto age = arguments.text("age")) {
    retention.age_ms = parse_duration_ms(*age);
    if (!retention.age_ms)
      return fail(Fault::bad_config, fmt::format("--age must be a time like 90s, 12h or 30d, not \"{}\"", *age));
  }
  if (const auto bytes = arguments.text("bytes")) {
    retention.bytes = parse_bytes(*bytes);
    if (!retention.bytes)
      return fail(Fault::bad_config, fmt::format("--bytes must be a number like 1048576 or 1M, not \"{}\"", *bytes));
  }
  return retention;
}

Result<Exit> run_retain(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  if (!board) return tl::unexpected(board.error());
  const auto retention = retention_of(arguments);
  if (!retention) return tl::unexpected(retention.error());
  const bool has_limits = !retention->keeps_everything();
  if (has_limits + arguments.has("everything") + arguments.has("default") > 1)
    return fail(Fault::bad_config, "retain takes limits, --everything or --default, not several of them");
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  if (!has_limits && !arguments.has("everything") && !arguments.has("default"))
    return show(*connection, *board, arguments, output);
  sdk::DeltaBuilder delta;
  delta.retain(arguments.has("default") ? std::nullopt : std::optional(*retention));
  delta.check(arguments.has("check"));
  const auto receipt = connection->agent().apply(*board, delta);
  if (!receipt) return tl::unexpected(receipt.error());
  return print_receipt(*receipt, delta.delta(), arguments.has("json"), output);
}

}  // namespace

const Command& retain_command() {
  static const Command command{
      .name = "retain",
      .summary = "say how much of the history is kept",
      .help =
          "Sets what is kept of the history of BOARD; what passes any of the limits is trimmed in the background, but\n"
          "never the newest version, nor one that has a tag or that a fork began at. Without an option, tells what is\n"
          "set. The state, and receipts that are still remembered, are not touched.",
      .positionals = {{"BOARD"}},
      .options = {{"versions", "N", "the newest N versions"},
                  {"age", "TIME", "so far back, with s, m, h, d or w: 30d"},
                  {"bytes", "BYTES", "so much room for the events, with k, M or G"},
                  {"everything", "", "without limits, whatever the server's default is"},
                  {"default", "", "as the server's default says"},
                  check_option,
                  receipt_option},
      .run = run_retain};
  return command;
}

}  // namespace tafel::cli
