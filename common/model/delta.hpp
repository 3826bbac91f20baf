// A delta: one atomic message of an agent, a list of ops against one board. Paths and values are still as they came:
// the judge checks their form, so that its error can name the op.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/hash.hpp"
#include "common/model/value.hpp"

namespace tafel {

struct SchemaDocument;  // model/schema.hpp

using Version = std::uint64_t;  // of a board; 0 = empty

// How sure the writer is. The numbers are stored and sent: do not renumber.
enum class Confidence : std::uint8_t { guess = 0, inferred = 1, stated = 2, confirmed = 3, verified = 4 };
inline constexpr Confidence confidence_highest = Confidence::verified;
std::string_view name_of(Confidence confidence);
std::optional<Confidence> confidence_from(std::string_view name);

// What a field holds. Stored and sent: do not renumber.
enum class Kind : std::uint8_t { register_ = 0, set = 1, counter = 2, max = 3, min = 4, log = 5 };
std::string_view name_of(Kind kind);
std::optional<Kind> kind_from(std::string_view name);

// The verbs of an op. `copy`, `move` and `add_item` come from JSON Patch only and are resolved by the judge at their
// turn. Stored: do not renumber.
enum class Verb : std::uint8_t {
  set = 0,
  patch = 1,
  incr = 2,
  max = 3,
  min = 4,
  append = 5,
  unset = 6,
  accept = 7,
  dismiss = 8,
  copy = 9,
  move = 10,
  add_item = 11,
  revert = 12,
  schema = 13,
  fork = 14,
  merge = 15,
  erase = 16,
  tag = 17,
  retain = 18,
  delete_board = 19,
};
inline constexpr Verb verb_highest = Verb::delete_board;
// What is done to a whole board, or to its history: the only op of its delta.
bool is_of_board(Verb verb);
std::string_view name_of(Verb verb);
std::optional<Verb> verb_from(std::string_view name);

// Where a fact came from. All members are free text given by the writer.
struct Source {
  std::string kind;                   // "turn", "tool", …
  std::string ref;                    // "turn-5"
  std::vector<std::string> evidence;  // ids of evidence
  std::string trace;

  bool empty() const { return kind.empty() && ref.empty() && evidence.empty() && trace.empty(); }
  friend bool operator==(const Source&, const Source&) = default;
};

// Why a decoder could not read an op; the judge turns it into the refusal that names the op.
struct Malformed {
  bool is_verb = false;       // it is not even known what the op would do; else its paths are looked at first
  bool is_path = false;       // bad_path instead of bad_value
  bool is_forbidden = false;  // forbidden: a copy of what may not be read
  bool at_its_turn = false;   // found by reading the board, so ops before it are judged first
  std::string message;
};

struct Op {
  Verb verb = Verb::set;
  std::string path;  // as written
  Value value;       // set, max, min, append, add_item; incr: the amount; schema: the document, or nil for none
  bool has_value = false;
  std::vector<Value> add;  // patch
  std::vector<Value> remove;
  std::optional<std::vector<Value>> reset;
  std::string suggestion;                        // accept, dismiss: "version.opindex"
  std::string entry;                             // unset of one log entry: "version.opindex"
  std::string from;                              // copy, move: the other path
  std::shared_ptr<const SchemaDocument> schema;  // schema: what `value` says; null for none
  std::optional<Version> to;                     // revert: back to what was after this version, or …
  std::string actor;                             // … without what this actor wrote …
  std::optional<Version> since;                  // … after this version
  std::optional<Confidence> confidence;
  std::optional<Value> ttl_ms;  // checked by the judge: an integer above 0
  bool assert_ = false;
  bool from_pointer = false;  // came as JSON Patch: an index into a list is a bad path there
  std::optional<Malformed> malformed;
};

struct Expect {
  std::optional<Version> version;
  std::vector<std::pair<std::string, Version>> fields;  // path as written, version of its last change
  std::vector<std::pair<std::string, Value>> values;

  bool empty() const { return !version && fields.empty() && values.empty(); }
};

struct Delta {
  std::string id;  // empty: no idempotency wanted
  std::string board;
  std::optional<Version> base;  // absent: the version before this delta
  std::string epoch;            // empty: not checked
  Expect expect;
  std::optional<Confidence> confidence;
  bool atomic = true;
  bool check = false;
  Source source;
  std::vector<Op> ops;
  Sha256 payload_hash{};  // of the canonical form of all but the id; made by the decoder
};

}  // namespace tafel
