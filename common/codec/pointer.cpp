#include "common/codec/pointer.hpp"

namespace tafel::codec {

Result<std::vector<std::string>> pointer_segments(std::string_view pointer) {
  std::vector<std::string> segments;
  if (pointer.empty()) return segments;
  if (pointer.front() != '/') return fail(Fault::bad_bytes, "a JSON Pointer begins with \"/\", as in \"/budget/max\"");
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    const char c = pointer[i];
    if (c == '/') {
      segments.emplace_back();
    } else if (c != '~') {
      segments.back().push_back(c);
    } else {
      const char escaped = i + 1 < pointer.size() ? pointer[i + 1] : '\0';
      if (escaped != '0' && escaped != '1')
        return fail(Fault::bad_bytes, "in a JSON Pointer \"~\" stands before 0 or 1 only");
      segments.back().push_back(escaped == '0' ? '~' : '/');
      ++i;
    }
  }
  return segments;
}

std::string pointer_from_path(std::string_view dot_path) {
  std::string pointer = "/";
  for (std::size_t i = 0; i < dot_path.size(); ++i) {
    char c = dot_path[i];
    if (c == '.') {
      pointer += '/';
      continue;
    }
    if (c == '\\' && i + 1 < dot_path.size()) c = dot_path[++i];
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

}  // namespace tafel::codec
