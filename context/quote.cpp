#include "context/quote.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "common/codec/json.hpp"

namespace tafel::context {
namespace {

// Characters that break a frame or a line, turn the direction of writing, or hide text from the eye. Joiners (U+200C,
// U+200D) stay as they are: scripts and emoji need them. All of these stand inside JSON strings only.
bool is_escaped(std::uint32_t code) {
  return code == '<' || code == '>' || (code >= 0x7F && code <= 0x9F) || code == 0x00AD || code == 0x200B ||
         code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || (code >= 0xE0000 && code <= 0xE007F);
}

struct Character {
  std::uint32_t code;
  std::size_t bytes;
};

// The first character of UTF-8 text; of other bytes one, as it is.
Character first_character(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text[0]);
  const std::size_t bytes = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : lead >= 0xC0U ? 2 : 1;
  if (bytes == 1 || text.size() < bytes) return {lead < 0x80U ? lead : 0xFFFDU, 1};
  std::uint32_t code = lead & (0xFFU >> (bytes + 1));
  for (const char byte : text.substr(1, bytes - 1)) code = (code << 6U) | (static_cast<std::uint8_t>(byte) & 0x3FU);
  return {code, bytes};
}

void append_escape(std::string& out, std::uint32_t code) {
  if (code < 0x10000U) {
    out += fmt::format("\\u{:04x}", code);
  } else {
    const std::uint32_t rest = code - 0x10000U;
    out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + (rest >> 10U), 0xDC00U + (rest & 0x3FFU));
  }
}

}  // namespace

std::string quoted(const Value& value) {
  const std::string json = codec::to_json(value);
  std::string out;
  out.reserve(json.size());
  for (std::string_view rest = json; !rest.empty();) {
    const Character character = first_character(rest);
    if (is_escaped(character.code)) {
      append_escape(out, character.code);
    } else {
      out += rest.substr(0, character.bytes);
    }
    rest.remove_prefix(character.bytes);
  }
  return out;
}

}  // namespace tafel::context
