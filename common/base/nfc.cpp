#include "common/base/nfc.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "common/base/check.hpp"

namespace tafel {

std::string to_nfc(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80U; }))
    return std::string(text);
  utf8proc_uint8_t* composed = nullptr;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = utf8proc_map(bytes, static_cast<utf8proc_ssize_t>(text.size()), &composed,
                                 static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(composed, &std::free);
  TAFEL_CHECK(size >= 0, "text that is UTF-8 has a normal form");
  return {reinterpret_cast<const char*>(composed), static_cast<std::size_t>(size)};
}

}  // namespace tafel
