// `watch`: the changes of a board as they happen, one a line.
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <limits>

#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "common/codec/event_view.hpp"

namespace tafel::cli {
namespace {

constexpr const char* help_text =
    R"(Prints one change a line, as JSON, until it is stopped (Ctrl-C) or the board is deleted, both exit code 0:
version, time, actor, path, kind, and the value after the change or that it is gone. With PATH only
what lies at or below it. A version may hold several changes.)";

// Ctrl-C and a polite kill, as something to poll. Made before the first thread, which then inherits that they are
// blocked.
class StopSignals {
 public:
  StopSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    descriptor_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
  }
  ~StopSignals() { ::close(descriptor_); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

// Prints the changes on the agent's thread, so that a reader of ours who is slow slows down the feed and nothing piles
// up here. The main thread only waits for the end: `done` becomes readable once, after the last line, and no member is
// touched after that.
class ChangePrinter {
 public:
  ChangePrinter(Output& output, std::uint64_t count_max)
      : output_(output), left_(count_max), done_(::eventfd(0, EFD_CLOEXEC)) {}
  ~ChangePrinter() { ::close(done_); }
  ChangePrinter(const ChangePrinter&) = delete;
  ChangePrinter& operator=(const ChangePrinter&) = delete;

  void take(const sdk::BoardEvent& event) {
    if (is_done_) return;
    switch (event.type) {
      case sdk::BoardEvent::Type::change: return print(*event.event);
      case sdk::BoardEvent::Type::live: return;
      case sdk::BoardEvent::Type::lost: return tell("connection lost, trying again");
      case sdk::BoardEvent::Type::resync:
        return finish(fail(Fault::refused, fmt::format("the history up to version {} is gone: changes would be missing",
                                                       event.version)));
      case sdk::BoardEvent::Type::deleted:
        tell(fmt::format("the board was deleted at version {}", event.version));
        return finish({});
    }
  }

  int done() const { return done_; }
  const Result<void>& result() const { return result_; }  // when `done` is readable

 private:
  void print(const codec::FeedEvent& event) {
    for (const Change& change : event.changes) {
      if (auto printed = output_.json_line(codec::change_to_map(event, change)); !printed) return finish(printed);
      if (--left_ == 0) return finish({});
    }
  }

  void finish(Result<void> result) {
    result_ = std::move(result);
    is_done_ = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(done_, &one, sizeof(one));  // an eventfd at 0 takes it
  }

  Output& output_;
  std::uint64_t left_;
  bool is_done_ = false;
  Result<void> result_;
  int done_;
};

Result<Version> newest_version(Connection& connection, const std::string& board) {
  Value question{Map{}};
  question.set("what", "log").set("board", board).set("to", 0);
  const auto answer = connection.ask(question);
  if (!answer) return tl::unexpected(answer.error());
  const auto version = member_of(*answer, "version");
  if (!version) return tl::unexpected(version.error());
  return static_cast<Version>(version->as_int64().value_or(0));
}

// False when `done` became readable; true when we are to stop at once: a signal asked for it, or nobody reads our
// output any more (a pipe then shows an error to whoever polls it, without any event asked for).
bool wait_for_end(int done, int signals, int output) {
  std::array<pollfd, 3> waiting{{{.fd = done, .events = POLLIN, .revents = 0},
                                 {.fd = signals, .events = POLLIN, .revents = 0},
                                 {.fd = output, .events = 0, .revents = 0}}};
  while (::poll(waiting.data(), waiting.size(), -1) < 0) {
  }
  return waiting[0].revents == 0;
}

Result<Exit> follow(Connection& connection, const std::string& board, Version from,
                    const std::optional<std::string>& path, ChangePrinter& printer, const StopSignals& signals,
                    const Output& output) {
  const std::vector<std::string> paths = path ? std::vector{*path} : std::vector<std::string>{};
  tell(fmt::format("watching {} from version {}", board, from));  // before the agent's thread prints the first change
  const auto number =
      connection.agent().follow(board, from, paths, [&printer](const sdk::BoardEvent& event) { printer.take(event); });
  if (!number) return tl::unexpected(number.error());
  // The agent's thread may stand in a write that nobody reads: do not wait for it.
  if (wait_for_end(printer.done(), signals.descriptor(), output.descriptor())) std::_Exit(static_cast<int>(Exit::done));
  connection.agent().unfollow(*number);
  if (!printer.result()) return tl::unexpected(printer.result().error());
  return Exit::done;
}

Result<Exit> run_watch(const Arguments& arguments, Output& output) {
  const auto board = arguments.board(0);
  const auto path = arguments.path(1);
  const auto from = arguments.number("from");
  const auto count = arguments.number("count");
  if (!board) return tl::unexpected(board.error());
  if (!path) return tl::unexpected(path.error());
  if (!from) return tl::unexpected(from.error());
  if (!count) return tl::unexpected(count.error());
  if (*count == 0) return fail(Fault::bad_config, "--count must be above 0");

  const StopSignals signals;
  ChangePrinter printer(output,
                        count->value_or(std::numeric_limits<std::uint64_t>::max()));  // outlives the agent's thread
  auto connection = Connection::open(arguments);
  if (!connection) return tl::unexpected(connection.error());
  const Result<Version> start = *from ? **from : newest_version(*connection, *board);
  if (!start) return tl::unexpected(start.error());
  return follow(*connection, *board, *start, *path, printer, signals, output);
}

}  // namespace

const Command& watch_command() {
  static const Command command{.name = "watch",
                               .summary = "print the changes of a board as they happen",
                               .help = help_text,
                               .positionals = {{"BOARD"}, {"PATH", false}},
                               .options = {{"from", "V", "every change after version V (default: from now on)"},
                                           {"count", "N", "stop after N changes"}},
                               .run = run_watch};
  return command;
}

}  // namespace tafel::cli
