#include "common/base/clock.hpp"

#include <chrono>

namespace tafel {
namespace {
template <class ClockType>
std::int64_t milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(ClockType::now().time_since_epoch()).count();
}
}  // namespace

TimeMs SystemClock::wall_ms() { return milliseconds<std::chrono::system_clock>(); }
std::int64_t SystemClock::steady_ms() { return milliseconds<std::chrono::steady_clock>(); }

}  // namespace tafel
