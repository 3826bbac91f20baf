#include "bench/load/updates.hpp"

#include <algorithm>

namespace tafel::bench {
namespace {

constexpr std::string_view element_model = "e-0000000000";
constexpr std::string_view field_model = "field.00";
constexpr std::string_view value_model = "0000000000000000";

// Writes the digits of `number` over the end of `text`. No fmt: this is in the loop that drives all agents.
void put_digits(std::string& text, std::uint64_t number) {
  for (std::size_t at = text.size(); number > 0 && at > 0; number /= 10)
    text[--at] = static_cast<char>('0' + number % 10);
}

void put_name(std::string& text, std::uint64_t index) {
  text = element_model;
  put_digits(text, index);
}

void put_hexadecimal(std::string& text, std::uint64_t number) {
  for (char& digit : text) {
    digit = "0123456789abcdef"[number & 15];
    number >>= 4;
  }
}

}  // namespace

std::string element_name(std::uint64_t index) {
  std::string text;
  put_name(text, index);
  return text;
}

Updates::Updates(std::uint64_t seed, std::uint64_t elements)
    : dice_(seed), elements_(std::max<std::uint64_t>(elements, 2)), field_(field_model), value_(value_model) {}

Update Updates::next() {
  const std::uint64_t added = dice_() % elements_;
  const std::uint64_t removed = (added + 1 + dice_() % (elements_ - 1)) % elements_;
  put_name(add_, added);
  put_name(remove_, removed);
  field_ = field_model;
  put_digits(field_, dice_() % field_count);
  put_hexadecimal(value_, dice_());
  return {number_++, add_, remove_, field_, value_};
}

}  // namespace tafel::bench
