// The schema of a board as the server tells it.
#pragma once

#include <string>

#include "cli/connection.hpp"
#include "common/model/schema.hpp"

namespace tafel::cli {

struct SchemaAnswer {
  Value whole;  // version, schema, documents, completeness
  Schema schema;
  Value completeness;  // nil where nothing is required
};

Result<SchemaAnswer> ask_schema(Connection& connection, const std::string& board);

}  // namespace tafel::cli
