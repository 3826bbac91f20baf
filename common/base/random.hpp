// Seam: randomness (ids, salts, epochs). Simulations bind it to a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tafel {

class Random {
 public:
  virtual ~Random() = default;
  virtual std::string bytes(std::size_t count) = 0;
};

// The operating system's source; safe to use from one thread at a time.
class SystemRandom final : public Random {
 public:
  std::string bytes(std::size_t count) override;

 private:
  std::string waiting_;  // fetched, and not given out: a salt for each delta would else cost a call of its own
};

// Repeatable from a seed, for tests and simulations only.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::string bytes(std::size_t count) override;

 private:
  std::uint64_t state_;
};

// A new id: 26 characters, sorted by time when `now_ms` grows (the ULID layout: 48 bits of time, 80 bits of chance).
std::string new_id(std::int64_t now_ms, Random& random);

}  // namespace tafel
