#include "cli/apply_extraction.hpp"

#include "cli/connection.hpp"
#include "cli/input.hpp"
#include "cli/schema_answer.hpp"
#include "common/codec/receipt_codec.hpp"
#include "context/extraction.hpp"

namespace tafel::cli {
namespace {

constexpr std::chrono::seconds receipt_patience{30};

// The receipt of an answer that made no delta.
Receipt refusal(const std::string& board, const context::ExtractionDefects& defects) {
  Receipt receipt;
  receipt.board = board;
  receipt.error = ErrorInfo{};
  receipt.error->code = ErrorCode::bad_value;
  for (const std::string& defect : defects)
    receipt.error->message += (receipt.error->message.empty() ? "" : "; ") + defect;
  return receipt;
}

Result<Exit> print(const Receipt& receipt, Output& output) {
  if (auto printed = output.json_line(codec::receipt_to_value(receipt)); !printed)
    return tl::unexpected(printed.error());
  return receipt.error ? Exit::refused : Exit::done;
}

}  // namespace

Result<Exit> apply_extraction(const Arguments& arguments, const std::string& board, Output& output) {
  const auto base = arguments.number("base");
  if (!base) return tl::unexpected(base.error());
  const auto answer = read_small_file(arguments.positional(1).value_or("-"));
  if (!answer) return tl::unexpected(answer.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const auto schema = ask_schema(*connection, board);
  if (!schema) return tl::unexpected(schema.error());
  if (schema->schema.empty())
    return fail(Fault::refused,
                "board " + board + " has no schema, so nothing was asked of a model (tafel schema set)");

  const auto extraction = context::read_extraction(*answer, schema->schema);
  if (!extraction) {
    tell(context::correction(extraction.error()));
    return print(refusal(board, extraction.error()), output);
  }
  Delta delta = context::delta_of(*extraction, {"turn", arguments.text("ref").value_or(""), {}, ""});
  delta.board = board;
  delta.base = *base;
  const auto receipt = connection->agent().submit(delta).wait(connection->patience(receipt_patience));
  if (!receipt) return tl::unexpected(receipt.error());
  return print(*receipt, output);
}

}  // namespace tafel::cli
