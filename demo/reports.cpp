#include "demo/reports.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "common/codec/fields.hpp"
#include "common/codec/json.hpp"
#include "demo/seen.hpp"

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

std::string claim_text(const Value& value, Confidence confidence, const std::string& actor) {
  return fmt::format("{} ({}, {})", brief(value), name_of(confidence), actor);
}

std::string current_text(const OpResult& result) {
  if (!result.current) return "what stands there";
  if (!result.current->confidence || !result.current->actor) return brief(result.current->value);
  return claim_text(result.current->value, *result.current->confidence, *result.current->actor);
}

// The other values that the copy shows beside the one written.
std::string rivals_text(const Op& op, const blackboard::Board& mirror) {
  std::string text;
  if (const RegisterCell* cell = register_at(mirror, op.path)) {
    for (const Sibling& sibling : cell->siblings) {
      if (sibling.value == op.value) continue;
      text += (text.empty() ? "" : ", ") + claim_text(sibling.value, sibling.dot.confidence, sibling.dot.actor);
    }
  }
  return text.empty() ? "a concurrent value" : text;
}

std::string written_text(const Op& op, const Delta& delta, const std::string& actor) {
  const Confidence confidence = op.confidence.value_or(delta.confidence.value_or(Confidence::stated));
  if (op.verb != Verb::patch) return claim_text(op.value, confidence, actor);
  return fmt::format("removal of {} ({}, {})", brief(List(op.remove)), name_of(confidence), actor);
}

// The index of the first op on a single leaf of the trip with this outcome.
std::optional<std::size_t> find_op(const Delta& delta, const Receipt& receipt, Outcome outcome) {
  for (std::size_t i = 0; i < receipt.ops.size() && i < delta.ops.size(); ++i) {
    const Op& op = delta.ops[i];
    const bool is_leaf = op.path.starts_with("trip.") && op.value.get_if<Map>() == nullptr;
    if (is_leaf && receipt.ops[i].outcome == outcome) return i;
  }
  return std::nullopt;
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

std::optional<std::string> example_of(const std::string& actor, const Delta& delta, const Receipt& receipt,
                                      const blackboard::Board& mirror) {
  if (const auto kept = find_op(delta, receipt, Outcome::kept_both)) {
    const Op& op = delta.ops[*kept];
    return fmt::format("kept both  {}: {} beside {}", op.path, written_text(op, delta, actor), rivals_text(op, mirror));
  }
  if (const auto held = find_op(delta, receipt, Outcome::held)) {
    const Op& op = delta.ops[*held];
    return fmt::format("held       {}: {}; {} stays", op.path, written_text(op, delta, actor),
                       current_text(receipt.ops[*held]));
  }
  return std::nullopt;
}

}  // namespace tafel::demo
