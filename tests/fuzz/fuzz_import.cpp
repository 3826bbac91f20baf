// Text that claims to be an export: as it is, and with its events sealed anew, so that the chain does not shield what
// lies behind it. Whatever is taken is sound, and what is refused leaves nothing.
#include <sstream>

#include "blackboard/store/deep_verify.hpp"
#include "blackboard/store/import.hpp"
#include "blackboard/store/memory_kv.hpp"
#include "blackboard/store/store.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/json.hpp"
#include "tests/fuzz/invariant.hpp"

namespace {

using namespace tafel;

using Lines = std::vector<std::string>;

void take(const Lines& lines) {
  const auto kv = store::open_memory(store::make_memory_disk());
  SeededRandom random(1);
  TAFEL_CHECK(store::prepare_store(*kv, random), "an empty store is prepared");
  auto at = lines.begin();
  const auto taken = store::import_boards(*kv, random, 1000, [&]() -> Result<std::optional<std::string>> {
    return at == lines.end() ? std::optional<std::string>() : std::optional(*at++);
  });
  if (!taken) TAFEL_CHECK(taken.error().message.starts_with("line "), "a failure names the line");
  const auto found = store::verify_deep(**kv->read());
  TAFEL_CHECK(found && found->defects.empty(), "what was taken is sound");
}

// Gives the board line at `head` the values of its last event.
void fit(Lines& lines, std::size_t head, const Event& last) {
  auto value = codec::parse_json(lines[head]);
  if (!value || value->get_if<Map>() == nullptr) return;
  value->set("version", last.version);
  value->set("time", last.time);
  value->set("hash", to_hex(as_view(last.hash)));
  value->set("digest", to_hex(to_bytes(last.digest)));
  lines[head] = codec::to_json(*value);
}

Lines sealed_anew(Lines lines) {
  Sha256 previous{};
  std::optional<std::size_t> head;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto value = codec::parse_json(lines[i]);
    const Value* kind = value && value->get_if<Map>() != nullptr ? value->find("line") : nullptr;
    if (kind == nullptr) continue;
    if (*kind == Value("board")) head = i;
    const Value* record = value->find("record");
    const auto* text = record == nullptr ? nullptr : record->get_if<std::string>();
    const auto bytes = text == nullptr ? std::nullopt : from_base64(*text);
    auto event = bytes ? codec::decode_event(*bytes) : Result<Event>(fail(Fault::bad_bytes, "no event"));
    if (!event || !head) continue;
    event->previous_hash = event->version == 1 ? Sha256{} : previous;
    event->hash = previous = codec::chain_hash(*event);
    value->set("record", to_base64(codec::encode_event(*event)));
    lines[i] = codec::to_json(*value);
    fit(lines, *head, *event);
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream text{std::string(fuzz::as_text(data, size))};
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(std::move(line));
  take(lines);
  take(sealed_anew(std::move(lines)));
  return 0;
}
