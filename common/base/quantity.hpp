// Quantities as people write them in options: "512M", "30d".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tafel {

// A number of bytes above 0, plain or with k, M, G or T (powers of 1,024); nullopt for anything else.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// A time above 0 in milliseconds: a number with ms, s, m, h, d or w; nullopt for anything else.
std::optional<std::int64_t> parse_duration_ms(std::string_view text);

}  // namespace tafel
