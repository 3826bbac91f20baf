#include "common/codec/event_codec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.hpp"
#include "common/codec/cell_codec.hpp"
#include "common/codec/event_pieces.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/op_codec.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::codec {
namespace {

constexpr std::uint64_t record_format = 2;
constexpr std::size_t digest_bytes = 16;
constexpr std::size_t hash_bytes = 32;

// --- writing ---

void write_source_or_nil(PackWriter& out, const Source& source) {
  source.empty() ? out.nil() : write_source(out, source);
}

void write_head(PackWriter& out, const Event& event) {
  out.array(8);
  out.text(event.board);
  out.unsigned_integer(event.version);
  out.integer(event.time);
  out.text(event.actor);
  out.text(event.delta_id);
  out.unsigned_integer(event.base);
  out.boolean(event.atomic);
  write_source_or_nil(out, event.source);
}

void write_fields(PackWriter& out, const std::vector<TouchedField>& fields) {
  out.array(fields.size());
  for (const TouchedField& field : fields) {
    out.array(7);
    out.text(field.path.text());
    field.info.kind ? out.unsigned_integer(static_cast<std::uint64_t>(*field.info.kind)) : out.nil();
    out.unsigned_integer(field.info.changed);
    out.unsigned_integer(field.info.parts);
    out.unsigned_integer(field.info.lasting);
    out.unsigned_integer(field.previous);
    out.unsigned_integer(field.jump);
  }
}

void write_completeness(PackWriter& out, const std::optional<Completeness>& completeness) {
  if (!completeness) return out.nil();
  out.array(2);
  out.number(completeness->score);
  out.array(completeness->missing.size());
  for (const auto& [path, label] : completeness->missing) {
    out.array(2);
    out.text(path.text());
    out.text(label);
  }
}

// The content of every piece but the payload hash: of the ops, then of the changes; empty where it was erased.
std::vector<std::string> bodies_of(const Event& event) {
  std::vector<std::string> bodies;
  bodies.reserve(event.ops.size() + event.changes.size());
  for (std::size_t i = 0; i < event.ops.size(); ++i)
    bodies.push_back(is_op_erased(event, i) ? std::string() : op_body(event.ops[i], event.results[i]));
  for (std::size_t i = 0; i < event.changes.size(); ++i)
    bodies.push_back(is_change_erased(event, i) ? std::string() : change_body(event.changes[i].change));
  return bodies;
}

// Writes an event as its record, with the pieces as they are, or as the text of the chain, with their hashes.
class EventWriter {
 public:
  EventWriter(PackWriter& out, const Event& event, const std::vector<std::string>& bodies, bool is_chain)
      : out_(out), event_(event), bodies_(bodies), is_chain_(is_chain) {}

  void write() {
    out_.array(7);
    out_.unsigned_integer(record_format);
    write_head(out_, event_);
    write_ops();
    write_changes();
    write_fields(out_, event_.fields);
    write_completeness(out_, event_.completeness);
    write_seal();
  }

 private:
  void write_ops() {
    out_.array(event_.ops.size());
    for (std::size_t i = 0; i < event_.ops.size(); ++i) {
      const OpResult& result = event_.results[i];
      out_.array(5);
      out_.unsigned_integer(static_cast<std::uint64_t>(event_.ops[i].verb));
      out_.text(event_.ops[i].path);
      out_.unsigned_integer(static_cast<std::uint64_t>(result.outcome));
      result.reason ? out_.unsigned_integer(static_cast<std::uint64_t>(*result.reason)) : out_.nil();
      write_piece(op_piece(i), bodies_[i]);
    }
  }

  void write_changes() {
    out_.array(event_.changes.size());
    for (std::size_t i = 0; i < event_.changes.size(); ++i) {
      const LoggedChange& logged = event_.changes[i];
      out_.array(5);
      out_.text(logged.change.key.path.text());
      out_.unsigned_integer(static_cast<std::uint64_t>(logged.change.key.part));
      out_.unsigned_integer(logged.previous);
      out_.unsigned_integer(logged.jump);
      write_piece(change_piece(event_, i), bodies_[event_.ops.size() + i]);
    }
  }

  void write_seal() {
    out_.array(is_chain_ ? 3 : 5);
    if (!is_chain_) event_.salt.empty() ? out_.nil() : out_.binary(event_.salt);
    write_piece(payload_piece(), as_view(event_.payload_hash));
    out_.binary(as_view(event_.previous_hash));
    out_.binary(to_bytes(event_.digest));
    if (!is_chain_) out_.binary(as_view(event_.hash));
  }

  void write_piece(std::size_t piece, std::string_view body) {
    if (is_chain_) return out_.binary(as_view(hash_of(event_, piece, body)));
    if (event_.pieces.empty()) return out_.binary(body);
    const Piece& kept = event_.pieces[piece];
    out_.array(kept.erased ? 1 : 2);
    out_.binary(kept.erased ? as_view(*kept.erased) : body);
    if (!kept.erased) out_.binary(kept.salt);
  }

  PackWriter& out_;
  const Event& event_;
  const std::vector<std::string>& bodies_;
  const bool is_chain_;
};

std::string record_of(const Event& event, const std::vector<std::string>& bodies) {
  TAFEL_CHECK(event.pieces.empty() == (event.salt.size() == salt_bytes), "an event has one salt, or its pieces have");
  std::string bytes;
  PackWriter out(bytes);
  EventWriter(out, event, bodies, false).write();
  return bytes;
}

Sha256 hash_of_chain(const Event& event, const std::vector<std::string>& bodies) {
  std::string bytes;
  PackWriter out(bytes);
  EventWriter(out, event, bodies, true).write();
  return sha256(bytes);
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
Result<std::vector<T>> items_from_value(const Value& value, Result<T> (*read)(const Value&)) {
  const auto* list = value.get_if<List>();
  if (list == nullptr) return fail(Fault::bad_bytes, "an event: ops, changes and fields must be lists");
  std::vector<T> items;
  items.reserve(list->size());
  for (const Value& item : *list) {
    Result<T> read_item = read(item);
    if (!read_item) return tl::unexpected(std::move(read_item.error()));
    items.push_back(std::move(*read_item));
  }
  return items;
}

bool belongs(Part part, const Cell& cell) {
  switch (part) {
    case Part::leaf:
      return std::holds_alternative<RegisterCell>(cell) || std::holds_alternative<CounterCell>(cell) ||
             std::holds_alternative<ExtremumCell>(cell);
    case Part::element: return std::holds_alternative<ElementCell>(cell);
    case Part::entry: return std::holds_alternative<EntryCell>(cell);
    case Part::suggestion: return std::holds_alternative<SuggestionCell>(cell);
    case Part::field:
    case Part::board: return false;
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

// A piece as it stands in a record.
struct RecordedPiece {
  Piece piece;
  std::string body;
};

Result<RecordedPiece> piece_from(const Value& value) {
  if (const auto* body = value.get_if<Bytes>()) return RecordedPiece{{}, body->data};
  if (list_of_size(value, 1) != nullptr) {
    ItemReader in(value, "an erased piece", 1);
    const Sha256 hash = read_hash(in, "hash");
    return in.finish(RecordedPiece{{{}, hash}, {}});
  }
  ItemReader in(value, "a piece", 2);
  RecordedPiece piece;
  piece.body = in.bytes("body");
  piece.piece.salt = in.bytes("salt", salt_bytes);
  return in.finish(std::move(piece));
}

// The pair of values in a body.
Result<List> body_from(const std::string& body) {
  // Records are our own and verified by the chain, and some hold large cells: their size alone bounds the objects.
  const auto value = decode(body, {.objects_max = body.size()});
  if (!value) return tl::unexpected(value.error());
  const List* items = list_of_size(*value, 2);
  if (items == nullptr) return fail(Fault::bad_bytes, "an event: a body must be a list of 2 items");
  return *items;
}

struct RecordedOp {
  Op op;
  OpResult result;
  Piece piece;
};

Result<RecordedOp> recorded_op_from(const Value& value) {
  ItemReader in(value, "an op of an event", 5);
  RecordedOp recorded;
  recorded.op.verb = static_cast<Verb>(in.number("verb", static_cast<std::uint64_t>(verb_highest)));
  recorded.op.path = in.text("path");
  recorded.result.outcome = static_cast<Outcome>(in.number("outcome", static_cast<std::uint64_t>(Outcome::rejected)));
  const Value& reason = in.item();
  if (const auto number = as_uint64(reason); number && *number <= static_cast<std::uint64_t>(Reason::repeated)) {
    recorded.result.reason = static_cast<Reason>(*number);
  } else if (!reason.is_nil()) {
    in.refuse("reason", "the number of a reason, or nil");
  }
  auto piece = in.part(piece_from);
  recorded.piece = std::move(piece.piece);
  if (in.failed() || recorded.piece.erased) return in.finish(std::move(recorded));
  const auto body = body_from(piece.body);
  if (!body) return tl::unexpected(body.error());
  auto op = recorded_op_from_value((*body)[0]);
  if (!op) return tl::unexpected(std::move(op.error()));
  auto result = op_result_from_value((*body)[1]);
  if (!result) return tl::unexpected(std::move(result.error()));
  const bool agrees = op->verb == recorded.op.verb && op->path == recorded.op.path &&
                      result->outcome == recorded.result.outcome && result->reason == recorded.result.reason;
  if (!agrees) return fail(Fault::bad_bytes, "an op of an event: its content is that of another op");
  recorded.op = std::move(*op);
  recorded.result = std::move(*result);
  return recorded;
}

struct RecordedChange {
  LoggedChange logged{{leaf_key(Path::from_key({})), std::nullopt}, 0, 0};
  Piece piece;
};

Result<RecordedChange> recorded_change_from(const Value& value) {
  ItemReader in(value, "a change of an event", 5);
  RecordedChange recorded;
  Change& change = recorded.logged.change;
  const auto path = Path::parse(in.text("path"));
  if (!path) in.refuse("path", "a path");
  change.key.part = static_cast<Part>(in.number("part", static_cast<std::uint64_t>(Part::board)));
  recorded.logged.previous = in.number("previous");
  recorded.logged.jump = in.number("jump");
  auto piece = in.part(piece_from);
  recorded.piece = std::move(piece.piece);
  if (path) change.key.path = *path;
  if (in.failed() || recorded.piece.erased) return in.finish(std::move(recorded));
  const auto body = body_from(piece.body);
  if (!body) return tl::unexpected(body.error());
  const Value key = List{Value(change.key.path.text()), Value(static_cast<std::uint64_t>(change.key.part)), (*body)[0]};
  auto read = change_from(key, (*body)[1]);
  if (!read) return tl::unexpected(std::move(read.error()));
  change = std::move(*read);
  return recorded;
}

Result<TouchedField> field_from(const Value& value) {
  ItemReader in(value, "a field of an event", 7);
  const auto path = Path::parse(in.text("path"));
  if (!path) in.refuse("path", "a path");
  TouchedField field{path ? *path : Path::from_key({}), {}, 0, 0};
  const Value& kind = in.item();
  if (const auto number = as_uint64(kind); number && *number <= static_cast<std::uint64_t>(Kind::log)) {
    field.info.kind = static_cast<Kind>(*number);
  } else if (!kind.is_nil()) {
    in.refuse("kind", "the number of a kind, or nil");
  }
  field.info.changed = in.number("changed");
  field.info.parts = in.number("parts");
  field.info.lasting = in.number("lasting");
  field.previous = in.number("previous");
  field.jump = in.number("jump");
  return in.finish(std::move(field));
}

Result<Completeness::Missing> missing_from(const Value& value) {
  ItemReader in(value, "a missing field", 2);
  const auto path = Path::parse(in.text("path"));
  if (!path) in.refuse("path", "a path");
  Completeness::Missing missing{path ? *path : Path::from_key({}), in.text("label")};
  return in.finish(std::move(missing));
}

Result<std::vector<Completeness::Missing>> all_missing_from(const Value& value) {
  return items_from_value(value, missing_from);
}

Result<std::optional<Completeness>> completeness_from(const Value& value) {
  if (value.is_nil()) return std::nullopt;
  ItemReader in(value, "a completeness", 2);
  Completeness completeness;
  const Value& score = in.item();
  const auto* number = score.get_if<double>();
  if (number == nullptr || *number < 0 || *number > 1) in.refuse("score", "a float from 0 to 1");
  if (number != nullptr) completeness.score = *number;
  completeness.missing = in.part(all_missing_from);
  return in.finish(std::optional(std::move(completeness)));
}

Result<Change> feed_change_from(const Value& value) {
  const List* items = list_of_size(value, 2);
  if (items == nullptr) return fail(Fault::bad_bytes, "a change: it must be a list of 2 items");
  return change_from((*items)[0], (*items)[1]);
}

Result<std::vector<Change>> feed_changes_from(const Value& value) { return items_from_value(value, feed_change_from); }
Result<std::vector<RecordedOp>> recorded_ops_from(const Value& value) {
  return items_from_value(value, recorded_op_from);
}
Result<std::vector<RecordedChange>> recorded_changes_from(const Value& value) {
  return items_from_value(value, recorded_change_from);
}
Result<std::vector<TouchedField>> fields_from(const Value& value) { return items_from_value(value, field_from); }

// Reads the head into an event that has nothing else yet.
Result<Event> head_from(const Value& value) {
  ItemReader in(value, "the head of an event", 8);
  Event event;
  event.board = in.text("board");
  event.version = in.number("version");
  event.time = in.integer("time");
  event.actor = in.text("actor");
  event.delta_id = in.text("delta id");
  event.base = in.number("base");
  event.atomic = in.boolean("atomic");
  event.source = in.part(source_or_empty);
  return in.finish(std::move(event));
}

struct Seal {
  std::string salt;  // empty: something was erased
  Piece payload;
  Sha256 payload_hash{};
  Sha256 previous_hash{};
  Sum128 digest;
  Sha256 hash{};
};

Result<Seal> seal_from(const Value& value) {
  ItemReader in(value, "the seal of an event", 5);
  Seal seal;
  const Value& salt = in.item();
  if (const auto* bytes = salt.get_if<Bytes>(); bytes != nullptr && bytes->data.size() == salt_bytes) {
    seal.salt = bytes->data;
  } else if (!salt.is_nil()) {
    in.refuse("salt", "16 bytes, or nil");
  }
  auto payload = in.part(piece_from);
  seal.payload = std::move(payload.piece);
  if (!seal.payload.erased) {
    payload.body.size() == hash_bytes ? void(seal.payload_hash = sha256_from_bytes(payload.body))
                                      : in.refuse("payload hash", "32 bytes");
  }
  seal.previous_hash = read_hash(in, "previous hash");
  seal.digest = read_digest(in, "digest");
  seal.hash = read_hash(in, "hash");
  return in.finish(std::move(seal));
}

Result<Event> event_from_value(const Value& value) {
  ItemReader in(value, "an event", 7);
  if (in.number("format") != record_format) in.refuse("format", fmt::format("{}", record_format));
  Event event = in.part(head_from);
  auto ops = in.part(recorded_ops_from);
  auto changes = in.part(recorded_changes_from);
  event.fields = in.part(fields_from);
  event.completeness = in.part(completeness_from);
  Seal seal = in.part(seal_from);
  std::vector<Piece> pieces{std::move(seal.payload)};
  for (RecordedOp& op : ops) {
    event.ops.push_back(std::move(op.op));
    event.results.push_back(std::move(op.result));
    pieces.push_back(std::move(op.piece));
  }
  for (RecordedChange& change : changes) {
    event.changes.push_back(std::move(change.logged));
    pieces.push_back(std::move(change.piece));
  }
  const auto is_plain = [](const Piece& piece) { return piece.salt.empty() && !piece.erased; };
  const bool all_plain = std::all_of(pieces.begin(), pieces.end(), is_plain);
  const bool none_plain = std::none_of(pieces.begin(), pieces.end(), is_plain);
  if (seal.salt.empty() ? !none_plain : !all_plain) in.refuse("salt", "the event's, or one for each piece");
  if (seal.salt.empty()) event.pieces = std::move(pieces);
  event.payload_hash = seal.payload_hash;
  event.salt = std::move(seal.salt);
  event.previous_hash = seal.previous_hash;
  event.digest = seal.digest;
  event.hash = seal.hash;
  return in.finish(std::move(event));
}

}  // namespace

std::string encode_event(const Event& event) { return record_of(event, bodies_of(event)); }

Result<Event> decode_event(std::string_view record) {
  // Records are our own and verified by the chain, and some hold thousands of cells: their size alone bounds the
  // objects.
  const auto value = decode(record, {.objects_max = record.size()});
  if (!value) return tl::unexpected(value.error());
  return event_from_value(*value);
}

Sha256 chain_hash(const Event& event) { return hash_of_chain(event, bodies_of(event)); }

std::string seal_event(Event& event) {
  const std::vector<std::string> bodies = bodies_of(event);
  event.hash = hash_of_chain(event, bodies);
  return record_of(event, bodies);
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
  for (std::size_t i = 0; i < event.changes.size(); ++i) {
    if (!is_change_erased(event, i)) feed.changes.push_back(event.changes[i].change);
  }
  if (!has_erased(event)) feed.digest = event.digest;
  feed.completeness = event.completeness;
  return feed;
}

std::string encode_feed_event(const FeedEvent& event) {
  std::string bytes;
  PackWriter out(bytes);
  ExactSink values;
  out.array(9);
  out.unsigned_integer(event.version);
  out.integer(event.time);
  out.text(event.actor);
  out.text(event.delta_id);
  out.unsigned_integer(event.base);
  write_source_or_nil(out, event.source);
  out.array(event.changes.size());
  for (const Change& change : event.changes) {
    out.array(2);
    write_cell_key(out, change.key);
    change.image ? write_cell(out, *change.image, values) : out.nil();
  }
  event.digest ? out.binary(to_bytes(*event.digest)) : out.nil();
  write_completeness(out, event.completeness);
  return bytes;
}

Result<FeedEvent> feed_event_from_value(const Value& value) {
  ItemReader in(value, "a feed event", 9);
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
  event.completeness = in.part(completeness_from);
  return in.finish(std::move(event));
}

}  // namespace tafel::codec
