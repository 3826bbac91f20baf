#include "cli/schema_answer.hpp"

#include "common/codec/schema_codec.hpp"

namespace tafel::cli {

Result<SchemaAnswer> ask_schema(Connection& connection, const std::string& board) {
  Value question{Map{}};
  question.set("what", "schema").set("board", board);
  auto whole = connection.ask(question);
  if (!whole) return tl::unexpected(whole.error());
  const auto schema = member_of(*whole, "schema");
  auto completeness = member_of(*whole, "completeness");
  if (!schema) return tl::unexpected(schema.error());
  if (!completeness) return tl::unexpected(completeness.error());
  SchemaAnswer answer{std::move(*whole), {}, std::move(*completeness)};
  if (schema->is_nil()) return answer;
  const auto document = codec::schema_from_value(*schema);
  if (!document) return fail(Fault::bad_bytes, "the server's answer: " + codec::in_one_message(document.error()));
  answer.schema.add(*document);
  return answer;
}

}  // namespace tafel::cli
