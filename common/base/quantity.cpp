#include "common/base/quantity.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace tafel {
namespace {

// The number that the text begins with; what follows it is left in `text`.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number == 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view units = "kMGT";
  const auto number = take_number(text);
  if (!number || text.size() > 1) return std::nullopt;
  if (text.empty()) return number;
  const std::size_t unit = units.find(text.front());
  if (unit == units.npos) return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(unit) + 1);
  if (*number > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
  return *number << shift;
}

std::optional<std::int64_t> parse_duration_ms(std::string_view text) {
  constexpr std::int64_t second = 1000;
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> units{{{"ms", 1},
                                                                            {"s", second},
                                                                            {"m", 60 * second},
                                                                            {"h", 3600 * second},
                                                                            {"d", 24 * 3600 * second},
                                                                            {"w", 7 * 24 * 3600 * second}}};
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  for (const auto& [unit, ms] : units) {
    if (text != unit) continue;
    if (*number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / ms)) return std::nullopt;
    return static_cast<std::int64_t>(*number) * ms;
  }
  return std::nullopt;
}

}  // namespace tafel
