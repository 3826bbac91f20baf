// The pieces of an event: what can be erased from it while its place in the chain stays. A piece is a body of bytes;
// the chain holds SHA-256(salt ‖ body), with a salt for each piece alone. While all is there, the salts are made from
// the event's one; once something is erased, that one would tell the salt of what is gone, so it goes too, and the
// pieces that stay keep their salts beside them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/model/event.hpp"

namespace tafel::codec {

inline constexpr std::size_t salt_bytes = 16;

// Places of the pieces: the payload hash, then the ops, then the changes.
inline std::size_t payload_piece() { return 0; }
inline std::size_t op_piece(std::size_t op) { return 1 + op; }
inline std::size_t change_piece(const Event& event, std::size_t change) { return 1 + event.ops.size() + change; }

bool is_erased(const Event& event, std::size_t piece);
inline bool is_op_erased(const Event& event, std::size_t op) { return is_erased(event, op_piece(op)); }
inline bool is_change_erased(const Event& event, std::size_t change) {
  return is_erased(event, change_piece(event, change));
}
// True when some content of the event is gone.
inline bool has_erased(const Event& event) { return !event.pieces.empty(); }

std::string op_body(const Op& op, const OpResult& result);  // [op map, result map]
std::string change_body(const Change& change);              // [id bin, cell|nil]

std::string salt_of(const Event& event, std::size_t piece);  // of one that is there
// The hash that the chain holds for a piece; `body` is not read where it is erased.
Sha256 hash_of(const Event& event, std::size_t piece, std::string_view body);

// Erases every change at or below `path`, every op that may have said something of it (at, above or below it, or with a
// path that can not be read), and the payload hash with them (by trying values, a payload could be guessed from it).
// False when there was nothing to erase.
bool erase_pieces(Event& event, const Path& path);
// Erases every change of a field that `is_of` names, every op of which `speaks_of` says that it may tell something of
// them, and the payload hash with them.
using SpeaksOf = std::function<bool(const Op& op, const OpResult& result)>;
bool erase_pieces(Event& event, const SpeaksOf& speaks_of, const std::function<bool(const Path&)>& is_of);

}  // namespace tafel::codec
