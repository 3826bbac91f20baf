#include "demo/show.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "demo/board_lines.hpp"

namespace tafel::demo {
namespace {

constexpr std::int64_t terminal_interval_ms = 250;
constexpr std::int64_t plain_interval_ms = 2'000;
constexpr std::int64_t example_interval_ms = 300;
constexpr std::size_t examples_max = 20;
constexpr std::size_t line_columns = 150;

// A line that is drawn again and again must fit into one row.
std::size_t terminal_columns() {
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? size.ws_col - 1U : 79U;
}

}  // namespace

void Show::line(const std::string& text) {
  if (settings_.quiet) return;
  if (is_status_open_) std::fputs("\r\x1b[K", stdout);
  is_status_open_ = false;
  std::fputs((text + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void Show::take(const Report& report, const std::string& actor, std::int64_t now_ms) {
  switch (report.kind) {
    case Report::Kind::delta:
      count(report, now_ms);
      show_example(report, now_ms);
      break;
    case Report::Kind::turn:
      count(report, now_ms);
      ++turns_;
      break;
    case Report::Kind::closed:
      count(report, now_ms);
      ++closed_;
      break;
    case Report::Kind::board: show_lines("", report.lines); break;
    case Report::Kind::before:
      show_lines(
          fmt::format("The context of {} at version {}, before the next turn is broadcast:", actor, report.version),
          report.lines);
      break;
    case Report::Kind::after:
      show_lines(fmt::format("The context of {} at version {}, after it:", actor, report.version), report.lines);
      break;
    case Report::Kind::failed: break;
  }
}

void Show::count(const Report& report, std::int64_t now_ms) {
  if (tally_.deltas == 0) first_ms_ = now_ms;
  last_ms_ = now_ms;
  tally_ += report.tally;
}

void Show::show_example(const Report& report, std::int64_t now_ms) {
  if (report.lines.empty() || examples_ >= examples_max || now_ms < example_due_ms_) return;
  example_due_ms_ = now_ms + example_interval_ms;
  ++examples_;
  line(shortened(fmt::format("  {}  {}", report.board, report.lines.front()), line_columns));
}

void Show::show_lines(const std::string& title, const std::vector<std::string>& lines) {
  std::string text = title;
  for (const std::string& one : lines) {
    if (!text.empty()) text += "\n";
    text += (title.empty() && &one == &lines.front() ? "" : "    ") + one;
  }
  line(text);
}

void Show::tick(std::int64_t now_ms) {
  if (settings_.quiet || now_ms < numbers_due_ms_ || tally_.deltas == 0) return;
  numbers_due_ms_ = now_ms + (settings_.is_terminal ? terminal_interval_ms : plain_interval_ms);
  if (!settings_.is_terminal) return line(numbers());
  std::fputs(("\r\x1b[K" + shortened(numbers(), terminal_columns())).c_str(), stdout);
  std::fflush(stdout);
  is_status_open_ = true;
}

void Show::end() {
  if (tally_.deltas > 0) line(numbers());
}

std::string Show::numbers() const {
  return fmt::format("dialogues {}/{}  turns {}/{}  deltas {}  held {}  kept both {}  blanks ignored {}  echoes {}",
                     closed_, settings_.dialogues, turns_, settings_.turns, tally_.deltas, tally_.held,
                     tally_.kept_both, tally_.blanks, tally_.echoes);
}

}  // namespace tafel::demo
