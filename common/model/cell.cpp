// Byte form of cells (MessagePack; written here, read by codec/cell_codec.cpp). Integers are shortest form.
//
//   key        = [path text, part, id bin]
//   cell       = [0, [sibling…]]                          register
//              | [1, total, dot]                          counter
//              | [2, is_max, value, dot]                  max, min
//              | [3, value, [version, op, place], [dot…]] set element
//              | [4, value, dot]                          log entry
//              | [5, act, value, dot]                     suggestion
//   sibling    = [value, dot]
//   dot        = [version, op, base, confidence, actor, time, expires|nil, source|nil, salt]
//   source     = [kind, ref, [evidence…], trace]
#include "common/model/cell.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/base/bytes.hpp"
#include "common/base/check.hpp"

namespace tafel {
namespace {

constexpr std::size_t element_id_inline_max = 32;
constexpr char hashed_id_lead = '\xC1';

template <class T, class Keep>
std::vector<T> filtered(const std::vector<T>& items, Keep keep) {
  std::vector<T> kept;
  std::copy_if(items.begin(), items.end(), std::back_inserter(kept), keep);
  return kept;
}

void write_dot(PackWriter& out, const Dot& dot) {
  out.array(9);
  out.unsigned_integer(dot.mark.version);
  out.unsigned_integer(dot.mark.op);
  out.unsigned_integer(dot.base);
  out.unsigned_integer(static_cast<std::uint64_t>(dot.confidence));
  out.text(dot.actor);
  out.integer(dot.time);
  dot.expires ? out.integer(*dot.expires) : out.nil();
  dot.source ? write_source(out, *dot.source) : out.nil();
  out.unsigned_integer(dot.salt);
}

struct CellWriter {
  PackWriter& out;
  ValueSink& values;

  void begin(std::size_t items, unsigned tag) const {
    out.array(items);
    out.unsigned_integer(tag);
  }
  void operator()(const RegisterCell& cell) const {
    begin(2, 0);
    out.array(cell.siblings.size());
    for (const Sibling& sibling : cell.siblings) {
      out.array(2);
      values.write(out, sibling.value);
      write_dot(out, sibling.dot);
    }
  }
  void operator()(const CounterCell& cell) const {
    begin(3, 1);
    out.integer(cell.total);
    write_dot(out, cell.dot);
  }
  void operator()(const ExtremumCell& cell) const {
    begin(4, 2);
    out.boolean(cell.is_max);
    values.write(out, cell.value);
    write_dot(out, cell.dot);
  }
  void operator()(const ElementCell& cell) const {
    begin(4, 3);
    values.write(out, cell.value);
    out.array(3);
    out.unsigned_integer(cell.first.version);
    out.unsigned_integer(cell.first.op);
    out.unsigned_integer(cell.place);
    out.array(cell.dots.size());
    for (const Dot& dot : cell.dots) write_dot(out, dot);
  }
  void operator()(const EntryCell& cell) const {
    begin(3, 4);
    values.write(out, cell.value);
    write_dot(out, cell.dot);
  }
  void operator()(const SuggestionCell& cell) const {
    begin(4, 5);
    out.unsigned_integer(static_cast<std::uint64_t>(cell.act));
    values.write(out, cell.value);
    write_dot(out, cell.dot);
  }
};

}  // namespace

void for_each_dot(const Cell& cell, const std::function<void(const Dot&)>& visit) {
  if (const auto* reg = std::get_if<RegisterCell>(&cell)) {
    for (const Sibling& sibling : reg->siblings) visit(sibling.dot);
  } else if (const auto* element = std::get_if<ElementCell>(&cell)) {
    for (const Dot& dot : element->dots) visit(dot);
  } else if (const auto* counter = std::get_if<CounterCell>(&cell)) {
    visit(counter->dot);
  } else if (const auto* extremum = std::get_if<ExtremumCell>(&cell)) {
    visit(extremum->dot);
  } else if (const auto* entry = std::get_if<EntryCell>(&cell)) {
    visit(entry->dot);
  } else {
    visit(std::get<SuggestionCell>(cell).dot);
  }
}

std::string element_id(const Value& value) {
  std::string encoded = canonical(value);
  if (encoded.size() <= element_id_inline_max) return encoded;
  return hashed_id_lead + std::string(as_view(sha256(encoded)));
}

std::string mark_id(const Mark& mark) {
  std::string id;
  put_be64(id, mark.version);
  put_be32(id, mark.op);
  return id;
}

Mark mark_from_id(std::string_view twelve_bytes) {
  TAFEL_CHECK(twelve_bytes.size() == 12, "a mark has 12 bytes");
  return {get_be64(twelve_bytes), get_be32(twelve_bytes.substr(8))};
}

std::string mark_text(const Mark& mark) { return std::to_string(mark.version) + "." + std::to_string(mark.op); }

std::optional<Mark> mark_from_text(std::string_view text) {
  Mark mark;
  const char* const end = text.data() + text.size();
  const auto version = std::from_chars(text.data(), end, mark.version);
  if (version.ec != std::errc() || version.ptr == end || *version.ptr != '.') return std::nullopt;
  const auto op = std::from_chars(version.ptr + 1, end, mark.op);
  if (op.ec != std::errc() || op.ptr != end || mark_text(mark) != text) return std::nullopt;
  return mark;
}

std::string_view name_of(SuggestionCell::Act act) {
  constexpr std::array<std::string_view, 3> names{"set", "remove", "unset"};
  return names[static_cast<std::size_t>(act)];
}

std::optional<Kind> kind_of(const Cell& cell) {
  if (std::holds_alternative<RegisterCell>(cell)) return Kind::register_;
  if (std::holds_alternative<CounterCell>(cell)) return Kind::counter;
  if (const auto* extremum = std::get_if<ExtremumCell>(&cell)) return extremum->is_max ? Kind::max : Kind::min;
  if (std::holds_alternative<ElementCell>(cell)) return Kind::set;
  if (std::holds_alternative<EntryCell>(cell)) return Kind::log;
  return std::nullopt;
}

std::optional<Cell> without_expired(const Cell& cell, TimeMs now) {
  if (const auto* reg = std::get_if<RegisterCell>(&cell)) {
    RegisterCell kept{filtered(reg->siblings, [now](const Sibling& sibling) { return !sibling.dot.is_expired(now); })};
    if (kept.siblings.empty()) return std::nullopt;
    return kept;
  }
  if (const auto* element = std::get_if<ElementCell>(&cell)) {
    ElementCell kept = *element;
    kept.dots = filtered(element->dots, [now](const Dot& dot) { return !dot.is_expired(now); });
    if (kept.dots.empty()) return std::nullopt;
    return kept;
  }
  bool expired = false;
  for_each_dot(cell, [&](const Dot& dot) { expired = expired || dot.is_expired(now); });
  if (expired) return std::nullopt;
  return cell;
}

bool may_expire(const Cell& cell) {
  bool found = false;
  for_each_dot(cell, [&](const Dot& dot) { found = found || dot.expires.has_value(); });
  return found;
}

const Sibling& shown_sibling(const RegisterCell& cell) {
  TAFEL_CHECK(!cell.siblings.empty(), "a register that is there has a value");
  return *std::max_element(cell.siblings.begin(), cell.siblings.end(), [](const Sibling& a, const Sibling& b) {
    return a.dot.base != b.dot.base ? a.dot.base < b.dot.base : a.dot.mark < b.dot.mark;
  });
}

void write_source(PackWriter& out, const Source& source) {
  out.array(4);
  out.text(source.kind);
  out.text(source.ref);
  out.array(source.evidence.size());
  for (const std::string& item : source.evidence) out.text(item);
  out.text(source.trace);
}

void write_cell(PackWriter& out, const Cell& cell, ValueSink& values) { std::visit(CellWriter{out, values}, cell); }

void write_cell_key(PackWriter& out, const CellKey& key) {
  out.array(3);
  out.text(key.path.text());
  out.unsigned_integer(static_cast<std::uint64_t>(key.part));
  out.binary(key.id);
}

Sum128 digest_of(const CellKey& key, const Cell& cell) {
  std::string bytes;
  PackWriter out(bytes);
  CanonicalSink values;
  write_cell_key(out, key);
  write_cell(out, cell, values);
  return sum_of(bytes);
}

}  // namespace tafel
