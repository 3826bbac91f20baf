#include "demo/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/codec/json.hpp"

namespace tafel::demo {
namespace {

constexpr std::array<std::pair<std::string_view, std::size_t Losses::*>, 5> loss_rows{
    {{"fields flushed by blanks", &Losses::flushed},
     {"list members lost", &Losses::members},
     {"verified facts overwritten", &Losses::facts},
     {"lost updates", &Losses::updates},
     {"  of them, increments", &Losses::increments}}};

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// 12345 → "12,345"
std::string grouped(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string title_of(const std::string& name) {
  if (name == "tafel") return "Tafel";
  if (name == "whole_state") return "whole state";
  if (name == "shallow_merge") return "shallow merge";
  return name == "final_fields" ? "final fields" : name;
}

std::size_t per_turn(const Summary& summary, std::size_t bytes) {
  return summary.turns == 0 ? 0 : bytes / summary.turns;
}

std::string row(std::string_view label, const std::vector<std::string>& cells) {
  std::string line = fmt::format("  {:<28}", label);
  for (const std::string& cell : cells) line += fmt::format("{:>15}", cell);
  return line + "\n";
}

std::string counts_text(const Summary& summary) {
  const Tally& tally = summary.tally;
  const double rate = summary.seconds > 0 ? static_cast<double>(tally.deltas) / summary.seconds : 0;
  std::string text;
  const auto line = [&text](std::string_view label, const std::string& value) {
    text += fmt::format("  {:<34}{:>10}\n", label, value);
  };
  line("processes (agents and the server)", grouped(summary.processes()));
  line("dialogues, a board each", grouped(summary.dialogues));
  line("turns", grouped(summary.turns));
  line("deltas", grouped(tally.deltas));
  line("deltas per second", grouped(static_cast<std::size_t>(rate)));
  line("on a base below the head", fmt::format("{:.1f} %", percent(tally.behind, tally.deltas)));
  line("held back as suggestions", grouped(tally.held));
  line("kept both", grouped(tally.kept_both));
  line("blanks ignored", grouped(tally.blanks));
  line("echoes ignored", grouped(tally.echoes));
  line("conflicts open at the end", grouped(summary.conflicts_open));
  return text;
}

std::string table_text(const Summary& summary) {
  std::vector<std::string> cells;
  for (const Column& column : summary.columns) cells.push_back(title_of(column.name));
  std::string text = row("", cells);
  for (const auto& [label, member] : loss_rows) {
    cells.clear();
    for (const Column& column : summary.columns) cells.push_back(grouped(column.losses.*member));
    text += row(label, cells);
  }
  cells.clear();
  for (const Column& column : summary.columns) cells.push_back(grouped(per_turn(summary, column.bytes)));
  return text + row("bytes written per turn", cells);
}

Value losses_to_value(const Losses& losses) {
  return Map{{"facts", std::uint64_t{losses.facts}},
             {"flushed", std::uint64_t{losses.flushed}},
             {"increments", std::uint64_t{losses.increments}},
             {"members", std::uint64_t{losses.members}},
             {"updates", std::uint64_t{losses.updates}}};
}

}  // namespace

bool Summary::passed() const {
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; });
}

std::string summary_text(const Summary& summary) {
  std::string text = "\nSummary\n" + counts_text(summary);
  text +=
      "\nThe same words in the same order, merged in four ways: what was lost\n" + table_text(summary) + "\nChecks\n";
  for (const Check& check : summary.checks) {
    text += fmt::format("  {:<6}  {}{}\n", check.passed ? "ok" : "FAILED", check.name,
                        check.detail.empty() ? "" : ": " + check.detail);
  }
  return text + (summary.passed() ? "\nAll checks passed.\n" : "\nSome checks FAILED.\n");
}

std::string summary_json(const Summary& summary) {
  const Tally& tally = summary.tally;
  Value columns{Map{}};
  for (const Column& column : summary.columns) {
    Value value = losses_to_value(column.losses);
    value.set("bytes", std::uint64_t{column.bytes})
        .set("bytes_per_turn", std::uint64_t{per_turn(summary, column.bytes)});
    columns.set(column.name, std::move(value));
  }
  List checks;
  for (const Check& check : summary.checks) {
    checks.emplace_back(Map{{"detail", check.detail}, {"name", check.name}, {"passed", check.passed}});
  }
  const Value value{Map{{"passed", summary.passed()},
                        {"processes", std::uint64_t{summary.processes()}},
                        {"dialogues", std::uint64_t{summary.dialogues}},
                        {"turns", std::uint64_t{summary.turns}},
                        {"seconds", summary.seconds},
                        {"deltas", std::uint64_t{tally.deltas}},
                        {"deltas_below_head", std::uint64_t{tally.behind}},
                        {"held", std::uint64_t{tally.held}},
                        {"kept_both", std::uint64_t{tally.kept_both}},
                        {"ignored_blank", std::uint64_t{tally.blanks}},
                        {"echoes", std::uint64_t{tally.echoes}},
                        {"conflicts_open", std::uint64_t{summary.conflicts_open}},
                        {"mirrors", std::uint64_t{summary.mirrors}},
                        {"columns", std::move(columns)},
                        {"checks", std::move(checks)}}};
  return codec::to_json(value, 2) + "\n";
}

}  // namespace tafel::demo
