#include "common/codec/msgpack.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <msgpack.hpp>

#include "common/base/text.hpp"
#include "common/codec/value_builder.hpp"

namespace tafel::codec {
namespace {

// What msgpack::parse calls, item by item. Each declared item takes at least one byte of the input and one object of
// the budget, and both are charged when it is declared: a header of five bytes that declares 2^32 items is refused
// before a reservation.
class Visitor {
 public:
  Visitor(std::size_t bytes, const DecodeLimits& limits)
      : bytes_(bytes), objects_max_(limits.objects_max), builder_(limits.depth_max) {}

  bool visit_nil() { return put(Value()); }
  bool visit_boolean(bool value) { return put(Value(value)); }
  bool visit_positive_integer(std::uint64_t value) { return put(Value(value)); }
  bool visit_negative_integer(std::int64_t value) { return put(Value(value)); }
  bool visit_float32(float value) { return visit_float64(static_cast<double>(value)); }
  bool visit_float64(double value) {
    if (!std::isfinite(value)) return builder_.refuse("not a finite number (NaN or infinity)");
    return put(Value(value));
  }
  bool visit_str(const char* data, std::uint32_t size);
  bool visit_bin(const char* data, std::uint32_t size);
  bool visit_ext(const char*, std::uint32_t) {
    return builder_.refuse("an extension type; only the plain types are understood");
  }

  bool start_array(std::uint32_t count) { return start(count, count) && builder_.begin_list(count); }
  bool start_array_item() { return true; }
  bool end_array_item() { return true; }
  bool end_array() { return builder_.end(); }

  bool start_map(std::uint32_t count) { return start(count, std::uint64_t{count} * 2) && builder_.begin_map(count); }
  bool start_map_key() { return at_key_ = true; }
  bool end_map_key() { return true; }
  bool start_map_value() { return true; }
  bool end_map_value() { return true; }
  bool end_map() { return builder_.end(); }

  void parse_error(std::size_t, std::size_t) { builder_.refuse("a byte that begins no MessagePack value"); }
  void insufficient_bytes(std::size_t, std::size_t) { builder_.refuse("the bytes end inside a value"); }

  const std::string& error() const { return builder_.error(); }
  Value take() { return builder_.take(); }

 private:
  bool put(Value value);
  bool start(std::uint32_t count, std::uint64_t parts);

  std::size_t bytes_;
  std::uint64_t needed_ = 1;    // bytes that the input must have, by what it declared so far
  std::uint64_t declared_ = 1;  // objects; the root is one
  std::uint64_t objects_max_;
  bool at_key_ = false;
  ValueBuilder builder_;
};

bool Visitor::visit_str(const char* data, std::uint32_t size) {
  const std::string_view text(data, size);
  needed_ += size;
  if (!is_utf8(text)) return builder_.refuse("text that is not valid UTF-8");
  if (!at_key_) return put(Value(text));
  at_key_ = false;
  return builder_.key(std::string(text));
}

bool Visitor::visit_bin(const char* data, std::uint32_t size) {
  needed_ += size;
  return put(Value(Bytes{std::string(data, size)}));
}

bool Visitor::put(Value value) {
  if (at_key_) return builder_.refuse("a map key that is not text");
  return builder_.put(std::move(value));
}

bool Visitor::start(std::uint32_t count, std::uint64_t parts) {
  if (at_key_) return builder_.refuse("a map key that is not text");
  needed_ += parts;
  declared_ += parts;
  if (needed_ > bytes_) return builder_.refuse(fmt::format("a count of {} is larger than the bytes left", count));
  if (declared_ > objects_max_)
    return builder_.refuse(fmt::format("more than {} objects in one message", objects_max_));
  return true;
}

Result<Value> parse(std::string_view bytes, const DecodeLimits& limits) {
  Visitor visitor(bytes.size(), limits);
  std::size_t offset = 0;
  const bool parsed = msgpack::parse(bytes.data(), bytes.size(), offset, visitor);
  if (!parsed) return fail(Fault::bad_bytes, fmt::format("MessagePack, near byte {}: {}", offset, visitor.error()));
  if (offset != bytes.size()) {
    return fail(Fault::bad_bytes,
                fmt::format("MessagePack, byte {}: {} bytes follow the value", offset, bytes.size() - offset));
  }
  return visitor.take();
}

}  // namespace

Result<Value> decode(std::string_view bytes, const DecodeLimits& limits) {
  try {
    return parse(bytes, limits);
  } catch (const std::exception& error) {  // no memory, or a refusal inside the library
    return fail(Fault::bad_bytes, fmt::format("MessagePack cannot be read: {}", error.what()));
  }
}

std::string encode(const Value& value) {
  std::string bytes;
  PackWriter out(bytes);
  write_exact(out, value);
  return bytes;
}

}  // namespace tafel::codec
