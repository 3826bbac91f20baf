// Reads MessagePack item by item and makes no values of it: a load program looks at few members of what it is sent.
// After bytes that end too early, or another form than the caller asked for, `failed` is true and everything reads as
// 0.
#pragma once

#include <cstdint>
#include <string_view>

namespace tafel::bench {

class PackReader {
 public:
  explicit PackReader(std::string_view bytes) : left_(bytes) {}

  std::uint64_t array();  // how many items follow
  std::uint64_t map();    // how many pairs follow
  std::string_view text();
  std::uint64_t unsigned_integer();
  bool boolean();
  bool take_nil();  // false, and nothing is taken, when it is another item
  void skip();      // one item, with all that is in it

  bool failed() const { return failed_; }

 private:
  unsigned char take();
  std::uint64_t take_big_endian(unsigned bytes);
  std::string_view take_bytes(std::uint64_t count);
  void fail();

  std::string_view left_;
  bool failed_ = false;
};

}  // namespace tafel::bench
