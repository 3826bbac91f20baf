#include "agents_sdk/cpp/extractor.hpp"

#include "common/base/clock.hpp"
#include "common/codec/schema_codec.hpp"

namespace tafel::sdk {
namespace {

DeltaBuilder builder_of(const Delta& delta, Version base) {
  DeltaBuilder builder(base);
  builder.take_ops(delta.ops).source(delta.source);
  return builder;
}

}  // namespace

Result<TurnOutcome> extract(BoardHandle& board, const Schema& schema, Extractor& extractor, const DialogueTurn& turn,
                            std::size_t answers_max) {
  TurnOutcome outcome;
  if (!extractor.may_change_facts(turn)) return outcome;
  std::string correction;
  while (outcome.answers < answers_max) {
    const auto seen = board.snapshot();
    const ExtractionQuestion question{
        turn, context::extraction_tool(schema),
        context::known_facts(*seen, schema, SystemClock().wall_ms(), Rights::everything()),  // it has what may be read
        correction};
    const auto answer = extractor.ask(question);
    if (!answer) return tl::unexpected(answer.error());
    ++outcome.answers;
    const auto extraction = context::read_extraction(*answer, schema);
    if (!extraction) {
      correction = context::correction(extraction.error());
      continue;
    }
    outcome.ignored = extraction->ignored;
    if (extraction->changes_nothing()) return outcome;
    auto receipt = board.apply(builder_of(context::delta_of(*extraction, {"turn", turn.ref, {}, ""}), seen->version()));
    if (!receipt) return tl::unexpected(receipt.error());
    if (!receipt->error) {
      outcome.receipt = std::move(*receipt);
      return outcome;
    }
    correction = context::correction({receipt->error->message});
  }
  return fail(Fault::refused, correction);
}

Result<Schema> schema_of(Agent& agent, const std::string& board) {
  Value question{Map{}};
  question.set("what", "schema").set("board", board);
  const auto answer = agent.query(question);
  if (!answer) return tl::unexpected(answer.error());
  Schema schema;
  const Value* told = answer->find("schema");
  if (told == nullptr || told->is_nil()) return schema;
  const auto document = codec::schema_from_value(*told);
  if (!document) return fail(Fault::bad_bytes, "the server's answer: " + codec::in_one_message(document.error()));
  schema.add(*document);
  return schema;
}

}  // namespace tafel::sdk
