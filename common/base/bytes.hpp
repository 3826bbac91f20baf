// Byte strings: fixed-width big-endian integers (whose byte order is their number order, as keys need).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tafel {

inline void put_be32(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>((number >> shift) & 0xFFU));
}

inline void put_be64(std::string& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>((number >> shift) & 0xFFU));
}

// `bytes` holds at least 4 (8) bytes.
inline std::uint32_t get_be32(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = (number << 8U) | static_cast<std::uint8_t>(bytes[i]);
  return number;
}

inline std::uint64_t get_be64(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = (number << 8U) | static_cast<std::uint8_t>(bytes[i]);
  return number;
}

}  // namespace tafel
