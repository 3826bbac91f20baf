// The door of the SDK: a delta is encoded once, here, and what could not even be read at the other end is refused at
// once, with the verdict that the server would give. So one delta cannot spoil a message that carries others. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <tl/expected.hpp>

#include "common/model/delta.hpp"
#include "common/model/receipt.hpp"

namespace tafel::sdk {

struct EncodedDelta {
  std::string bytes;
  std::size_t objects = 0;
};

// `bytes_max`: what the server takes in one message, less the envelope.
tl::expected<EncodedDelta, ErrorInfo> encode_delta(const Delta& delta, std::size_t bytes_max);

ErrorInfo too_large_delta(std::size_t bytes, std::size_t bytes_max);

}  // namespace tafel::sdk
