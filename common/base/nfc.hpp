// Unicode's normal form C: composed and decomposed letters become the same bytes.
#pragma once

#include <string>
#include <string_view>

namespace tafel {

// `text` is UTF-8.
std::string to_nfc(std::string_view text);

}  // namespace tafel
