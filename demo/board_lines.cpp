#include "demo/board_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "blackboard/read.hpp"

namespace tafel::demo {
namespace {

constexpr std::size_t lines_max = 6;
constexpr std::size_t value_columns = 48;
constexpr std::size_t context_columns = 220;

std::string confidence_text(const blackboard::FieldView& field) {
  switch (field.kind) {
    case Kind::register_: return fmt::format(" ({}, {})", name_of(field.confidence), field.actor);
    case Kind::set: return fmt::format(" (set of {})", field.elements.size());
    case Kind::counter:
    case Kind::max:
    case Kind::min:
    case Kind::log: return "";
  }
  return "";
}

std::string field_line(const blackboard::FieldView& field, std::size_t suggestions) {
  std::string line =
      fmt::format("{} = {}{}", field.path.text(), shortened(brief(field.value), value_columns), confidence_text(field));
  for (const Sibling& sibling : field.conflicts) {
    line += fmt::format(" | {} ({}, {})", shortened(brief(sibling.value), value_columns),
                        name_of(sibling.dot.confidence), sibling.dot.actor);
  }
  if (suggestions > 0) line += fmt::format(" [{} held]", suggestions);
  return line;
}

}  // namespace

std::vector<std::string> board_lines(const blackboard::Board& board) {
  std::map<Path, std::size_t> held;
  for (const auto& suggestion : blackboard::suggestions(board, std::nullopt, {})) ++held[suggestion.path];
  std::vector<std::string> lines;
  std::vector<std::string> others;
  for (const blackboard::FieldView& field : blackboard::fields(board, std::nullopt, {})) {
    if (field.kind != Kind::register_ && field.kind != Kind::set) continue;
    (field.path.first_segment() == "trip" ? lines : others).push_back(field_line(field, held[field.path]));
  }
  lines.insert(lines.end(), others.begin(), others.end());
  return lines;
}

std::vector<std::string> new_lines(const std::vector<std::string>& before, const std::vector<std::string>& lines) {
  std::vector<std::string> fresh;
  for (const std::string& line : lines) {
    if (std::find(before.begin(), before.end(), line) == before.end()) fresh.push_back(line);
  }
  if (fresh.size() <= lines_max) return fresh;
  const std::size_t more = fresh.size() - lines_max;
  fresh.resize(lines_max);
  fresh.push_back(fmt::format("… and {} more", more));
  return fresh;
}

std::vector<std::string> context_lines(const context::Context& context) {
  std::vector<std::string> lines;
  for (const context::Message& message : context.messages) {
    std::istringstream text(message.role + ": " + message.content);
    for (std::string line; std::getline(text, line);) lines.push_back(shortened(line, context_columns));
  }
  return lines;
}

std::string shortened(const std::string& text, std::size_t columns) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    width += bytes >= 3 ? 2 : 1;
    if (width > columns) return text.substr(0, at) + "…";
    at += bytes;
  }
  return text;
}

}  // namespace tafel::demo
