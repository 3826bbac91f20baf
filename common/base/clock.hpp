// Seam: the time. Below `broker` nothing asks a clock; time comes in as an argument.
#pragma once

#include <cstdint>

namespace tafel {

using TimeMs = std::int64_t;  // milliseconds since 1970-01-01 UTC

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimeMs wall_ms() = 0;          // for stamps on events; may jump
  virtual std::int64_t steady_ms() = 0;  // for timeouts; never goes back
};

class SystemClock final : public Clock {
 public:
  TimeMs wall_ms() override;
  std::int64_t steady_ms() override;
};

}  // namespace tafel
