// Bytes that claim to be a log record, a feed event, a cell or a key.
#include "common/codec/cell_codec.hpp"
#include "common/codec/event_pieces.hpp"
#include "common/codec/event_view.hpp"
#include "common/codec/json.hpp"
#include "tests/fuzz/invariant.hpp"

namespace {

using namespace tafel;

void check_record(std::string_view bytes) {
  const auto event = codec::decode_event(bytes);
  if (!event) return fuzz::check_message(event.error().message);
  const std::string record = codec::encode_event(*event);
  const auto again = codec::decode_event(record);
  TAFEL_CHECK(again && codec::encode_event(*again) == record, "a record is read back as itself");
  TAFEL_CHECK(codec::chain_hash(*again) == codec::chain_hash(*event), "a record keeps its hash");
  TAFEL_CHECK(!codec::to_json(codec::event_to_map(*event)).empty(), "an event can be shown");
}

void check_feed_event(const Value& value) {
  const auto event = codec::feed_event_from_value(value);
  if (!event) return fuzz::check_message(event.error().message);
  const std::string bytes = codec::encode_feed_event(*event);
  const auto again = codec::feed_event_from_value(*codec::decode(bytes));
  TAFEL_CHECK(again && codec::encode_feed_event(*again) == bytes, "a feed event is read back as itself");
  for (const Change& change : event->changes) codec::change_to_map(*event, change);
}

void check_cell(const Value& value) {
  const auto cell = codec::cell_from_value(value);
  if (!cell) return fuzz::check_message(cell.error().message);
  std::string bytes;
  PackWriter out(bytes);
  ExactSink values;
  write_cell(out, *cell, values);
  const auto again = codec::cell_from_value(*codec::decode(bytes));
  TAFEL_CHECK(again && digest_of(leaf_key(*Path::parse("a")), *again) == digest_of(leaf_key(*Path::parse("a")), *cell),
              "a cell is read back as itself");
  without_expired(*cell, 0);
}

void check_key(const Value& value) {
  const auto key = codec::cell_key_from_value(value);
  if (!key) return fuzz::check_message(key.error().message);
  std::string bytes;
  PackWriter out(bytes);
  write_cell_key(out, *key);
  TAFEL_CHECK(codec::cell_key_from_value(*codec::decode(bytes)) == *key, "a key is read back as itself");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::as_text(data, size);
  check_record(bytes);
  const auto value = codec::decode(bytes);
  if (!value) return 0;
  check_feed_event(*value);
  check_cell(*value);
  check_key(*value);
  return 0;
}
