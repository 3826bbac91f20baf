// Counts what became of the leaves and elements that deltas spoke of. Pure.
#pragma once

#include <cstddef>

#include "common/model/delta.hpp"
#include "common/model/receipt.hpp"

namespace tafel::demo {

struct Tally {
  std::size_t deltas = 0;
  std::size_t behind = 0;     // committed on a base below the head
  std::size_t held = 0;       // suggestions made
  std::size_t kept_both = 0;  // leaves
  std::size_t blanks = 0;     // blank leaves ignored
  std::size_t echoes = 0;     // leaves that repeated what was seen, or what stands already
  std::size_t refused = 0;    // deltas

  Tally& operator+=(const Tally& other);
};

Tally tally_of(const Delta& delta, const Receipt& receipt);

}  // namespace tafel::demo
