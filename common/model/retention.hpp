// How much of the history of a board is kept.
#pragma once

#include <cstdint>
#include <optional>

namespace tafel {

// Older versions go when any limit is passed; what is not set has no limit.
struct Retention {
  std::optional<std::uint64_t> versions;  // so many of the newest events stay
  std::optional<std::int64_t> age_ms;     // what was so at any time within it can be read
  std::optional<std::uint64_t> bytes;     // of the events that stay

  bool keeps_everything() const { return !versions && !age_ms && !bytes; }
  friend bool operator==(const Retention&, const Retention&) = default;
};

}  // namespace tafel
