// What the commands that send one delta have in common.
#pragma once

#include <optional>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "common/model/receipt.hpp"

namespace tafel::cli {

inline constexpr OptionSpec confidence_option{"confidence", "C",
                                              "how sure: guess, inferred, stated, confirmed, verified"};
inline constexpr OptionSpec check_option{"check", "", "only tell what would happen"};
inline constexpr OptionSpec receipt_option{"json", "", "the receipt as JSON"};

// --confidence; Fault::bad_config when it is none.
Result<std::optional<Confidence>> confidence_of(const Arguments& arguments);

// Prints what a receipt says and gives the exit code: a refusal is Fault::refused with the server's words.
Result<Exit> print_receipt(const Receipt& receipt, const Delta& delta, bool as_json, Output& output);

// Sends the delta as --confidence and --check say; the receipt is printed by print_receipt.
Result<Receipt> receipt_for(Connection& connection, const Arguments& arguments, const std::string& board,
                            sdk::DeltaBuilder& delta);
Result<Exit> send_delta(Connection& connection, const Arguments& arguments, const std::string& board,
                        sdk::DeltaBuilder& delta, Output& output);

}  // namespace tafel::cli
