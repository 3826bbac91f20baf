#include "common/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tafel {
namespace {

constexpr std::uint32_t not_a_code_point = 0xFFFFFFFFU;

// Reads one code point at `at` and moves behind it; not_a_code_point when the bytes are not well-formed UTF-8.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<std::uint8_t>(text[at++]);
  if (lead < 0x80U) return lead;
  std::size_t more = 0;
  std::uint32_t code = 0;
  std::uint32_t least = 0;
  if ((lead & 0xE0U) == 0xC0U) {
    more = 1, code = lead & 0x1FU, least = 0x80U;
  } else if ((lead & 0xF0U) == 0xE0U) {
    more = 2, code = lead & 0x0FU, least = 0x800U;
  } else if ((lead & 0xF8U) == 0xF0U) {
    more = 3, code = lead & 0x07U, least = 0x10000U;
  } else {
    return not_a_code_point;
  }
  for (; more > 0; --more) {
    if (at >= text.size()) return not_a_code_point;
    const auto follow = static_cast<std::uint8_t>(text[at++]);
    if ((follow & 0xC0U) != 0x80U) return not_a_code_point;
    code = (code << 6U) | (follow & 0x3FU);
  }
  const bool surrogate = code >= 0xD800U && code <= 0xDFFFU;
  return (code < least || code > 0x10FFFFU || surrogate) ? not_a_code_point : code;
}

// Unicode's White_Space property.
bool is_space(std::uint32_t code) {
  return (code >= 0x09U && code <= 0x0DU) || code == 0x20U || code == 0x85U || code == 0xA0U || code == 0x1680U ||
         (code >= 0x2000U && code <= 0x200AU) || code == 0x2028U || code == 0x2029U || code == 0x202FU ||
         code == 0x205FU || code == 0x3000U;
}

constexpr std::string_view base64_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (next_code_point(text, at) == not_a_code_point) return false;
  }
  return true;
}

bool has_control_character(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t code = next_code_point(text, at);
    if (code < 0x20U || (code >= 0x7FU && code <= 0x9FU)) return true;
  }
  return false;
}

bool is_white_space(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_space(next_code_point(text, at))) return false;
  }
  return true;
}

std::string_view trimmed(std::string_view text) {
  std::size_t begin = text.size();
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    if (is_space(next_code_point(text, at))) continue;
    begin = std::min(begin, start);
    end = at;
  }
  return end == 0 ? std::string_view() : text.substr(begin, end - begin);
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0U) != 0x80U; }));
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char byte : bytes) {
    const auto number = static_cast<std::uint8_t>(byte);
    text.push_back(digits[number >> 4U]);
    text.push_back(digits[number & 0x0FU]);
  }
  return text;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = (group << 8U) | (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const bool padding = i + j > bytes.size();
      text.push_back(padding ? '=' : base64_alphabet[(group >> (18U - 6U * static_cast<unsigned>(j))) & 0x3FU]);
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_padding = i >= text.size() - padding;
    const std::size_t digit = is_padding ? 0 : base64_alphabet.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    group = (group << 6U) | static_cast<std::uint32_t>(digit);
    if (i % 4 == 3) {
      bytes.push_back(static_cast<char>((group >> 16U) & 0xFFU));
      bytes.push_back(static_cast<char>((group >> 8U) & 0xFFU));
      bytes.push_back(static_cast<char>(group & 0xFFU));
      group = 0;
    }
  }
  bytes.resize(bytes.size() - padding);
  if (to_base64(bytes) != text) return std::nullopt;  // stray bits under the padding
  return bytes;
}

}  // namespace tafel
