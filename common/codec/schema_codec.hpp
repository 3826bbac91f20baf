// Schema documents ↔ Value:
//
//   {"strict": true, "title": "…", "description": "…",
//    "fields": {"profile.gpa": {"type": "number", "range": [0, 4], "required": true, "weight": 0.2, "label": "GPA
//    绩点"},
//               "notes.*": {"kind": "log", "keep": 100}}}
//
// or, where the order of the fields matters (of what is missing, and in contexts), with `fields` as a list of rules,
// each with its "path". docs/schema.md describes the members, docs/schema.schema.json is their JSON Schema.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "common/model/schema.hpp"
#include "common/model/value.hpp"

namespace tafel::codec {

// What is wrong with a document: each names the path and the member, what was found and what would be right. At most
// limits::schema_defects_max.
using SchemaDefects = std::vector<std::string>;

tl::expected<SchemaDocument, SchemaDefects> schema_from_value(const Value& value);

// What is allowed but hardly meant, or hard on a reader.
std::vector<std::string> schema_warnings(const SchemaDocument& document);

// One rule, without its path and without what it does not say.
Value rule_to_value(const FieldRule& rule);
// The rules of a board as one document, listed in their order.
Value schema_to_value(const Schema& schema);

// Defects as one message of bounded length.
std::string in_one_message(const SchemaDefects& defects);

}  // namespace tafel::codec
