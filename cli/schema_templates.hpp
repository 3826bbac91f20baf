// Schemas to begin with.
#pragma once

#include <string_view>
#include <vector>

namespace tafel::cli {

struct SchemaTemplate {
  std::string_view name;
  std::string_view summary;
  std::string_view json;
};

const std::vector<SchemaTemplate>& schema_templates();

}  // namespace tafel::cli
