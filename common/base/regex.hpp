// Regular expressions in RE2's syntax. Looking takes time linear in the text, whatever the expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace tafel {

class Regex {
 public:
  // Fault::bad_config; the message says what is wrong with the expression.
  static Result<Regex> compile(std::string_view expression);

  // Whether it fits some part of `text` (UTF-8); `^` and `$` tie it to the ends.
  bool is_found_in(std::string_view text) const;
  const std::string& text() const;

 private:
  struct Program;
  explicit Regex(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const Program> program_;
};

}  // namespace tafel
