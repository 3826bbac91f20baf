#include "demo/reports.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "common/codec/fields.hpp"
#include "common/codec/json.hpp"

namespace tafel::demo {
namespace {

constexpr std::array<std::pair<std::string_view, Report::Kind>, 7> kinds{{{"delta", Report::Kind::delta},
                                                                          {"turn", Report::Kind::turn},
                                                                          {"board", Report::Kind::board},
                                                                          {"before", Report::Kind::before},
                                                                          {"after", Report::Kind::after},
                                                                          {"closed", Report::Kind::closed},
                                                                          {"failed", Report::Kind::failed}}};

constexpr std::array<std::pair<std::string_view, std::size_t Tally::*>, 7> counts{{{"deltas", &Tally::deltas},
                                                                                   {"behind", &Tally::behind},
                                                                                   {"held", &Tally::held},
                                                                                   {"kept_both", &Tally::kept_both},
                                                                                   {"blanks", &Tally::blanks},
                                                                                   {"echoes", &Tally::echoes},
                                                                                   {"refused", &Tally::refused}}};

// Where a sibling or a whole set stands against what was written.
std::string current_text(const OpResult& result) {
  if (!result.current) return "what stands there";
  std::string text = brief(result.current->value);
  if (result.current->confidence && result.current->actor) {
    text += fmt::format(" ({}, {})", name_of(*result.current->confidence), *result.current->actor);
  }
  return text;
}

std::string written_text(const Op& op) {
  if (op.verb != Verb::patch) return brief(op.value);
  return fmt::format("removal of {}", brief(List(op.remove)));
}

}  // namespace

std::string report_to_line(const Report& report) {
  Value line{Map{}};
  for (const auto& [name, kind] : kinds) {
    if (kind == report.kind) line.set("kind", name);
  }
  line.set("board", report.board).set("version", report.version);
  for (const auto& [name, member] : counts) {
    if (report.tally.*member > 0) line.set(name, std::uint64_t{report.tally.*member});
  }
  if (!report.lines.empty()) line.set("lines", List(report.lines.begin(), report.lines.end()));
  return codec::to_json(line) + "\n";
}

Result<Report> report_from_line(std::string_view line) {
  const auto value = codec::parse_json(line);
  if (!value) return fail(Fault::bad_bytes, value.error().message);
  codec::MemberReader reader(*value, "a report");
  Report report;
  const std::string kind_name = reader.text("kind");
  for (const auto& [name, kind] : kinds) {
    if (name == kind_name) report.kind = kind;
  }
  report.board = reader.text("board");
  report.version = reader.number("version");
  for (const auto& [name, member] : counts) {
    if (reader.has(name)) report.tally.*member = reader.number(name);
  }
  report.lines = reader.texts_or_none("lines");
  return reader.finish(std::move(report));
}

std::optional<std::string> example_of(const std::string& actor, const Delta& delta, const Receipt& receipt) {
  for (std::size_t i = 0; i < receipt.ops.size() && i < delta.ops.size(); ++i) {
    const Op& op = delta.ops[i];
    const OpResult& result = receipt.ops[i];
    if (op.value.get_if<Map>() != nullptr) continue;   // many leaves: no good example
    if (result.outcome == Outcome::held) {
      return fmt::format("held       {}: {} ({}, {}); {} stays", op.path, written_text(op),
                         name_of(op.confidence.value_or(delta.confidence.value_or(Confidence::stated))), actor, current_text(result));
    }
    if (result.outcome == Outcome::kept_both) {
      return fmt::format("kept both  {}: {} ({}, {}) beside {}", op.path, written_text(op),
                         name_of(op.confidence.value_or(delta.confidence.value_or(Confidence::stated))), actor, current_text(result));
    }
  }
  return std::nullopt;
}

}  // namespace tafel::demo
