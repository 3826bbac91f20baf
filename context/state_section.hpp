// The part of a context that shows the board: a frame with the version, and in it one line of JSON for each field.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "blackboard/read.hpp"

namespace tafel::context {

// What a reader may see of one path: its value, the suggestions held beside it, or both.
struct ShownField {
  std::optional<blackboard::FieldView> field;
  std::vector<SuggestionCell> held;
};
using ShownFields = std::map<Path, ShownField>;

ShownFields read_fields(const blackboard::Board& board, const blackboard::Reader& reader);

std::string section_begin(const std::string& board_id, Version version);
std::string section_end();

// One line, ended by a newline: path, value as JSON, confidence, origin, and the conflicts and held suggestions where
// there are any.
std::string section_line(const Path& path, const ShownField& shown);
// The line of a path where nothing is.
std::string absent_line(const Path& path);

}  // namespace tafel::context
