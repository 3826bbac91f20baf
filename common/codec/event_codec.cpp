#include "common/codec/event_codec.hpp"

#include <fmt/format.h>

#include <array>

#include "common/base/bytes.hpp"
#include "common/base/check.hpp"
#include "common/base/text.hpp"
#include "common/codec/cell_codec.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/form.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/op_codec.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::codec {
namespace {

constexpr std::uint64_t record_format = 1;
constexpr std::size_t salt_bytes = 16;
constexpr std::size_t digest_bytes = 16;
constexpr std::size_t hash_bytes = 32;
constexpr char hashed_id_lead = '\xC1';  // see element_id

// Writes each value as its hash with a salt of its own.
class SaltedSink final : public ValueSink {
 public:
  explicit SaltedSink(const std::string& salt) : salt_(salt) {}

  void write(PackWriter& out, const Value& value) override {
    std::string numbered = salt_;
    put_be32(numbered, next_++);
    const Sha256 own_salt = sha256(numbered);
    out.binary(as_view(sha256(std::string(as_view(own_salt).substr(0, salt_bytes)) + canonical(value))));
  }

 private:
  const std::string& salt_;
  std::uint32_t next_ = 0;
};

// --- writing ---

// As write_cell_key, but for the id of a set element, which tells its value and so goes through the sink.
void write_key(PackWriter& out, const CellKey& key, ValueSink& values) {
  if (key.part != Part::element) return write_cell_key(out, key);
  out.array(3);
  out.text(key.path.text());
  out.unsigned_integer(static_cast<std::uint64_t>(key.part));
  values.write(out, Value(Bytes{key.id}));
}

void write_image(PackWriter& out, const std::optional<Cell>& image, ValueSink& values) {
  image ? write_cell(out, *image, values) : out.nil();
}

void write_source_or_nil(PackWriter& out, const Source& source) {
  source.empty() ? out.nil() : write_source(out, source);
}

void write_head(PackWriter& out, const Event& event) {
  out.array(9);
  out.text(event.board);
  out.unsigned_integer(event.version);
  out.integer(event.time);
  out.text(event.actor);
  out.text(event.delta_id);
  out.unsigned_integer(event.base);
  out.boolean(event.atomic);
  write_source_or_nil(out, event.source);
  out.binary(as_view(event.payload_hash));
}

template <class T>
void write_forms(PackWriter& out, const std::vector<T>& items, ValueSink& values) {
  out.array(items.size());
  for (const T& item : items) form_of(item).write(out, values);
}

void write_changes(PackWriter& out, const std::vector<LoggedChange>& changes, ValueSink& values) {
  out.array(changes.size());
  for (const LoggedChange& logged : changes) {
    out.array(4);
    write_key(out, logged.change.key, values);
    write_image(out, logged.change.image, values);
    out.unsigned_integer(logged.previous);
    out.unsigned_integer(logged.jump);
  }
}

// Everything but the seal, in the record (exact values) as in the chain form (hashed ones).
void write_body(PackWriter& out, const Event& event, ValueSink& values) {
  out.array(6);
  out.unsigned_integer(record_format);
  write_head(out, event);
  write_forms(out, event.ops, values);
  write_forms(out, event.results, values);
  write_changes(out, event.changes, values);
}

// --- reading ---

Sha256 read_hash(ItemReader& in, std::string_view name) {
  const std::string& bytes = in.bytes(name, hash_bytes);
  return in.failed() ? Sha256{} : sha256_from_bytes(bytes);
}

Sum128 read_digest(ItemReader& in, std::string_view name) {
  const std::string& bytes = in.bytes(name, digest_bytes);
  return in.failed() ? Sum128{} : sum_from_bytes(bytes);
}

Result<Source> source_or_empty(const Value& value) {
  return value.is_nil() ? Result<Source>(Source{}) : source_from_value(value);
}

template <class T>
Result<std::vector<T>> list_from_value(const Value& value, Result<T> (*read)(const Value&)) {
  const auto* list = value.get_if<List>();
  if (list == nullptr) return fail(Fault::bad_bytes, "an event: ops, results and changes must be lists");
  std::vector<T> items;
  items.reserve(list->size());
  for (const Value& item : *list) {
    Result<T> read_item = read(item);
    if (!read_item) return tl::unexpected(std::move(read_item.error()));
    items.push_back(std::move(*read_item));
  }
  return items;
}

Result<std::vector<Op>> ops_from(const Value& value) { return list_from_value(value, recorded_op_from_value); }
Result<std::vector<OpResult>> results_from(const Value& value) { return list_from_value(value, op_result_from_value); }

bool belongs(Part part, const Cell& cell) {
  switch (part) {
    case Part::leaf:
      return std::holds_alternative<RegisterCell>(cell) || std::holds_alternative<CounterCell>(cell) ||
             std::holds_alternative<ExtremumCell>(cell);
    case Part::element: return std::holds_alternative<ElementCell>(cell);
    case Part::entry: return std::holds_alternative<EntryCell>(cell);
    case Part::suggestion: return std::holds_alternative<SuggestionCell>(cell);
  }
  return false;
}

Result<Change> change_from(const Value& key, const Value& image) {
  auto cell_key = cell_key_from_value(key);
  if (!cell_key) return tl::unexpected(std::move(cell_key.error()));
  if (image.is_nil()) return Change{std::move(*cell_key), std::nullopt};
  auto cell = cell_from_value(image);
  if (!cell) return tl::unexpected(std::move(cell.error()));
  if (!belongs(cell_key->part, *cell))
    return fail(Fault::bad_bytes, "a change: the cell does not fit the part that its key names");
  return Change{std::move(*cell_key), std::move(*cell)};
}

const List* list_of_size(const Value& value, std::size_t size) {
  const auto* list = value.get_if<List>();
  return list != nullptr && list->size() == size ? list : nullptr;
}

Result<LoggedChange> logged_change_from(const Value& value) {
  const List* items = list_of_size(value, 4);
  if (items == nullptr) return fail(Fault::bad_bytes, "a logged change: it must be a list of 4 items");
  auto change = change_from((*items)[0], (*items)[1]);
  if (!change) return tl::unexpected(std::move(change.error()));
  ItemReader in(value, "a logged change", 4);
  in.item();
  in.item();
  LoggedChange logged{std::move(*change), in.number("previous"), in.number("jump")};
  return in.finish(std::move(logged));
}

Result<Change> feed_change_from(const Value& value) {
  const List* items = list_of_size(value, 2);
  if (items == nullptr) return fail(Fault::bad_bytes, "a change: it must be a list of 2 items");
  return change_from((*items)[0], (*items)[1]);
}

Result<std::vector<LoggedChange>> logged_changes_from(const Value& value) {
  return list_from_value(value, logged_change_from);
}
Result<std::vector<Change>> feed_changes_from(const Value& value) { return list_from_value(value, feed_change_from); }

// Reads the head into an event that has nothing else yet.
Result<Event> head_from(const Value& value) {
  ItemReader in(value, "the head of an event", 9);
  Event event;
  event.board = in.text("board");
  event.version = in.number("version");
  event.time = in.integer("time");
  event.actor = in.text("actor");
  event.delta_id = in.text("delta id");
  event.base = in.number("base");
  event.atomic = in.boolean("atomic");
  event.source = in.part(source_or_empty);
  event.payload_hash = read_hash(in, "payload hash");
  return in.finish(std::move(event));
}

struct Seal {
  std::string salt;
  Sha256 previous_hash{};
  Sum128 digest;
  Sha256 hash{};
};

Result<Seal> seal_from(const Value& value) {
  ItemReader in(value, "the seal of an event", 4);
  Seal seal;
  seal.salt = in.bytes("salt", salt_bytes);
  seal.previous_hash = read_hash(in, "previous hash");
  seal.digest = read_digest(in, "digest");
  seal.hash = read_hash(in, "hash");
  return in.finish(std::move(seal));
}

Result<Event> event_from_value(const Value& value) {
  ItemReader in(value, "an event", 6);
  if (in.number("format") != record_format) in.refuse("format", fmt::format("{}", record_format));
  Event event = in.part(head_from);
  event.ops = in.part(ops_from);
  event.results = in.part(results_from);
  event.changes = in.part(logged_changes_from);
  Seal seal = in.part(seal_from);
  if (event.results.size() != event.ops.size()) in.refuse("results", "as many as ops");
  event.salt = std::move(seal.salt);
  event.previous_hash = seal.previous_hash;
  event.digest = seal.digest;
  event.hash = seal.hash;
  return in.finish(std::move(event));
}

// --- for people ---

std::string_view name_of(Part part) {
  constexpr std::array<std::string_view, 4> names{"leaf", "element", "entry", "suggestion"};
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

Value describe(const Change& change) {
  Value map{Map{}};
  map.set("path", change.key.path.text());
  map.set("part", name_of(change.key.part));
  map.set("value", Value());
  add_id(map, change.key);
  if (!change.image) {
    map.set("gone", true);
    return map;
  }
  if (const auto kind = kind_of(*change.image)) map.set("kind", tafel::name_of(*kind));
  std::visit(CellFields{map}, *change.image);
  return map;
}

template <class T>
Value list_of_forms(const std::vector<T>& items) {
  List list;
  for (const T& item : items) list.push_back(form_of(item).to_value());
  return list;
}

}  // namespace

std::string encode_event(const Event& event) {
  TAFEL_CHECK(event.salt.size() == salt_bytes, "every event has a salt of its own");
  std::string bytes;
  PackWriter out(bytes);
  ExactSink values;
  write_body(out, event, values);
  out.array(4);
  out.binary(event.salt);
  out.binary(as_view(event.previous_hash));
  out.binary(to_bytes(event.digest));
  out.binary(as_view(event.hash));
  return bytes;
}

Result<Event> decode_event(std::string_view record) {
  // Records are our own and verified by the chain, and some hold thousands of cells: their size alone bounds the
  // objects.
  const auto value = decode(record, {.objects_max = record.size()});
  if (!value) return tl::unexpected(value.error());
  return event_from_value(*value);
}

Sha256 chain_hash(const Event& event) {
  std::string bytes;
  PackWriter out(bytes);
  SaltedSink values(event.salt);
  write_body(out, event, values);
  out.array(2);
  out.binary(as_view(event.previous_hash));
  out.binary(to_bytes(event.digest));
  return sha256(bytes);
}

FeedEvent feed_event_of(const Event& event) {
  FeedEvent feed;
  feed.version = event.version;
  feed.time = event.time;
  feed.actor = event.actor;
  feed.delta_id = event.delta_id;
  feed.base = event.base;
  feed.source = event.source;
  feed.changes.reserve(event.changes.size());
  for (const LoggedChange& logged : event.changes) feed.changes.push_back(logged.change);
  feed.digest = event.digest;
  return feed;
}

std::string encode_feed_event(const FeedEvent& event) {
  std::string bytes;
  PackWriter out(bytes);
  ExactSink values;
  out.array(8);
  out.unsigned_integer(event.version);
  out.integer(event.time);
  out.text(event.actor);
  out.text(event.delta_id);
  out.unsigned_integer(event.base);
  write_source_or_nil(out, event.source);
  out.array(event.changes.size());
  for (const Change& change : event.changes) {
    out.array(2);
    write_key(out, change.key, values);
    write_image(out, change.image, values);
  }
  event.digest ? out.binary(to_bytes(*event.digest)) : out.nil();
  return bytes;
}

Result<FeedEvent> feed_event_from_value(const Value& value) {
  ItemReader in(value, "a feed event", 8);
  FeedEvent event;
  event.version = in.number("version");
  event.time = in.integer("time");
  event.actor = in.text("actor");
  event.delta_id = in.text("delta id");
  event.base = in.number("base");
  event.source = in.part(source_or_empty);
  event.changes = in.part(feed_changes_from);
  const Value& digest = in.item();
  if (const auto* bytes = digest.get_if<Bytes>(); bytes != nullptr && bytes->data.size() == digest_bytes) {
    event.digest = sum_from_bytes(bytes->data);
  } else if (!digest.is_nil()) {
    in.refuse("digest", "16 bytes or nil");
  }
  return in.finish(std::move(event));
}

Value event_to_map(const Event& event) {
  List changes;
  for (const LoggedChange& logged : event.changes) changes.push_back(describe(logged.change));
  return Map{{"board", event.board},
             {"version", event.version},
             {"time", event.time},
             {"actor", event.actor},
             {"id", event.delta_id},
             {"base", event.base},
             {"source", source_to_map(event.source)},
             {"ops", list_of_forms(event.ops)},
             {"results", list_of_forms(event.results)},
             {"changes", std::move(changes)},
             {"hash", to_hex(as_view(event.hash))},
             {"previous", to_hex(as_view(event.previous_hash))},
             {"digest", to_hex(to_bytes(event.digest))}};
}

Value change_to_map(const FeedEvent& event, const Change& change) {
  Value map = describe(change);
  map.set("version", event.version);
  map.set("time", event.time);
  map.set("actor", event.actor);
  return map;
}

}  // namespace tafel::codec
