// JSON ↔ Value. Integers are exact in all of int64 and uint64. Bytes, which JSON lacks, are {"$bytes": "<base64>"}; a
// real map that has "$bytes" or "$map" as its only key is written as {"$map": {…}}, so the mapping is one to one.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "common/model/value.hpp"

namespace tafel::codec {

// Where reading stopped: the keys and indices from the root to the value that could not be read.
struct JsonError {
  std::string message;                // with the byte offset
  std::vector<std::string> location;  // {"ops", "1", "value"}
  bool bad_number = false;            // a number that no Value can hold (1e400, NaN, 2^64): form is fine, value is not
  Value partial;                      // what was read so far, so that the error can name its surroundings
};

// Refuses: anything but one JSON value, duplicate keys, lone surrogates, bad UTF-8, numbers that are not finite or
// integers outside int64..uint64, nesting deeper than the value limit plus the envelope.
tl::expected<Value, JsonError> parse_json(std::string_view text);

// Compact, keys sorted, UTF-8 as it is (no \u escapes but for control characters); doubles in their shortest exact
// form, with
// ".0" where they are integral. `indent` > 0: pretty.
std::string to_json(const Value& value, int indent = 0);

// The text of a canonical value (integral doubles as integers): names a set element as a JSON key, as in {"\"US\"":
// "stated"}.
std::string to_canonical_json(const Value& value);

}  // namespace tafel::codec
