// Facts out of a dialogue, turn by turn: the place where a language model is plugged in. The SDK makes the question
// (tool, known facts), reads the answer, lets the model correct what is wrong with it, and writes the delta.
#pragma once

#include <optional>
#include <string>

#include "agents_sdk/cpp/agent.hpp"
#include "context/extraction.hpp"

namespace tafel::sdk {

struct DialogueTurn {
  std::string ref;        // "turn-5", for the delta's source
  std::string user;       // what the user said
  std::string assistant;  // what was answered before it, where that is needed to understand it
};

struct ExtractionQuestion {
  const DialogueTurn& turn;
  Value tool;              // context::extraction_tool of the board's schema
  std::string known;       // context::known_facts, to be shown and not to be repeated; may be empty
  std::string correction;  // what was wrong with the last answer; empty at first
};

// Called by one thread at a time. What it throws goes to the caller of `extract`.
class Extractor {
 public:
  virtual ~Extractor() = default;
  // A cheap look at the turn: false ends it without a question to the model ("thanks", "just looking").
  virtual bool may_change_facts(const DialogueTurn& turn) = 0;
  // Asks the model; what it answered, as it came.
  virtual Result<std::string> ask(const ExtractionQuestion& question) = 0;
};

// What became of a turn. No receipt: there was no factual change, and nothing was written.
struct TurnOutcome {
  std::optional<Receipt> receipt;
  std::vector<std::string> ignored;  // what was spoken of without consequence
  std::size_t answers = 0;           // of the model
};

// The delta carries the version of the mirror that the question was made from. An answer that can not be used, or that
// the board refuses, is sent back with what is wrong with it, up to `answers_max` answers in all; then the failure is
// Fault::refused with the last correction.
Result<TurnOutcome> extract(BoardHandle& board, const Schema& schema, Extractor& extractor, const DialogueTurn& turn,
                            std::size_t answers_max = 3);

// The schema of a board, as the server tells it.
Result<Schema> schema_of(Agent& agent, const std::string& board);

}  // namespace tafel::sdk
