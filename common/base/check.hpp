// Checks of our own assumptions. They stay on in release builds: the store is crash-safe, so stopping is always safer
// than going on with a broken invariant. Never used for bad input or for a failing world (see result.hpp).
#pragma once

namespace tafel {

[[noreturn]] void check_failed(const char* condition, const char* file, int line, const char* message) noexcept;

}  // namespace tafel

// Stops the process with the place and `message` when `condition` does not hold.
#define TAFEL_CHECK(condition, message)                               \
  do {                                                                \
    if (!(condition)) {                                               \
      ::tafel::check_failed(#condition, __FILE__, __LINE__, message); \
    }                                                                 \
  } while (false)
