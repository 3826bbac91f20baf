#include "common/codec/cell_codec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/codec/fields.hpp"

namespace tafel::codec {
namespace {

constexpr std::uint64_t confidence_max = static_cast<std::uint64_t>(confidence_highest);
constexpr std::size_t element_id_bytes_max = 33;
constexpr std::size_t mark_id_bytes = 12;

std::uint32_t read_32(ItemReader& in, std::string_view name) {
  return static_cast<std::uint32_t>(in.number(name, UINT32_MAX));
}

Result<std::shared_ptr<const Source>> shared_source(const Value& value) {
  if (value.is_nil()) return nullptr;
  auto source = source_from_value(value);
  if (!source) return tl::unexpected(std::move(source.error()));
  return std::make_shared<const Source>(std::move(*source));
}

Result<std::optional<TimeMs>> optional_time(const Value& value) {
  if (value.is_nil()) return std::nullopt;
  if (const auto time = value.as_int64()) return *time;
  return fail(Fault::bad_bytes, "a dot: expires must be an integer or nil");
}

Result<Dot> dot_from_value(const Value& value) {
  ItemReader in(value, "a dot", 9);
  Dot dot;
  dot.mark.version = in.number("version");
  dot.mark.op = read_32(in, "op");
  dot.base = in.number("base");
  dot.confidence = static_cast<Confidence>(in.number("confidence", confidence_max));
  dot.actor = in.text("actor");
  dot.time = in.integer("time");
  dot.expires = in.part(optional_time);
  dot.source = in.part(shared_source);
  dot.salt = in.number("salt");
  return in.finish(std::move(dot));
}

Result<Sibling> sibling_from_value(const Value& value) {
  ItemReader in(value, "a sibling", 2);
  Sibling sibling;
  sibling.value = in.item();
  sibling.dot = in.part(dot_from_value);
  return in.finish(std::move(sibling));
}

template <class T>
Result<std::vector<T>> parts_from_value(const Value& value, Result<T> (*read)(const Value&)) {
  const auto* list = value.get_if<List>();
  if (list == nullptr || list->empty())
    return fail(Fault::bad_bytes, "a cell: its parts must be a list that is not empty");
  std::vector<T> parts;
  for (const Value& item : *list) {
    Result<T> part = read(item);
    if (!part) return tl::unexpected(std::move(part.error()));
    parts.push_back(std::move(*part));
  }
  return parts;
}

Result<std::vector<Sibling>> siblings_from_value(const Value& value) {
  auto siblings = parts_from_value(value, sibling_from_value);
  const auto disordered = [](const Sibling& a, const Sibling& b) { return a.dot.mark >= b.dot.mark; };
  if (siblings && std::adjacent_find(siblings->begin(), siblings->end(), disordered) != siblings->end()) {
    return fail(Fault::bad_bytes, "a register: its siblings must ascend");
  }
  return siblings;
}

Result<std::vector<Dot>> dots_from_value(const Value& value) {
  auto dots = parts_from_value(value, dot_from_value);
  const auto disordered = [](const Dot& a, const Dot& b) { return a.mark >= b.mark || a.confidence <= b.confidence; };
  if (dots && std::adjacent_find(dots->begin(), dots->end(), disordered) != dots->end()) {
    return fail(Fault::bad_bytes, "a set element: its dots must ascend and their confidences descend");
  }
  return dots;
}

Result<Cell> register_from(const Value& value) {
  ItemReader in(value, "a register", 2);
  in.item();
  RegisterCell cell{in.part(siblings_from_value)};
  return in.finish(Cell(std::move(cell)));
}

Result<Cell> counter_from(const Value& value) {
  ItemReader in(value, "a counter", 3);
  in.item();
  CounterCell cell;
  cell.total = in.integer("total");
  cell.dot = in.part(dot_from_value);
  return in.finish(Cell(std::move(cell)));
}

Result<Cell> extremum_from(const Value& value) {
  ItemReader in(value, "a max or min", 4);
  in.item();
  ExtremumCell cell;
  cell.is_max = in.boolean("is_max");
  cell.value = in.item();
  if (!cell.value.is_number()) in.refuse("value", "a number");
  cell.dot = in.part(dot_from_value);
  return in.finish(Cell(std::move(cell)));
}

struct FirstPlace {
  Mark mark;
  std::uint32_t place = 0;
};

Result<FirstPlace> place_from(const Value& value) {
  ItemReader in(value, "the place of a set element", 3);
  FirstPlace first;
  first.mark.version = in.number("version");
  first.mark.op = read_32(in, "op");
  first.place = read_32(in, "place");
  return in.finish(first);
}

Result<Cell> element_from(const Value& value) {
  ItemReader in(value, "a set element", 4);
  in.item();
  ElementCell cell;
  cell.value = in.item();
  const FirstPlace first = in.part(place_from);
  cell.first = first.mark;
  cell.place = first.place;
  cell.dots = in.part(dots_from_value);
  return in.finish(Cell(std::move(cell)));
}

Result<Cell> entry_from(const Value& value) {
  ItemReader in(value, "a log entry", 3);
  in.item();
  EntryCell cell;
  cell.value = in.item();
  cell.dot = in.part(dot_from_value);
  return in.finish(Cell(std::move(cell)));
}

Result<Cell> suggestion_from(const Value& value) {
  ItemReader in(value, "a suggestion", 4);
  in.item();
  SuggestionCell cell;
  cell.act = static_cast<SuggestionCell::Act>(in.number("act", 2));
  cell.value = in.item();
  cell.dot = in.part(dot_from_value);
  if (cell.act == SuggestionCell::Act::remove && cell.value.get_if<List>() == nullptr)
    in.refuse("value", "a list of elements");
  return in.finish(Cell(std::move(cell)));
}

Result<Path> path_from(const Value& value) {
  const auto* text = value.get_if<std::string>();
  if (text == nullptr) return fail(Fault::bad_bytes, "a cell key: path must be text");
  return Path::parse(*text);
}

bool fits(Part part, const Path& path, const std::string& id) {
  switch (part) {
    case Part::leaf:
    case Part::field: return id.empty();
    case Part::board: return id.empty() && path.text() == board_path;
    case Part::element: return !id.empty() && id.size() <= element_id_bytes_max;
    case Part::entry:
    case Part::suggestion: return id.size() == mark_id_bytes;
  }
  return false;
}

// Reads a member of a source's map into `target` when it is there.
void read_text(MemberReader& in, std::string_view name, std::string& target) { target = in.text_or(name, ""); }

std::optional<std::string> unknown_source_member(const Value& value) {
  for (const auto& [key, member] : *value.get_if<Map>()) {
    if (key != "kind" && key != "ref" && key != "evidence" && key != "trace") return key;
  }
  return std::nullopt;
}

}  // namespace

Result<Cell> cell_from_value(const Value& value) {
  const auto* items = value.get_if<List>();
  const auto tag = items == nullptr || items->empty() ? std::nullopt : as_uint64(items->front());
  switch (tag.value_or(UINT64_MAX)) {
    case 0: return register_from(value);
    case 1: return counter_from(value);
    case 2: return extremum_from(value);
    case 3: return element_from(value);
    case 4: return entry_from(value);
    case 5: return suggestion_from(value);
    default: return fail(Fault::bad_bytes, "a cell: it must be a list that begins with a number from 0 to 5");
  }
}

Result<CellKey> cell_key_from_value(const Value& value) {
  const auto* items = value.get_if<List>();
  if (items == nullptr || items->size() != 3) return fail(Fault::bad_bytes, "a cell key: it must be a list of 3 items");
  auto path = path_from(items->front());
  if (!path) return tl::unexpected(std::move(path.error()));
  ItemReader in(value, "a cell key", 3);
  in.item();
  CellKey key{std::move(*path), static_cast<Part>(in.number("part", static_cast<std::uint64_t>(Part::board))),
              in.bytes("id")};
  if (!fits(key.part, key.path, key.id)) in.refuse("id", "as long as its part asks for");
  return in.finish(std::move(key));
}

Result<Source> source_from_value(const Value& value) {
  ItemReader in(value, "a source", 4);
  Source source;
  source.kind = in.text("kind");
  source.ref = in.text("ref");
  source.evidence = in.texts("evidence");
  source.trace = in.text("trace");
  return in.finish(std::move(source));
}

Value source_to_map(const Source& source) {
  Value map{Map{}};
  if (!source.kind.empty()) map.set("kind", source.kind);
  if (!source.ref.empty()) map.set("ref", source.ref);
  if (!source.evidence.empty()) map.set("evidence", List(source.evidence.begin(), source.evidence.end()));
  if (!source.trace.empty()) map.set("trace", source.trace);
  return map;
}

Result<Source> source_from_map(const Value& value) {
  MemberReader in(value, "source");
  if (in.failed()) return in.finish(Source{});
  if (const auto unknown = unknown_source_member(value)) {
    return fail(Fault::bad_bytes, fmt::format("source: unknown member {}; it may have kind, ref, evidence and trace",
                                              brief(Value(*unknown))));
  }
  Source source;
  read_text(in, "kind", source.kind);
  read_text(in, "ref", source.ref);
  source.evidence = in.texts_or_none("evidence");
  read_text(in, "trace", source.trace);
  return in.finish(std::move(source));
}

}  // namespace tafel::codec
