// Standard output: data only, whole lines, each written at once. Standard error: messages for people.
#pragma once

#include <string_view>

#include "common/base/result.hpp"
#include "common/model/value.hpp"

namespace tafel::cli {

// May be used by one thread at a time.
class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  // Writes `text` and a line end. Fault::closed when nobody reads any more (that is no error: `tafel log b | head`),
  // Fault::io when the text could not be written.
  Result<void> line(std::string_view text);
  Result<void> json_line(const Value& value);  // compact
  Result<void> json(const Value& value);       // for people: indented

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// "tafel: …" to standard error.
void tell(std::string_view message);

}  // namespace tafel::cli
