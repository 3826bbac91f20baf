#include "common/base/hash.hpp"

// The functions of one algorithm: most texts here are short, and the general interface (EVP) costs as much again as
// hashing one. OpenSSL keeps them, marked as the older way.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <xxhash.h>

#include <algorithm>

#include "common/base/bytes.hpp"
#include "common/base/check.hpp"

namespace tafel {

Sha256 sha256(std::string_view bytes) { return sha256(bytes, {}); }

Sha256 sha256(std::string_view first, std::string_view second) {
  SHA256_CTX context;
  Sha256 hash;
  const bool done = SHA256_Init(&context) == 1 && SHA256_Update(&context, first.data(), first.size()) == 1 &&
                    SHA256_Update(&context, second.data(), second.size()) == 1 &&
                    SHA256_Final(hash.data(), &context) == 1;
  TAFEL_CHECK(done, "SHA-256 cannot fail on memory");
  return hash;
}

std::uint64_t checksum64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Sum128& Sum128::operator+=(const Sum128& other) {
  low += other.low;
  high += other.high + (low < other.low ? 1 : 0);
  return *this;
}

Sum128& Sum128::operator-=(const Sum128& other) {
  const std::uint64_t borrow = low < other.low ? 1 : 0;
  low -= other.low;
  high -= other.high + borrow;
  return *this;
}

Sum128 sum_of(std::string_view bytes) { return sum_from_bytes(as_view(sha256(bytes))); }

std::string to_bytes(const Sum128& sum) {
  std::string bytes;
  put_be64(bytes, sum.high);
  put_be64(bytes, sum.low);
  return bytes;
}

Sum128 sum_from_bytes(std::string_view sixteen) { return {get_be64(sixteen), get_be64(sixteen.substr(8))}; }

Sha256 sha256_from_bytes(std::string_view thirty_two) {
  TAFEL_CHECK(thirty_two.size() == 32, "a SHA-256 has 32 bytes");
  Sha256 hash;
  std::copy(thirty_two.begin(), thirty_two.end(), hash.begin());
  return hash;
}

}  // namespace tafel
