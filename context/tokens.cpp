// The estimate for a caller without a tokenizer. Each script has a price per character, in hundredths of a token,
// chosen so that natural text comes out at or above what byte-pair tokenizers with vocabularies of 32 k to 200 k
// entries need; where those fall back to bytes (rare scripts, emoji, private use), the price is the length in UTF-8.
// Random letters that form no words, and texts made of rare Han characters alone, can cost a real tokenizer more; give
// it as Request::count then.
#include <algorithm>
#include <array>
#include <cstdint>

#include "context/context.hpp"

namespace tafel::context {
namespace {

using Hundredths = std::size_t;

constexpr Hundredths whole = 100;
constexpr Hundredths letter = 45;              // of a word
constexpr Hundredths letter_of_capitals = 70;  // ABBREVIATIONS, and letters behind the twelfth of a word
constexpr Hundredths mark = 80;                // punctuation
constexpr Hundredths mark_again = 20;          // the same mark repeated: "-----"
constexpr Hundredths space_again = 12;
constexpr std::size_t usual_word_max = 12;
constexpr std::size_t code_run_min = 8;   // letters and digits mixed this long are keys, hashes, base64
constexpr std::size_t code_run_max = 64;  // looked at in pieces, so that the work stays linear

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_lower(c) || is_upper(c); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class Is>
std::size_t run_length(std::string_view text, Is is) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is) - text.begin());
}

struct Run {
  std::size_t bytes;
  Hundredths price;
};

Run word(std::string_view text) {
  const bool is_capitals = text.size() > 1 && is_upper(text[0]) && is_upper(text[1]);
  const std::size_t length = is_capitals ? run_length(text, is_upper) : 1 + run_length(text.substr(1), is_lower);
  const std::size_t usual = is_capitals ? 0 : std::min(length, usual_word_max);
  return {length, std::max(whole, usual * letter + (length - usual) * letter_of_capitals)};
}

Run letters_and_digits(std::string_view text) {
  const std::size_t length =
      run_length(text.substr(0, code_run_max), [](char c) { return is_letter(c) || is_digit(c); });
  const std::string_view run = text.substr(0, length);
  const auto digits = static_cast<std::size_t>(std::count_if(run.begin(), run.end(), is_digit));
  if (digits == length || (length >= code_run_min && digits > 0)) return {length, length * whole};
  return is_digit(text[0]) ? Run{1, whole} : word(run);
}

Run spaces(std::string_view text) {
  const std::size_t length = run_length(text, [](char c) { return c == ' '; });
  const bool joins_a_word = length == 1 && text.size() > 1 && is_letter(text[1]);
  return {length, joins_a_word ? 0 : whole + (length - 1) * space_again};
}

Run marks(std::string_view text) {
  const std::size_t length = run_length(text, [first = text[0]](char c) { return c == first; });
  return {length, mark + (length - 1) * mark_again};
}

Run ascii(std::string_view text) {
  const char first = text[0];
  if (is_letter(first) || is_digit(first)) return letters_and_digits(text);
  if (first == ' ') return spaces(text);
  if (first < ' ') return {1, whole};  // tabs, line ends and other control characters
  return marks(text);
}

struct Block {
  std::uint32_t end;  // the first code point behind it
  Hundredths price;
};

// In order; what lies in none of them costs its length in UTF-8.
constexpr std::array blocks{
    Block{0x0100, 125},                                          // Latin letters of Western Europe
    Block{0x0370, 200},                                          // other Latin letters, combining marks
    Block{0x0400, 150},                                          // Greek
    Block{0x0410, 125}, Block{0x0450, 100}, Block{0x0460, 125},  // Cyrillic: the Russian letters are the cheap ones
    Block{0x05D0, 200}, Block{0x05F0, 150},                      // Hebrew
    Block{0x0600, 200}, Block{0x0660, 150},                      // Arabic
    Block{0x0800, 200}, Block{0x0900, 300}, Block{0x0970, 175},  // Devanagari
    Block{0x0E00, 300}, Block{0x0E60, 150},                      // Thai
    Block{0x1EA0, 300}, Block{0x1F00, 200},                      // Vietnamese
    Block{0x2010, 300}, Block{0x2028, 150},                      // dashes, quotation marks, dots
    Block{0x3000, 300}, Block{0x3100, 150},                      // Chinese and Japanese punctuation, kana
    Block{0x4E00, 300}, Block{0xA000, 175},                      // Han
    Block{0xAC00, 300}, Block{0xD7A4, 175},                      // Hangul
    Block{0xFF01, 300}, Block{0xFF10, 150},                      // full-width punctuation
    Block{0xFF1A, 300}, Block{0xFF21, 150}, Block{0x10000, 300},
};
constexpr Hundredths price_beyond = 400;  // emoji, rare Han

bool is_follow_byte(char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0U) == 0x80U; }

// A character outside ASCII; bytes that are no UTF-8 cost a token each.
Run wide(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text[0]);
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : lead >= 0xC0U ? 2 : 1;
  const bool is_whole =
      length > 1 && text.size() >= length &&
      std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length), is_follow_byte);
  if (!is_whole) return {1, whole};
  std::uint32_t code = lead & (0xFFU >> (length + 1));
  for (const char byte : text.substr(1, length - 1)) code = (code << 6U) | (static_cast<std::uint8_t>(byte) & 0x3FU);
  const auto* const block = std::find_if(blocks.begin(), blocks.end(), [&](const Block& b) { return code < b.end; });
  return {length, block == blocks.end() ? price_beyond : block->price};
}

}  // namespace

std::size_t estimate_tokens(std::string_view text) {
  Hundredths price = 0;
  while (!text.empty()) {
    const Run run = static_cast<std::uint8_t>(text[0]) < 0x80U ? ascii(text) : wide(text);
    price += run.price;
    text.remove_prefix(run.bytes);
  }
  return (price + whole - 1) / whole;
}

}  // namespace tafel::context
