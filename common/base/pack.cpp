#include "common/base/pack.hpp"

#include <bit>

#include "common/base/check.hpp"

namespace tafel {
namespace {
constexpr unsigned no_form = 0;
}

void PackWriter::big_endian(std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) byte(static_cast<unsigned>((value >> shift) & 0xFFU));
}

void PackWriter::unsigned_integer(std::uint64_t value) {
  if (value < 0x80U) {
    byte(static_cast<unsigned>(value));
  } else if (value <= 0xFFU) {
    byte(0xCC), big_endian(value, 1);
  } else if (value <= 0xFFFFU) {
    byte(0xCD), big_endian(value, 2);
  } else if (value <= 0xFFFFFFFFU) {
    byte(0xCE), big_endian(value, 4);
  } else {
    byte(0xCF), big_endian(value, 8);
  }
}

void PackWriter::integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0) {
    unsigned_integer(bits);
  } else if (value >= -32) {
    byte(static_cast<unsigned>(bits & 0xFFU));
  } else if (value >= INT8_MIN) {
    byte(0xD0), big_endian(bits, 1);
  } else if (value >= INT16_MIN) {
    byte(0xD1), big_endian(bits, 2);
  } else if (value >= INT32_MIN) {
    byte(0xD2), big_endian(bits, 4);
  } else {
    byte(0xD3), big_endian(bits, 8);
  }
}

void PackWriter::number(double value) {
  byte(0xCB);
  big_endian(std::bit_cast<std::uint64_t>(value), 8);
}

void PackWriter::header(std::size_t count, std::size_t fix_limit, unsigned fix, unsigned wide8, unsigned wide16,
                        unsigned wide32) {
  TAFEL_CHECK(count <= 0xFFFFFFFFU, "MessagePack counts have 32 bits");
  if (count < fix_limit) {
    byte(fix | static_cast<unsigned>(count));
  } else if (wide8 != no_form && count <= 0xFFU) {
    byte(wide8), big_endian(count, 1);
  } else if (count <= 0xFFFFU) {
    byte(wide16), big_endian(count, 2);
  } else {
    byte(wide32), big_endian(count, 4);
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
