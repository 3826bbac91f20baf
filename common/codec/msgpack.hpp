// MessagePack ↔ Value. Decoding is bounded: untrusted bytes can neither exhaust memory nor the stack.
#pragma once

#include <string>
#include <string_view>

#include "common/base/limits.hpp"
#include "common/base/result.hpp"
#include "common/model/value.hpp"

namespace tafel::codec {

struct DecodeLimits {
  std::size_t depth_max = limits::value_depth_max + 16;  // the envelope of a message adds some levels to a value's own
  std::size_t objects_max = limits::message_objects_max;
};

// All of `bytes` must be one object. Refused with the offset and what is wrong: trailing bytes, ext types, NaN and
// infinities, text that is not UTF-8, keys that are no text or stand twice, declared counts larger than the bytes left
// (before anything is reserved for them), depth, object count.
Result<Value> decode(std::string_view bytes, const DecodeLimits& limits = {});

// Numbers keep their form (1.0 stays a float64).
std::string encode(const Value& value);

}  // namespace tafel::codec
