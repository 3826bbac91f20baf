// `apply`: deltas in, one JSON text a line; receipts out, one a line, in the same order.
#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <utility>

#include "cli/apply_extraction.hpp"
#include "cli/connection.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/json.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* help_text =
    R"(Reads one delta a line, as JSON, from FILE or standard input: with ops, in the short form, or as a
JSON Patch (also a bare list). Prints one receipt a line, as JSON, in the order of the deltas.
Blank lines are skipped. A line that is no delta gets a receipt with its error, and the run goes on.
Exit code 1 when a receipt has an error.

A delta without an id is given one. The board comes from the command line; a "board" in a delta must
be the same. A delta without a base is judged against what stands before it, so with one delta in
flight its writer has seen everything before it.

With --extraction FILE is what a language model answered to the tool that tafel schema tool prints: the
JSON, alone, in a code fence, between words or wrapped as "arguments". What is wrong with it goes to
standard error, fit to be sent back to the model.)";

constexpr milliseconds receipt_patience = std::chrono::seconds(30);
constexpr milliseconds idle_look{5};  // between two looks at receipts while the input gives nothing

ErrorInfo error_of(ErrorCode code, std::string message) {
  ErrorInfo error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

// The id that a line which is no delta was given, as far as the line can be read.
std::string id_in(std::string_view line) {
  const auto parsed = codec::parse_json(line);
  const Value* id = (parsed ? *parsed : parsed.error().partial).find("id");
  const auto* text = id == nullptr ? nullptr : id->get_if<std::string>();
  return text == nullptr ? "" : *text;
}

// Sends the deltas of one run and prints their receipts in order.
class Applier {
 public:
  Applier(Connection& connection, std::string board, std::size_t in_flight_max, Output& output)
      : connection_(connection), board_(std::move(board)), in_flight_max_(in_flight_max), output_(output) {}

  // One line of the input; returns when there is room for the next.
  Result<void> take(const std::string& line);
  Result<void> take_too_long();
  Result<void> print_ready();  // does not wait
  Result<void> print_all();    // waits for every receipt
  bool has_waiting() const { return !waiting_.empty(); }
  bool has_errors() const { return has_errors_; }
  void count_line() { ++line_; }

 private:
  struct Waiting {
    std::size_t line;
    std::optional<sdk::Ticket> ticket;  // nullopt: refused here, `receipt` is the answer
    Receipt receipt;
    steady_clock::time_point deadline;
  };

  Result<void> add(Waiting waiting);
  Waiting refuse(std::string id, ErrorInfo error) const;
  Result<void> print_first();  // waits for it
  Result<Receipt> receipt_of(const Waiting& waiting);
  Result<Receipt> complete(Receipt receipt);
  Result<Version> known_version();

  Connection& connection_;
  const std::string board_;
  const std::size_t in_flight_max_;
  Output& output_;
  std::deque<Waiting> waiting_;     // in the order of the lines
  std::size_t line_ = 0;            // of the input, from 1
  std::optional<Version> version_;  // of the last receipt
  bool has_errors_ = false;
};

Result<void> Applier::take(const std::string& line) {
  auto delta = codec::delta_from_json(line);
  if (!delta) {
    ErrorInfo error = delta.error();
    error.message = fmt::format("line {}, which must be one whole delta: {}", line_, error.message);
    return add(refuse(id_in(line), std::move(error)));
  }
  if (!delta->board.empty() && delta->board != board_) {
    return add(
        refuse(delta->id, error_of(ErrorCode::bad_value,
                                   fmt::format("the delta is for board {}, the command line says {}: leave \"board\" "
                                               "out of it, or apply it to its own board",
                                               delta->board, board_))));
  }
  delta->board = board_;
  return add({.line = line_,
              .ticket = connection_.agent().submit(*delta),
              .receipt = {},
              .deadline = steady_clock::now() + connection_.patience(receipt_patience)});
}

Result<void> Applier::take_too_long() {
  return add(refuse("", error_of(ErrorCode::too_large, fmt::format("line {} has more than {} bytes: split the delta",
                                                                   line_, limits::input_line_bytes_max))));
}

Result<void> Applier::add(Waiting waiting) {
  waiting_.push_back(std::move(waiting));
  while (waiting_.size() >= in_flight_max_) {
    if (auto printed = print_first(); !printed) return printed;
  }
  return print_ready();
}

Applier::Waiting Applier::refuse(std::string id, ErrorInfo error) const {
  Receipt receipt;
  receipt.id = std::move(id);
  receipt.board = board_;
  receipt.error = std::move(error);
  return {.line = line_, .ticket = std::nullopt, .receipt = std::move(receipt), .deadline = {}};
}

Result<void> Applier::print_ready() {
  while (!waiting_.empty()) {
    const Waiting& first = waiting_.front();
    if (first.ticket && !first.ticket->done() && steady_clock::now() < first.deadline) return {};
    if (auto printed = print_first(); !printed) return printed;
  }
  return {};
}

Result<void> Applier::print_all() {
  while (!waiting_.empty()) {
    if (auto printed = print_first(); !printed) return printed;
  }
  return {};
}

Result<void> Applier::print_first() {
  const auto receipt = receipt_of(waiting_.front());
  if (!receipt) return tl::unexpected(receipt.error());
  version_ = receipt->version;
  has_errors_ = has_errors_ || receipt->error.has_value();
  waiting_.pop_front();
  return output_.json_line(codec::receipt_to_value(*receipt));
}

Result<Receipt> Applier::receipt_of(const Waiting& waiting) {
  if (!waiting.ticket) return complete(waiting.receipt);
  const auto left = std::chrono::ceil<milliseconds>(waiting.deadline - steady_clock::now());
  auto receipt = waiting.ticket->wait(std::max(left, milliseconds(0)));
  // The agent refuses what fits into no message; it knows no version.
  if (receipt && receipt->error && receipt->version == 0) return complete(std::move(*receipt));
  if (receipt || receipt.error().fault != Fault::unreachable) return receipt;
  return fail(
      Fault::unreachable,
      fmt::format(
          "line {}: no receipt for delta {} in time; what became of it is not known: send it again with this id, "
          "it will not count twice",
          waiting.line, waiting.ticket->delta_id()));
}

// A receipt that the server did not give.
Result<Receipt> Applier::complete(Receipt receipt) {
  const auto version = known_version();
  if (!version) return tl::unexpected(version.error());
  receipt.epoch = connection_.agent().epoch();
  receipt.version = *version;
  return receipt;
}

// That of the receipt before; the server's head when there is none yet.
Result<Version> Applier::known_version() {
  if (version_) return *version_;
  Value question{Map{}};
  question.set("what", "log").set("board", board_).set("to", 0);
  const auto answer = connection_.ask(question);
  if (!answer) return tl::unexpected(answer.error());
  const auto version = member_of(*answer, "version");
  if (!version) return tl::unexpected(version.error());
  version_ = static_cast<Version>(version->as_int64().value_or(0));
  return *version_;
}

Result<void> apply_lines(LineReader& input, Applier& applier) {
  std::string line;
  for (;;) {
    const auto item = input.next(line, applier.has_waiting() ? std::optional(idle_look) : std::nullopt);
    if (!item) return tl::unexpected(item.error());
    Result<void> taken;
    switch (*item) {
      case LineReader::Item::line:
        applier.count_line();
        if (!is_utf8(line) || !is_white_space(line)) taken = applier.take(line);
        break;
      case LineReader::Item::too_long:
        applier.count_line();
        taken = applier.take_too_long();
        break;
      case LineReader::Item::waiting: taken = applier.print_ready(); break;
      case LineReader::Item::end: return applier.print_all();
    }
    if (!taken) return taken;
  }
}

Result<std::size_t> in_flight_max(const Arguments& arguments) {
  const auto count = arguments.number("pipeline");
  if (!count) return tl::unexpected(count.error());
  const std::uint64_t wanted = count->value_or(1);
  if (wanted >= 1 && wanted <= limits::pipeline_deltas_max) return static_cast<std::size_t>(wanted);
  return fail(Fault::bad_config, fmt::format("--pipeline must be from 1 to {}", limits::pipeline_deltas_max));
}

Result<Exit> run_apply(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto in_flight = in_flight_max(arguments);
  if (!board) return tl::unexpected(board.error());
  if (arguments.has("extraction")) return apply_extraction(arguments, *board, output);
  if (!in_flight) return tl::unexpected(in_flight.error());
  auto input = LineReader::open(arguments.positional(1).value_or("-"));
  if (!input) return tl::unexpected(input.error());
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());

  Applier applier(*connection, *board, *in_flight, output);
  const auto done = apply_lines(*input, applier);
  if (!done && done.error().fault == Fault::closed) return Exit::refused;  // quiet, but not all was done
  if (!done) return tl::unexpected(done.error());
  return applier.has_errors() ? Exit::refused : Exit::done;
}

}  // namespace

const Command& apply_command() {
  static const Command command{
      .name = "apply",
      .summary = "send deltas, print their receipts",
      .help = help_text,
      .positionals = {{"BOARD"}, {"FILE|-", false}},
      .options = {{"pipeline", "N", "deltas in flight (default 1: each is sent when the receipt before is there)"},
                  {"extraction", "", "FILE is one answer of a model to the tool of tafel schema tool"},
                  {"base", "V", "with --extraction: the version that the model was shown"},
                  {"ref", "TEXT", "with --extraction: the turn it speaks of, for the delta's source"}},
      .run = run_apply};
  return command;
}

}  // namespace tafel::cli
