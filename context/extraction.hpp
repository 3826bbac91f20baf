// The contract with a language model that reads facts out of a dialogue: what it is asked for (a tool made from the
// schema, and what is known already), and what is made of its answer (a delta). Pure: who calls the model is elsewhere.
//
// The model names each field by its dot path and says what it means to do: OVERWRITE (the field now is this), APPEND
// (this comes to it), IGNORE (it was spoken of, and nothing follows from it). Removing is a list of its own.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "blackboard/board.hpp"
#include "common/model/delta.hpp"
#include "common/model/rights.hpp"
#include "common/model/schema.hpp"

namespace tafel::context {

// {"name", "description", "strict": true, "parameters": JSON Schema}: as function calling takes it. Every object is
// closed and every member required, those that may be absent take null. Counters are left out, for a dialogue does not
// count.
Value extraction_tool(const Schema& schema);

// What is sure already, for the model to read and not to repeat: the declared fields that stand at or above `from`, one
// JSON line each. Empty where there is none.
std::string known_facts(const blackboard::Board& board, const Schema& schema, TimeMs now, const Rights& rights,
                        Confidence from = Confidence::confirmed);

// What a model's answer says.
struct Extraction {
  std::vector<Op> ops;               // in the order of the paths, removals first
  std::vector<std::string> ignored;  // notes for the delta's source: "IGNORE profile.gpa: 3.9"

  bool changes_nothing() const { return ops.empty(); }
};

// All that is wrong with an answer, each a sentence that the model can correct it by.
using ExtractionDefects = std::vector<std::string>;

// Reads the arguments of the tool call: the JSON alone, in a code fence, between words, or wrapped as providers do
// ({"arguments": "…"}, {"function": {…}}, {"input": {…}}).
tl::expected<Extraction, ExtractionDefects> read_extraction(std::string_view answer, const Schema& schema);

// The delta of an extraction: its ops, and `source` with the notes among its evidence (as many as fit).
Delta delta_of(const Extraction& extraction, Source source);

// What to send back to the model, so that it answers again.
std::string correction(const ExtractionDefects& defects);

}  // namespace tafel::context
