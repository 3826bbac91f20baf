// What the commands that work on a data directory have in common.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "cli/command.hpp"
#include "cli/output.hpp"

namespace tafel::cli {

inline constexpr OptionSpec json_line_option{"json", "", "the last line as JSON"};

// Says how far a long work is, on standard error, at most every other second.
class ProgressTeller {
 public:
  void tell(const std::function<std::string()>& words);

 private:
  static constexpr std::chrono::seconds pause{2};
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + pause;
};

// `closed` means here that our reader has gone, which is no error; a store means something else by it.
template <class T>
Result<T> as_failure_of_a_store(Result<T> result) {
  if (!result && result.error().fault == Fault::closed) result.error().fault = Fault::io;
  return result;
}

}  // namespace tafel::cli
