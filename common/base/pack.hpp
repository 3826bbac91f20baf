// Writes MessagePack in its shortest forms, so that equal data always gives equal bytes. Reading is codec/msgpack.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tafel {

class PackWriter {
 public:
  explicit PackWriter(std::string& out) : out_(out) {}

  void nil() { byte(0xC0); }
  void boolean(bool value) { byte(value ? 0xC3 : 0xC2); }
  void integer(std::int64_t value);
  void unsigned_integer(std::uint64_t value);
  void number(double value);          // always the 9-byte float64 form
  void text(std::string_view value);  // UTF-8, not checked here
  void binary(std::string_view value);
  void array(std::size_t count);  // followed by `count` items
  void map(std::size_t count);    // followed by `count` pairs
  void raw(std::string_view encoded) { out_.append(encoded); }

  std::string& out() { return out_; }

 private:
  void byte(unsigned value) { out_.push_back(static_cast<char>(value)); }
  void put(unsigned lead, std::uint64_t value, std::size_t bytes);
  // One of three headers, by the size that fits: fix (when below fix_limit), 8, 16 or 32 bits.
  void header(std::size_t count, std::size_t fix_limit, unsigned fix, unsigned wide8, unsigned wide16, unsigned wide32);

  std::string& out_;
};

// How many members a map has of which each is there or not.
inline std::size_t count_given(std::initializer_list<bool> members) {
  return static_cast<std::size_t>(std::count(members.begin(), members.end(), true));
}

}  // namespace tafel
