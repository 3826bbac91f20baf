// Times as people read them.
#pragma once

#include <string>

#include "common/base/clock.hpp"

namespace tafel {

// "2026-11-30T09:30:00.250Z".
std::string utc_text(TimeMs time);

}  // namespace tafel
