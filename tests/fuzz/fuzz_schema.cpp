// JSON that claims to be a schema, or (from the second line on) a model's answer: a document or defects that a person
// can read; a document is read back as itself; an answer becomes a delta that the server could read.
#include "common/codec/delta_codec.hpp"
#include "common/codec/json.hpp"
#include "common/codec/schema_codec.hpp"
#include "context/extraction.hpp"
#include "tests/fuzz/invariant.hpp"

namespace {

using namespace tafel;

void check_document(const SchemaDocument& document) {
  for (const std::string& warning : codec::schema_warnings(document))
    TAFEL_CHECK(is_utf8(warning), "a warning is UTF-8");
  Schema schema;
  schema.add(document);
  const Value written = codec::schema_to_value(schema);
  const auto again = codec::schema_from_value(written);
  TAFEL_CHECK(again.has_value(), "a schema is read back");
  Schema second;
  second.add(*again);
  TAFEL_CHECK(fuzz::identical(codec::schema_to_value(second), written), "a schema has one form");
}

void check_answer(std::string_view text, const Schema& schema) {
  TAFEL_CHECK(codec::parse_json(codec::to_json(context::extraction_tool(schema))).has_value(), "a tool is JSON");
  const auto extraction = context::read_extraction(text, schema);
  if (!extraction) return fuzz::check_message(extraction.error().front());
  const Delta delta = context::delta_of(*extraction, {"turn", "t", {}, ""});
  const auto again = codec::delta_from_value(codec::delta_to_value(delta));
  TAFEL_CHECK(!again || again->ops.size() == delta.ops.size(), "an extraction is a delta");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const std::size_t line = text.find('\n');
  const auto value = codec::parse_json(text.substr(0, line));
  if (!value) return 0;
  const auto document = codec::schema_from_value(*value);
  if (!document) {
    fuzz::check_message(codec::in_one_message(document.error()));
    return 0;
  }
  check_document(*document);
  Schema schema;
  schema.add(*document);
  if (line != std::string_view::npos) check_answer(text.substr(line + 1), schema);
  return 0;
}
