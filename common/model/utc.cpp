#include "common/model/utc.hpp"

#include <fmt/format.h>

#include <chrono>

namespace tafel {

std::string utc_text(TimeMs time) {
  constexpr TimeMs ms_per_day = 24LL * 3600 * 1000;
  const TimeMs days = time / ms_per_day - (time % ms_per_day < 0 ? 1 : 0);
  const TimeMs rest = time - days * ms_per_day;
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), rest / 3'600'000,
                     rest / 60'000 % 60, rest / 1000 % 60, rest % 1000);
}

}  // namespace tafel
