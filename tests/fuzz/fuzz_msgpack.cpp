// Bytes of a stranger: a value or a refusal; a value survives every encoding of ours.
#include "common/codec/json.hpp"
#include "tests/fuzz/invariant.hpp"

namespace {

using namespace tafel;

void check_value(const Value& value) {
  const auto again = codec::decode(codec::encode(value));
  TAFEL_CHECK(again && fuzz::identical(*again, value), "decode is the inverse of encode");
  const auto canonical_value = codec::decode(canonical(value));
  TAFEL_CHECK(canonical_value && *canonical_value == value, "the canonical form is equal");
  TAFEL_CHECK(canonical(*canonical_value) == canonical(value), "the canonical form is stable");
  const auto json = codec::parse_json(codec::to_json(value));
  TAFEL_CHECK(json && fuzz::identical(*json, value), "JSON keeps every value");
  fuzz::check_message(brief(value) + ".");
  if (const auto defect = find_defect(value)) fuzz::check_message(defect->message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = codec::decode(fuzz::as_text(data, size));
  if (value) {
    check_value(*value);
  } else {
    fuzz::check_message(value.error().message);
  }
  return 0;
}
