#include "agents_sdk/cpp/encode.hpp"

#include <fmt/format.h>

#include "common/base/limits.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/msgpack.hpp"

namespace tafel::sdk {
namespace {

constexpr std::size_t objects_max = limits::message_objects_max - 8;  // the envelope of a submit is a few

// As the decoder counts them: keys too.
std::size_t count_objects(const Value& value) {
  std::size_t count = 1;
  if (const auto* list = value.get_if<List>()) {
    for (const Value& item : *list) count += count_objects(item);
  } else if (const auto* map = value.get_if<Map>()) {
    for (const auto& [key, member] : *map) count += 1 + count_objects(member);
  }
  return count;
}

// Sizes are the server's business: it may judge the ops of a delta one by one.
std::optional<std::string> unreadable(const Value& value) {
  auto defect = find_defect(value);
  if (!defect || defect->too_large) return std::nullopt;
  return std::move(defect->message);
}

std::optional<std::string> unreadable(const std::vector<Value>& values) {
  for (const Value& value : values) {
    if (auto defect = unreadable(value)) return defect;
  }
  return std::nullopt;
}

std::optional<std::string> unreadable(const Op& op) {
  if (auto defect = unreadable(Value(op.path))) return "the path is " + *defect;
  if (auto defect = unreadable(op.value)) return defect;
  if (auto defect = unreadable(op.add)) return defect;
  if (auto defect = unreadable(op.remove)) return defect;
  return op.reset ? unreadable(*op.reset) : std::nullopt;
}

// `reason`: what the decoder says, for what cannot be blamed on an op.
ErrorInfo bad_value(const Delta& delta, const std::string& reason) {
  ErrorInfo error;
  error.code = ErrorCode::bad_value;
  error.message = reason;
  for (std::size_t i = 0; i < delta.ops.size(); ++i) {
    if (auto defect = unreadable(delta.ops[i])) {
      error.op = i;
      if (!unreadable(Value(delta.ops[i].path))) error.path = delta.ops[i].path;
      error.message = fmt::format("op {}: {}", i, *defect);
      break;
    }
  }
  return error;
}

}  // namespace

tl::expected<EncodedDelta, ErrorInfo> encode_delta(const Delta& delta, std::size_t bytes_max) {
  const Value value = codec::delta_to_value(delta);
  EncodedDelta encoded{codec::encode(value), count_objects(value)};
  if (encoded.bytes.size() > bytes_max) return tl::unexpected(too_large_delta(encoded.bytes.size(), bytes_max));
  if (encoded.objects > objects_max) {
    ErrorInfo error;
    error.code = ErrorCode::too_large;
    error.message = fmt::format("the delta has {} items and members; at most {} are allowed: split it", encoded.objects,
                                objects_max);
    return tl::unexpected(std::move(error));
  }
  const auto read = codec::decode(encoded.bytes);
  if (!read) return tl::unexpected(bad_value(delta, read.error().message));
  auto back = codec::delta_from_value(*read);
  if (!back) return tl::unexpected(std::move(back.error()));
  return encoded;
}

ErrorInfo too_large_delta(std::size_t bytes, std::size_t bytes_max) {
  ErrorInfo error;
  error.code = ErrorCode::too_large;
  error.message = fmt::format("the delta has {} bytes; the server takes {}: split it, or make its values smaller",
                              bytes, bytes_max);
  error.expected = Value(std::uint64_t{bytes_max});
  error.found = Value(std::uint64_t{bytes});
  return error;
}

}  // namespace tafel::sdk
