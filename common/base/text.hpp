// Text: UTF-8 checks, trimming, hex and base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tafel {

// Well-formed UTF-8 (no surrogates, no overlong forms, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

// A control character of Unicode: U+0000–U+001F, U+007F–U+009F. `text` is UTF-8.
bool has_control_character(std::string_view text);

// True when only Unicode white space is in `text` (also when it is empty).
bool is_white_space(std::string_view text);

// Without the Unicode white space at both ends. `text` is UTF-8.
std::string_view trimmed(std::string_view text);

// Number of code points. `text` is UTF-8.
std::size_t count_code_points(std::string_view text);

std::string to_hex(std::string_view bytes);
std::string to_base64(std::string_view bytes);                  // RFC 4648 with padding
std::optional<std::string> from_base64(std::string_view text);  // strict: the alphabet, padding and length must fit

}  // namespace tafel
