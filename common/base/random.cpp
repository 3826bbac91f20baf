#include "common/base/random.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <string_view>

#include "common/base/bytes.hpp"
#include "common/base/check.hpp"

namespace tafel {

std::string SystemRandom::bytes(std::size_t count) {
  constexpr std::size_t fetched_at_once = 4096;
  if (waiting_.size() < count) {
    waiting_.resize(std::max(count, fetched_at_once));
    const bool are_there =
        RAND_bytes(reinterpret_cast<unsigned char*>(waiting_.data()), static_cast<int>(waiting_.size())) == 1;
    TAFEL_CHECK(are_there, "the system gives random bytes");
  }
  std::string out = waiting_.substr(waiting_.size() - count);
  waiting_.resize(waiting_.size() - count);
  return out;
}

// splitmix64, eight bytes a step.
std::string SeededRandom::bytes(std::size_t count) {
  std::string out;
  while (out.size() < count) {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
    put_be64(out, mixed ^ (mixed >> 31U));
  }
  out.resize(count);
  return out;
}

std::string new_id(std::int64_t now_ms, Random& random) {
  constexpr std::string_view digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  const auto time = static_cast<std::uint64_t>(now_ms);
  std::string id;
  for (int shift = 45; shift >= 0; shift -= 5) id.push_back(digits[(time >> shift) & 0x1FU]);
  for (const char byte : random.bytes(16)) id.push_back(digits[static_cast<std::uint8_t>(byte) & 0x1FU]);
  return id;
}

}  // namespace tafel
