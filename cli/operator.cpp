#include "cli/operator.hpp"

namespace tafel::cli {

void ProgressTeller::tell(const std::function<std::string()>& words) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + pause;
  cli::tell(words());
}

}  // namespace tafel::cli
