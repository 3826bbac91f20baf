// A line of JSON that claims to be a delta: a delta or a refusal that a model can read; a delta is read back as itself.
#include <algorithm>

#include "common/base/limits.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/codec/receipt_codec.hpp"
#include "tests/fuzz/invariant.hpp"

namespace {

using namespace tafel;

void check_refusal(const ErrorInfo& error) {
  fuzz::check_message(error.message);
  const auto again = codec::error_from_value(codec::error_to_value(error));
  TAFEL_CHECK(again && again->code == error.code && again->op == error.op && again->path == error.path,
              "an error can be sent");
  TAFEL_CHECK(
      error.code == ErrorCode::bad_value || error.code == ErrorCode::bad_path || error.code == ErrorCode::too_large,
      "a decoder knows three refusals");
}

void check_delta(const Delta& delta) {
  TAFEL_CHECK(delta.ops.size() <= limits::delta_ops_max, "a delta has a bounded number of ops");
  for (const Op& op : delta.ops) {
    if (op.malformed) fuzz::check_message(op.malformed->message);
  }
  const Value value = codec::delta_to_value(delta);
  const auto again = codec::delta_from_value(value);
  // Tests of one path that stood in the list of ops may not fit back into it.
  if (value.find("ops")->get_if<List>()->size() > limits::delta_ops_max) return;
  TAFEL_CHECK(again && again->payload_hash == delta.payload_hash && again->id == delta.id,
              "a delta is read back as itself");
  TAFEL_CHECK(fuzz::identical(codec::delta_to_value(*again), value), "a delta has one form");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto delta = codec::delta_from_json(fuzz::as_text(data, size));
  if (delta) {
    check_delta(*delta);
  } else {
    check_refusal(delta.error());
  }
  return 0;
}
