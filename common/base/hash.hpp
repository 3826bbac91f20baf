// Hashes: SHA-256 (chain, digests, fingerprints), a 64-bit checksum for records, and 128-bit sums for the state digest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tafel {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);
Sha256 sha256(std::string_view first, std::string_view second);  // of both, one after the other

// XXH3, 64 bits: finds damage on disk, resists nobody.
std::uint64_t checksum64(std::string_view bytes);

// A number modulo 2^128. The digest of a state is the sum of one such number per cell, so the order of cells does not
// matter and replacing a cell costs one subtraction and one addition.
struct Sum128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  Sum128& operator+=(const Sum128& other);
  Sum128& operator-=(const Sum128& other);
  friend bool operator==(const Sum128&, const Sum128&) = default;
};

// The first 16 bytes of SHA-256(bytes), read as a big-endian number.
Sum128 sum_of(std::string_view bytes);

std::string to_bytes(const Sum128& sum);          // 16 bytes, big-endian
Sum128 sum_from_bytes(std::string_view sixteen);  // `sixteen` holds at least 16 bytes
inline std::string_view as_view(const Sha256& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}
Sha256 sha256_from_bytes(std::string_view thirty_two);

}  // namespace tafel
