#include "cli/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "common/codec/json.hpp"

namespace tafel::cli {
namespace {

constexpr int indent = 2;

// 0, or the error number.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Result<void> Output::line(std::string_view text) {
  std::string whole(text);
  whole.push_back('\n');
  const int error = write_all(descriptor_, whole);
  if (error == 0) return {};
  if (error == EPIPE) return fail(Fault::closed, "standard output is closed");
  return fail(Fault::io, std::string("cannot write to standard output: ") + std::strerror(error));
}

Result<void> Output::json_line(const Value& value) { return line(codec::to_json(value)); }

Result<void> Output::json(const Value& value) { return line(codec::to_json(value, indent)); }

void tell(std::string_view message) {
  write_all(STDERR_FILENO, "tafel: " + std::string(message) + "\n");  // nobody could be told of an error here
}

}  // namespace tafel::cli
