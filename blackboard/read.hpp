// Reading a board: values, fields with confidence and conflicts, suggestions. What has expired is absent; what the
// reader has no right to is left out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blackboard/board.hpp"
#include "common/model/rights.hpp"

namespace tafel::blackboard {

struct Reader {
  TimeMs now = 0;
  const Rights* rights = nullptr;  // null: everything may be read
};

// One field as a person or a model should see it.
struct FieldView {
  Path path;
  Kind kind = Kind::register_;
  Value value;                                // set: list in order of first addition; log: list in order of commit
  Version version = 0;                        // register: of the shown value; others: of the newest dot that survives
  Confidence confidence = Confidence::guess;  // register: of the shown value; others: the highest
  TimeMs time = 0;                            // of that version
  std::string actor;                          // of the shown value, or of the newest dot
  std::shared_ptr<const Source> source;
  std::vector<Sibling> conflicts;     // register: the other values, ascending by version
  std::vector<ElementCell> elements;  // set: in order
  std::vector<EntryCell> entries;     // log: in order
  std::optional<TimeMs> expires{};    // register: of the shown value
};

// The fields at and below `path` in path order; nullopt: all but the reserved ones, whose names begin with `$`.
std::vector<FieldView> fields(const Board& board, const std::optional<Path>& path, const Reader& reader);

struct SuggestionView {
  Path path;
  SuggestionCell suggestion;
};
std::vector<SuggestionView> suggestions(const Board& board, const std::optional<Path>& path, const Reader& reader);

// The value of a leaf, or the nested map of what lies below the path; nullopt when nothing is there.
std::optional<Value> value_at(const Board& board, const Path& path, const Reader& reader);
// The whole board as nested maps; {} when it is empty.
Value state(const Board& board, const Reader& reader);

// In the shape of the vectors: {"education.gpa": {"kind": "register", "value": 3.8, "confidence": "stated", "version":
// 2, "conflicts": […]}}; sets have a map of confidences by canonical JSON of the element; the other kinds only kind and
// value.
Value fields_map(const Board& board, const std::optional<Path>& path, const Reader& reader);
// {"a": [{"version","op","value","confidence"}]}; with `detail` also "id", "actor", "time", "source".
Value suggestions_map(const Board& board, const std::optional<Path>& path, const Reader& reader, bool detail);

}  // namespace tafel::blackboard
