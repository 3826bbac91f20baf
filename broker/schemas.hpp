// The schema of a board, read from the documents that speak of it: its own, and those of the boards above it for what
// lies below them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blackboard/store/store.hpp"
#include "common/model/schema.hpp"

namespace tafel::broker {

struct StoredSchema {
  std::string board;
  std::string path;  // schema_of_board or schema_of_below
  Version version = 0;
  Value document;
  std::shared_ptr<const SchemaDocument> rules;
};

struct BoardSchema {
  std::shared_ptr<const Schema> schema = std::make_shared<const Schema>();
  std::vector<StoredSchema> documents;  // the nearest first
};

using ReadCell = std::function<Result<std::optional<Cell>>(const std::string& board, const CellKey& key)>;

// Fault::bad_bytes where a stored document does not read.
Result<BoardSchema> read_schema(const std::string& board, const ReadCell& read);
Result<BoardSchema> read_schema(store::Snapshot& snapshot, const std::string& board);

// The documents added up, with another one (null: none) in the place `path` of `changed_board`.
std::shared_ptr<const Schema> schema_with(const std::string& board, const BoardSchema& present,
                                          const std::string& changed_board, std::string_view path,
                                          const SchemaDocument* document);

// Whether `board` is one of those that the schema_of_below of `above` speaks of.
bool lies_below(std::string_view board, std::string_view above);

}  // namespace tafel::broker
