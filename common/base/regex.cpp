#include "common/base/regex.hpp"

#include <re2/re2.h>

namespace tafel {
namespace {

constexpr std::int64_t memory_bytes_max = 1024 * 1024;  // of one compiled expression

RE2::Options options() {
  RE2::Options chosen;
  chosen.set_log_errors(false);
  chosen.set_max_mem(memory_bytes_max);
  return chosen;
}

}  // namespace

struct Regex::Program {
  explicit Program(std::string_view expression)
      : text(expression), compiled(re2::StringPiece(text.data(), text.size()), options()) {}

  std::string text;
  RE2 compiled;
};

Result<Regex> Regex::compile(std::string_view expression) {
  auto program = std::make_shared<const Program>(expression);
  if (program->compiled.ok()) return Regex(std::move(program));
  return fail(Fault::bad_config, program->compiled.error());
}

bool Regex::is_found_in(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), program_->compiled);
}

const std::string& Regex::text() const { return program_->text; }

}  // namespace tafel
