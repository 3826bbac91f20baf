// Enumerators by the names that stand in files and messages.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tafel {

// `names` in the order of the enumerators, which count from 0.
template <class Enum, std::size_t N>
std::optional<Enum> look_up(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace tafel
