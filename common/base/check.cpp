#include "common/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace tafel {

void check_failed(const char* condition, const char* file, int line, const char* message) noexcept {
  std::fprintf(stderr, "tafel: broken assumption at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace tafel
