#include "cli/receipts.hpp"

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/words.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::cli {

Result<std::optional<Confidence>> confidence_of(const Arguments& arguments) {
  const auto name = arguments.text("confidence");
  if (!name) return std::nullopt;
  if (const auto confidence = confidence_from(*name)) return confidence;
  return fail(Fault::bad_config, "--confidence is one of guess, inferred, stated, confirmed, verified");
}

Result<Receipt> receipt_for(Connection& connection, const Arguments& arguments, const std::string& board,
                            sdk::DeltaBuilder& delta) {
  const auto confidence = confidence_of(arguments);
  if (!confidence) return tl::unexpected(confidence.error());
  if (*confidence) delta.confidence(**confidence);
  delta.check(arguments.has("check"));
  return connection.agent().apply(board, delta);
}

Result<Exit> send_delta(Connection& connection, const Arguments& arguments, const std::string& board,
                        sdk::DeltaBuilder& delta, Output& output) {
  const auto receipt = receipt_for(connection, arguments, board, delta);
  if (!receipt) return tl::unexpected(receipt.error());
  return print_receipt(*receipt, delta.delta(), arguments.has("json"), output);
}

Result<Exit> print_receipt(const Receipt& receipt, const Delta& delta, bool as_json, Output& output) {
  if (as_json) {
    if (auto printed = output.json_line(codec::receipt_to_value(receipt)); !printed)
      return tl::unexpected(printed.error());
    return receipt.error ? Exit::refused : Exit::done;
  }
  if (receipt.error)
    return fail(Fault::refused, fmt::format("{}: {}", name_of(receipt.error->code), receipt.error->message));
  std::vector<std::string> names;
  for (const Op& op : delta.ops) names.push_back(op.path);
  // A merge came out as ops that were made of it by the server.
  std::string text = receipt.ops.size() == names.size() ? outcome_lines(receipt, names) : outcome_counts(receipt);
  text += fmt::format("{} {}", delta.check ? "this would be version" : "the board is at version", receipt.version);
  if (auto printed = output.line(text); !printed) return tl::unexpected(printed.error());
  return Exit::done;
}

}  // namespace tafel::cli
