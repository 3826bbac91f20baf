#include "common/codec/event_pieces.hpp"

#include "common/base/bytes.hpp"
#include "common/codec/op_codec.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::codec {
namespace {

std::string body_of(const Event& event, std::size_t piece) {
  if (piece == payload_piece()) return std::string(as_view(event.payload_hash));
  const std::size_t op = piece - op_piece(0);
  if (op < event.ops.size()) return op_body(event.ops[op], event.results[op]);
  return change_body(event.changes[piece - change_piece(event, 0)].change);
}

// Gives every piece the salt that it had from the event's.
void keep_salts(Event& event) {
  std::vector<Piece> pieces(change_piece(event, event.changes.size()));
  for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].salt = salt_of(event, i);
  event.pieces = std::move(pieces);
  event.salt.clear();
}

void erase(Event& event, std::size_t piece) {
  if (is_erased(event, piece)) return;
  event.pieces[piece].erased = hash_of(event, piece, body_of(event, piece));
  event.pieces[piece].salt.clear();
}

bool may_be_about(const std::string& text, const Path& path) {
  const auto named = Path::parse(text);
  return !named || named->is_at_or_below(path) || path.is_below(*named);
}

bool may_speak_of(const Op& op, const Path& path) {
  return may_be_about(op.path, path) || (!op.from.empty() && may_be_about(op.from, path));
}

Op without_content(const Op& op) {
  Op left;
  left.verb = op.verb;
  left.path = op.path;
  return left;
}

OpResult without_content(const OpResult& result) {
  OpResult left;
  left.outcome = result.outcome;
  left.reason = result.reason;
  return left;
}

}  // namespace

bool is_erased(const Event& event, std::size_t piece) {
  return !event.pieces.empty() && event.pieces[piece].erased.has_value();
}

std::string op_body(const Op& op, const OpResult& result) {
  std::string bytes;
  PackWriter out(bytes);
  ExactSink values;
  out.array(2);
  write_op(out, op, values);
  write_op_result(out, result);
  return bytes;
}

std::string change_body(const Change& change) {
  std::string bytes;
  PackWriter out(bytes);
  ExactSink values;
  out.array(2);
  out.binary(change.key.id);
  change.image ? write_cell(out, *change.image, values) : out.nil();
  return bytes;
}

std::string salt_of(const Event& event, std::size_t piece) {
  if (!event.pieces.empty()) return event.pieces[piece].salt;
  std::string number;
  put_be32(number, static_cast<std::uint32_t>(piece));
  const Sha256 hash = sha256(event.salt, number);
  return std::string(as_view(hash).substr(0, salt_bytes));
}

Sha256 hash_of(const Event& event, std::size_t piece, std::string_view body) {
  if (is_erased(event, piece)) return *event.pieces[piece].erased;
  return sha256(salt_of(event, piece), body);
}

bool erase_pieces(Event& event, const Path& path) {
  return erase_pieces(
      event, [&](const Op& op, const OpResult&) { return may_speak_of(op, path); },
      [&](const Path& changed) { return changed.is_at_or_below(path); });
}

bool erase_pieces(Event& event, const SpeaksOf& speaks_of, const std::function<bool(const Path&)>& is_of) {
  std::vector<std::size_t> gone;
  for (std::size_t i = 0; i < event.ops.size(); ++i) {
    // An op that erased says nothing of what was there.
    const bool may_tell = !is_op_erased(event, i) && event.ops[i].verb != Verb::erase;
    if (may_tell && speaks_of(event.ops[i], event.results[i])) gone.push_back(op_piece(i));
  }
  for (std::size_t i = 0; i < event.changes.size(); ++i) {
    const CellKey& key = event.changes[i].change.key;
    if (takes_more(key) || is_change_erased(event, i) || !is_of(key.path)) continue;
    gone.push_back(change_piece(event, i));
  }
  if (gone.empty()) return false;
  if (event.pieces.empty()) keep_salts(event);
  erase(event, payload_piece());
  event.payload_hash = {};
  for (const std::size_t piece : gone) {
    erase(event, piece);
    const std::size_t op = piece - op_piece(0);
    if (op < event.ops.size()) {
      event.ops[op] = without_content(event.ops[op]);
      event.results[op] = without_content(event.results[op]);
      continue;
    }
    Change& change = event.changes[piece - change_piece(event, 0)].change;
    change.key.id.clear();
    change.image.reset();
  }
  return true;
}

}  // namespace tafel::codec
