#include "blackboard/seal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.hpp"
#include "common/codec/event_codec.hpp"

namespace tafel::blackboard {

Sealed seal(const std::string& board, const Head& head, const Delta& delta, const conflict::Judgement& judgement,
            const conflict::Stamp& stamp, const Placed& placed) {
  TAFEL_CHECK(!judgement.changes.empty(), "only a delta that changes something takes a version");
  TAFEL_CHECK(placed.cells.size() == judgement.changes.size(), "each change knows its cell before");
  Event event;
  event.board = board;
  event.version = head.version + 1;
  event.time = std::max(stamp.now, head.time);
  event.actor = stamp.actor;
  event.delta_id = delta.id;
  event.base = judgement.base;
  event.atomic = delta.atomic;
  event.source = delta.source;
  event.ops = delta.ops;
  event.results = judgement.results;
  event.payload_hash = delta.payload_hash;
  event.salt = stamp.salt;
  event.previous_hash = head.hash;
  event.digest = head.digest;
  event.fields = placed.fields;
  event.completeness = judgement.completeness;
  for (std::size_t i = 0; i < placed.cells.size(); ++i) {
    const Change& change = judgement.changes[i];
    const CellBefore& before = placed.cells[i];
    event.digest -= before.digest;
    if (change.image) event.digest += before.after ? *before.after : digest_of(change.key, *change.image);
    event.changes.push_back({change, before.previous, before.jump});
  }
  std::string record = codec::seal_event(event);
  return {std::move(event), std::move(record)};
}

Head head_after(const Head& head, const Event& event) {
  Head after = head;
  after.version = event.version;
  after.time = event.time;
  after.hash = event.hash;
  after.digest = event.digest;
  if (takes_fields(event)) after.erased = event.version;
  return after;
}

std::optional<std::string> chain_defect(const Head& head, const Event& event) {
  if (event.version != head.version + 1) {
    return fmt::format("version {} follows version {}", event.version, head.version);
  }
  if (event.previous_hash != head.hash) return fmt::format("version {} does not continue the chain", event.version);
  if (event.time < head.time) return fmt::format("the time of version {} goes back", event.version);
  if (codec::chain_hash(event) != event.hash)
    return fmt::format("the hash of version {} does not fit its content", event.version);
  return std::nullopt;
}

Receipt receipt_of(const Event& event, const std::string& epoch) {
  Receipt receipt;
  receipt.id = event.delta_id;
  receipt.board = event.board;
  receipt.epoch = epoch;
  receipt.version = event.version;
  receipt.ops = event.results;
  receipt.completeness = event.completeness;
  return receipt;
}

FieldInfo field_after(const FieldInfo& before, const Cell* old_image, const Change& change, Version version) {
  if (change.key.part == Part::suggestion) return before;
  if (takes_more(change.key)) return {std::nullopt, version, 0, 0};
  FieldInfo after = before;
  const Cell* new_image = change.image ? &*change.image : nullptr;
  const auto count = [](const Cell* image) { return image != nullptr ? std::uint64_t{1} : 0; };
  const auto count_lasting = [](const Cell* image) {
    return image != nullptr && !may_expire(*image) ? std::uint64_t{1} : 0;
  };
  TAFEL_CHECK(after.parts >= count(old_image) && after.lasting >= count_lasting(old_image),
              "the parts of a field are counted");
  after.parts = after.parts - count(old_image) + count(new_image);
  after.lasting = after.lasting - count_lasting(old_image) + count_lasting(new_image);
  after.changed = version;
  if (change.image) {
    after.kind = kind_of(*change.image);
  } else if (after.parts == 0) {
    after.kind = std::nullopt;
  }
  return after;
}

}  // namespace tafel::blackboard
