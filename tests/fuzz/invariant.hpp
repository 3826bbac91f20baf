// What every fuzz target needs: a check that stops the run, and the input as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/check.hpp"
#include "common/base/text.hpp"
#include "common/codec/msgpack.hpp"

namespace tafel::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Equal in form too: 1 is not 1.0 here.
inline bool identical(const Value& left, const Value& right) { return codec::encode(left) == codec::encode(right); }

// What is told to a peer can be sent to it, and does not grow with what the peer sent.
inline void check_message(const std::string& message) {
  TAFEL_CHECK(!message.empty() && message.size() < 1500, "a message is short");
  TAFEL_CHECK(is_utf8(message), "a message is UTF-8");
}

}  // namespace tafel::fuzz
