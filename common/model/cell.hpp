// Cells: the records that make up the state of a board. A register, counter, max or min is one cell; each set element,
// each log entry and each held suggestion is a cell of its own. A change is an after-image: a cell key with the new
// cell, or gone.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/hash.hpp"
#include "common/model/delta.hpp"
#include "common/model/names.hpp"
#include "common/model/value.hpp"

namespace tafel {

// Which part of a field a cell is. Stored and sent: do not renumber.
// The last two are in changes only: all cells of the field at once, as erasure takes them, and all cells of the board.
enum class Part : std::uint8_t { leaf = 0, element = 1, entry = 2, suggestion = 3, field = 4, board = 5 };

struct CellKey {
  Path path;
  Part part = Part::leaf;
  std::string id;  // leaf, field, board: empty; element: element_id(value); entry, suggestion: mark_id(version, op)

  friend bool operator==(const CellKey&, const CellKey&) = default;
  friend std::strong_ordering operator<=>(const CellKey&, const CellKey&) = default;
};

// The canonical encoding of an element where that is at most 32 bytes, else 0xC1 (a byte that begins no MessagePack
// value) and the SHA-256 of the encoding. At most 33 bytes; equal exactly for equal values.
std::string element_id(const Value& value);

// The place of a write: version of its delta and index of its op. Ordered; 12 bytes big-endian as an id; "5.0" as text.
struct Mark {
  Version version = 0;
  std::uint32_t op = 0;
  friend auto operator<=>(const Mark&, const Mark&) = default;
};
std::string mark_id(const Mark& mark);
Mark mark_from_id(std::string_view twelve_bytes);
std::string mark_text(const Mark& mark);
std::optional<Mark> mark_from_text(std::string_view text);

inline CellKey leaf_key(const Path& path) { return {path, Part::leaf, {}}; }
inline CellKey field_key(const Path& path) { return {path, Part::field, {}}; }
// Always at `$board`.
inline CellKey board_key() { return {*Path::parse(board_path), Part::board, {}}; }
inline CellKey element_key(const Path& path, const Value& value) { return {path, Part::element, element_id(value)}; }
inline CellKey entry_key(const Path& path, const Mark& mark) { return {path, Part::entry, mark_id(mark)}; }
inline CellKey suggestion_key(const Path& path, const Mark& mark) { return {path, Part::suggestion, mark_id(mark)}; }

// One surviving write.
struct Dot {
  Mark mark;         // version and op index
  Version base = 0;  // what its writer had seen
  Confidence confidence = Confidence::stated;
  std::string actor;
  std::shared_ptr<const Source> source;  // null when none was given
  TimeMs time = 0;                       // of its event
  std::optional<TimeMs> expires;         // absent from then on
  std::uint64_t salt = 0;                // by chance: without it, no value can be guessed from a digest

  Version version() const { return mark.version; }
  bool is_expired(TimeMs now) const { return expires && *expires <= now; }
};

struct Sibling {
  Value value;
  Dot dot;
};

struct RegisterCell {
  std::vector<Sibling> siblings;  // never empty; ascending by mark
};

struct CounterCell {
  std::int64_t total = 0;
  Dot dot;  // of the last change, with the highest confidence written
};

struct ExtremumCell {  // max or min
  bool is_max = true;
  Value value;  // a number
  Dot dot;      // of the write that moved it last, with the highest confidence written
};

struct ElementCell {
  Value value;
  Mark first;               // of the addition that made it present
  std::uint32_t place = 0;  // among the elements which that op added
  std::vector<Dot> dots;    // never empty, ascending by mark, confidences strictly descending
};

struct EntryCell {
  Value value;
  Dot dot;  // dot.mark is its key
};

struct SuggestionCell {
  enum class Act : std::uint8_t { set = 0, remove = 1, unset = 2 };
  Act act = Act::set;
  Value value;  // set: the value; remove: the list of elements; unset: nil
  Dot dot;      // dot.mark is its id
};

using Cell = std::variant<RegisterCell, CounterCell, ExtremumCell, ElementCell, EntryCell, SuggestionCell>;
using CellPointer = std::shared_ptr<const Cell>;  // null: there is no such cell
inline std::optional<Cell> copy_of(const CellPointer& cell) { return cell ? std::optional(*cell) : std::nullopt; }

std::string_view name_of(SuggestionCell::Act act);

// The kind of the field that a leaf, element or entry cell makes; nullopt for a suggestion.
std::optional<Kind> kind_of(const Cell& cell);

// Every dot of a cell, in order.
void for_each_dot(const Cell& cell, const std::function<void(const Dot&)>& visit);

// `cell` without the dots that have expired; nullopt when nothing is left. `cell` must not be a suggestion with ttl
// (there are none).
std::optional<Cell> without_expired(const Cell& cell, TimeMs now);

// True when some dot of the cell expires some day.
bool may_expire(const Cell& cell);

// The sibling that a read shows: whose writer had seen most (highest base, then highest version).
const Sibling& shown_sibling(const RegisterCell& cell);

struct Change {
  CellKey key;
  std::optional<Cell> image;  // nullopt: the cell is gone
};

// The part of the state digest that one cell contributes: sum_of of its canonical encoding with its key.
Sum128 digest_of(const CellKey& key, const Cell& cell);

// Writes a cell for the log, the store and the wire; `write_value` writes user values (exact, canonical or hashed). The
// layout is the grammar on top of cell_codec.hpp.
struct ValueSink {
  virtual ~ValueSink() = default;
  virtual void write(PackWriter& out, const Value& value) = 0;
};
struct ExactSink final : ValueSink {
  void write(PackWriter& out, const Value& value) override { write_exact(out, value); }
};
struct CanonicalSink final : ValueSink {
  void write(PackWriter& out, const Value& value) override { write_canonical(out, value); }
};
void write_cell(PackWriter& out, const Cell& cell, ValueSink& values);
void write_cell_key(PackWriter& out, const CellKey& key);
void write_source(PackWriter& out, const Source& source);

}  // namespace tafel
