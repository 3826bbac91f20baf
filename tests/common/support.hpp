// What the tests of common share: values from JSON text, and random values from a seed.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>

#include "common/codec/json.hpp"
#include "common/model/value.hpp"

namespace tafel::test {

inline Value json(std::string_view text) {
  auto value = codec::parse_json(text);
  EXPECT_TRUE(value.has_value()) << text << ": " << (value ? "" : value.error().message);
  return value ? *value : Value();
}

// Bytes from hex digits; spaces are skipped.
inline std::string unhex(std::string_view hex) {
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits += c;
  }
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// Random values, small and nasty: edge integers, floats, empty and odd texts, keys that mean something elsewhere.
class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }

  Value value(std::size_t depth = 3) {
    switch (below(depth == 0 ? 7 : 9)) {
      case 0: return Nil{};
      case 1: return chance(2);
      case 2: return integer();
      case 3: return static_cast<std::uint64_t>(INT64_MAX) + 1 + engine_() / 4;
      case 4: return number();
      case 5: return text();
      case 6: return Bytes{text()};
      case 7: return list(depth - 1);
      default: return map(depth - 1);
    }
  }

  std::int64_t integer() {
    constexpr std::array<std::int64_t, 10> edges{
        0, 1, -1, 127, 128, -33, INT64_MAX, INT64_MIN, 9007199254740993, 4294967296};
    return chance(2) ? edges[below(edges.size())] : static_cast<std::int64_t>(engine_());
  }

  double number() {
    constexpr std::array<double, 9> edges{
        0.0, -0.0, 1.0, 1.5, 0.1, 1e300, 5e-324, 9007199254740993.0, 18446744073709551616.0};
    return edges[below(edges.size())];
  }

  std::string text() {
    constexpr std::array<std::string_view, 14> texts{"",  "a",        "b.c",    "\\", "__proto__",   "$bytes", "$map",
                                                     "é", "\xC2\x85", "\t\n\"", "~/", "constructor", "0",      "-"};
    return chance(8) ? std::string(1, '\0') : std::string(texts[below(texts.size())]);
  }

  Value list(std::size_t depth) {
    List items;
    for (std::size_t count = below(4); count > 0; --count) items.push_back(value(depth));
    return items;
  }

  Value map(std::size_t depth) {
    Value made{Map{}};
    for (std::size_t count = below(4); count > 0; --count) made.set(text(), value(depth));
    return made;
  }

  std::uint64_t next() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

// Equal in form too: 1 is not 1.0 here.
inline bool identical(const Value& left, const Value& right) {
  std::string a;
  std::string b;
  PackWriter a_out(a);
  PackWriter b_out(b);
  write_exact(a_out, left);
  write_exact(b_out, right);
  return a == b;
}

}  // namespace tafel::test
