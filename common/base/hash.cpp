#include "common/base/hash.hpp"

#include <openssl/evp.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>

#include "common/base/bytes.hpp"
#include "common/base/check.hpp"

namespace tafel {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Fetching the algorithm costs more than hashing a short text, so each thread does it once.
EVP_MD_CTX* thread_context() {
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context = [] {
    std::unique_ptr<EVP_MD_CTX, FreeContext> made(EVP_MD_CTX_new());
    TAFEL_CHECK(made != nullptr && EVP_DigestInit_ex(made.get(), EVP_sha256(), nullptr) == 1, "SHA-256 is there");
    return made;
  }();
  return context.get();
}

}  // namespace

Sha256 sha256(std::string_view bytes) {
  EVP_MD_CTX* const context = thread_context();
  Sha256 hash;
  const bool done = EVP_DigestInit_ex(context, nullptr, nullptr) == 1 &&
                    EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(context, hash.data(), nullptr) == 1;
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
