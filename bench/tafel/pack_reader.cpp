#include "bench/tafel/pack_reader.hpp"

namespace tafel::bench {

void PackReader::fail() {
  failed_ = true;
  left_ = {};
}

unsigned char PackReader::take() {
  if (left_.empty()) {
    fail();
    return 0;
  }
  const auto byte = static_cast<unsigned char>(left_.front());
  left_.remove_prefix(1);
  return byte;
}

std::uint64_t PackReader::take_big_endian(unsigned bytes) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < bytes; ++i) number = number << 8 | take();
  return failed_ ? 0 : number;
}

std::string_view PackReader::take_bytes(std::uint64_t count) {
  if (left_.size() < count) {
    fail();
    return {};
  }
  const std::string_view bytes = left_.substr(0, count);
  left_.remove_prefix(count);
  return bytes;
}

std::uint64_t PackReader::array() {
  const unsigned char form = take();
  if ((form & 0xF0) == 0x90) return form & 0x0F;
  if (form == 0xDC) return take_big_endian(2);
  if (form == 0xDD) return take_big_endian(4);
  fail();
  return 0;
}

std::uint64_t PackReader::map() {
  const unsigned char form = take();
  if ((form & 0xF0) == 0x80) return form & 0x0F;
  if (form == 0xDE) return take_big_endian(2);
  if (form == 0xDF) return take_big_endian(4);
  fail();
  return 0;
}

std::string_view PackReader::text() {
  const unsigned char form = take();
  if ((form & 0xE0) == 0xA0) return take_bytes(form & 0x1F);
  if (form >= 0xD9 && form <= 0xDB) return take_bytes(take_big_endian(1U << (form - 0xD9)));
  fail();
  return {};
}

std::uint64_t PackReader::unsigned_integer() {
  const unsigned char form = take();
  if (form < 0x80) return form;
  if (form >= 0xCC && form <= 0xCF) return take_big_endian(1U << (form - 0xCC));
  fail();
  return 0;
}

bool PackReader::boolean() {
  const unsigned char form = take();
  if (form != 0xC2 && form != 0xC3) fail();
  return form == 0xC3;
}

bool PackReader::take_nil() {
  if (left_.empty() || static_cast<unsigned char>(left_.front()) != 0xC0) return false;
  left_.remove_prefix(1);
  return true;
}

void PackReader::skip() {
  for (std::uint64_t items = 1; items > 0 && !failed_; --items) {
    const unsigned char form = take();
    if (form < 0x80 || form >= 0xE0) continue;  // small integers
    if (form < 0x90) {
      items += 2 * (form & 0x0FU);
    } else if (form < 0xA0) {
      items += form & 0x0FU;
    } else if (form < 0xC0) {
      take_bytes(form & 0x1F);
    } else {
      switch (form) {
        case 0xC0:
        case 0xC2:
        case 0xC3: break;
        case 0xC4:
        case 0xC5:
        case 0xC6: take_bytes(take_big_endian(1U << (form - 0xC4))); break;
        case 0xCA: take_bytes(4); break;
        case 0xCB: take_bytes(8); break;
        case 0xCC:
        case 0xCD:
        case 0xCE:
        case 0xCF: take_bytes(1ULL << (form - 0xCC)); break;
        case 0xD0:
        case 0xD1:
        case 0xD2:
        case 0xD3: take_bytes(1ULL << (form - 0xD0)); break;
        case 0xD9:
        case 0xDA:
        case 0xDB: take_bytes(take_big_endian(1U << (form - 0xD9))); break;
        case 0xDC: items += take_big_endian(2); break;
        case 0xDD: items += take_big_endian(4); break;
        case 0xDE: items += 2 * take_big_endian(2); break;
        case 0xDF: items += 2 * take_big_endian(4); break;
        default: fail();  // ext types are not part of the protocol
      }
    }
  }
}

}  // namespace tafel::bench
