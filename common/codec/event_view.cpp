#include "common/codec/event_view.hpp"

#include <array>

#include "common/base/text.hpp"
#include "common/codec/cell_codec.hpp"
#include "common/codec/event_pieces.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/op_codec.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::codec {
namespace {

constexpr char hashed_id_lead = '\xC1';  // see element_id

std::string_view name_of(Part part) {
  constexpr std::array<std::string_view, 6> names{"leaf", "element", "entry", "suggestion", "field", "board"};
  return names[static_cast<std::size_t>(part)];
}

// A set element that is gone tells its value by its id, when that is short.
void add_id(Value& map, const CellKey& key) {
  if (key.part == Part::entry || key.part == Part::suggestion) map.set("id", mark_text(mark_from_id(key.id)));
  if (key.part != Part::element) return;
  if (key.id[0] == hashed_id_lead) {
    map.set("id", to_hex(key.id.substr(1)));
  } else if (auto value = decode(key.id)) {
    map.set("value", std::move(*value));
  }
}

struct CellFields {
  Value& map;

  void dot(const Dot& dot) const {
    map.set("confidence", tafel::name_of(dot.confidence));
    if (dot.expires) map.set("expires", *dot.expires);
  }
  void operator()(const RegisterCell& cell) const {
    const Sibling& shown = shown_sibling(cell);
    map.set("value", shown.value);
    dot(shown.dot);
    List conflicts;
    for (const Sibling& sibling : cell.siblings) {
      if (&sibling != &shown) conflicts.push_back(sibling.value);
    }
    if (!conflicts.empty()) map.set("conflicts", std::move(conflicts));
  }
  void operator()(const CounterCell& cell) const {
    map.set("value", cell.total);
    dot(cell.dot);
  }
  void operator()(const ExtremumCell& cell) const {
    map.set("value", cell.value);
    dot(cell.dot);
  }
  void operator()(const ElementCell& cell) const {
    map.set("value", cell.value);
    dot(cell.dots.front());  // the most confident one
  }
  void operator()(const EntryCell& cell) const {
    map.set("value", cell.value);
    dot(cell.dot);
  }
  void operator()(const SuggestionCell& cell) const {
    map.set("op", tafel::name_of(cell.act));
    map.set("value", cell.value);
    map.set("actor", cell.dot.actor);
    dot(cell.dot);
  }
};

Value describe(const Change& change, bool is_erased) {
  Value map{Map{}};
  map.set("path", change.key.path.text());
  map.set("part", name_of(change.key.part));
  map.set("value", Value());
  if (is_erased) {
    map.set("erased", true);
    return map;
  }
  add_id(map, change.key);
  if (!change.image) {
    map.set("gone", true);
    return map;
  }
  if (const auto kind = kind_of(*change.image)) map.set("kind", tafel::name_of(*kind));
  std::visit(CellFields{map}, *change.image);
  return map;
}

Value describe(const Op& op, bool is_erased) {
  if (!is_erased) return op_to_value(op);
  return Map{{"op", name_of(op.verb)}, {"path", op.path}, {"erased", true}};
}

}  // namespace

Value event_to_map(const Event& event) {
  List ops;
  List results;
  List changes;
  for (std::size_t i = 0; i < event.ops.size(); ++i) ops.push_back(describe(event.ops[i], is_op_erased(event, i)));
  for (const OpResult& result : event.results) results.push_back(op_result_to_value(result));
  for (std::size_t i = 0; i < event.changes.size(); ++i) {
    changes.push_back(describe(event.changes[i].change, is_change_erased(event, i)));
  }
  return Map{{"board", event.board},
             {"version", event.version},
             {"time", event.time},
             {"actor", event.actor},
             {"id", event.delta_id},
             {"base", event.base},
             {"source", source_to_map(event.source)},
             {"ops", std::move(ops)},
             {"results", std::move(results)},
             {"changes", std::move(changes)},
             {"hash", to_hex(as_view(event.hash))},
             {"previous", to_hex(as_view(event.previous_hash))},
             {"digest", to_hex(to_bytes(event.digest))}};
}

Value change_to_map(const FeedEvent& event, const Change& change) {
  Value map = describe(change, false);
  map.set("version", event.version);
  map.set("time", event.time);
  map.set("actor", event.actor);
  return map;
}

}  // namespace tafel::codec
