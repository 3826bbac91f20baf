#include "common/base/pack.hpp"

#include <bit>

#include "common/base/check.hpp"

namespace tafel {
namespace {
constexpr unsigned no_form = 0;
}

// `lead` and the last `bytes` bytes of `value`, at once.
void PackWriter::put(unsigned lead, std::uint64_t value, std::size_t bytes) {
  char head[9];
  head[0] = static_cast<char>(lead);
  for (std::size_t i = bytes; i > 0; --i, value >>= 8U) head[i] = static_cast<char>(value & 0xFFU);
  out_.append(head, bytes + 1);
}

void PackWriter::unsigned_integer(std::uint64_t value) {
  if (value < 0x80U) {
    byte(static_cast<unsigned>(value));
  } else if (value <= 0xFFU) {
    put(0xCC, value, 1);
  } else if (value <= 0xFFFFU) {
    put(0xCD, value, 2);
  } else if (value <= 0xFFFFFFFFU) {
    put(0xCE, value, 4);
  } else {
    put(0xCF, value, 8);
  }
}

void PackWriter::integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0) {
    unsigned_integer(bits);
  } else if (value >= -32) {
    byte(static_cast<unsigned>(bits & 0xFFU));
  } else if (value >= INT8_MIN) {
    put(0xD0, bits, 1);
  } else if (value >= INT16_MIN) {
    put(0xD1, bits, 2);
  } else if (value >= INT32_MIN) {
    put(0xD2, bits, 4);
  } else {
    put(0xD3, bits, 8);
  }
}

void PackWriter::number(double value) { put(0xCB, std::bit_cast<std::uint64_t>(value), 8); }

void PackWriter::header(std::size_t count, std::size_t fix_limit, unsigned fix, unsigned wide8, unsigned wide16,
                        unsigned wide32) {
  TAFEL_CHECK(count <= 0xFFFFFFFFU, "MessagePack counts have 32 bits");
  if (count < fix_limit) {
    byte(fix | static_cast<unsigned>(count));
  } else if (wide8 != no_form && count <= 0xFFU) {
    put(wide8, count, 1);
  } else if (count <= 0xFFFFU) {
    put(wide16, count, 2);
  } else {
    put(wide32, count, 4);
  }
}

void PackWriter::text(std::string_view value) {
  header(value.size(), 32, 0xA0, 0xD9, 0xDA, 0xDB);
  out_.append(value);
}

void PackWriter::binary(std::string_view value) {
  header(value.size(), 0, no_form, 0xC4, 0xC5, 0xC6);
  out_.append(value);
}

void PackWriter::array(std::size_t count) { header(count, 16, 0x90, no_form, 0xDC, 0xDD); }

void PackWriter::map(std::size_t count) { header(count, 16, 0x80, no_form, 0xDE, 0xDF); }

}  // namespace tafel
