// JSON Pointers (RFC 6901) and their way to and from dot paths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace tafel::codec {

// The literal segments ("/a~1b/0" → "a/b", "0"); none for "", the whole document. A failure says what is wrong.
Result<std::vector<std::string>> pointer_segments(std::string_view pointer);

// The pointer of a dot path. Never fails: text that is no path gives some pointer.
std::string pointer_from_path(std::string_view dot_path);

}  // namespace tafel::codec
