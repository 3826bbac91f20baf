// How boards lie in the tables of the key–value store: the keys, and the payloads of the records under them (each
// closed by a checksum, see record.hpp). Pure functions; the other files of the store move what they give.
//
// Integers in keys are 8 bytes big-endian, so that they sort; integers in payloads are varints, 7 bits a byte.
//
//   table          key                                  payload
//   meta           "format"                             format version, 4
//                  "epoch"                              text
//                  "boards"                             the number that the next new board gets
//                  "erasures"                           the sequence of the next erasure
//                  "scrubbed"                           the first erasure that is not done
//                  "copied"                             1: a backup that no server has opened yet
//                  "importing"                          the number of a board that is being imported
//                  "journal"                            of journal_mark.hpp; in no copy
//   boards         board id                             number version time floor erased deleted is_purged
//                                                       log_bytes receipts_first receipts_next fork hash[32] digest[16]
//                                                       parent
//   fields         number ‖ path_key                    kind changed parts lasting path_size path erased trail cell
//   parts          number ‖ path_hash ‖ part u8 ‖ id    cell
//   events         number ‖ version                     record of codec/event_codec.hpp
//   receipts       number ‖ delta_hash                  sequence payload_hash[32] version receipt
//   receipt_queue  number ‖ sequence                    time delta_hash
//   forks          number ‖ number of the fork          version at which it was forked, board id of the fork
//   floors         number ‖ path_hash ‖ part u8 ‖ id ‖ ~version
//                                                       as in parts, or (part field) as in fields without a leaf
//   expiry         time ‖ number ‖ cell_hash            board_size board path_size path part u8 id
//
//   erasures       sequence                             board_size board path_size path actor_size actor version time
//                                                       scrubbed is_done cursor
//
//   path_key    Path::key(); when that is longer than 400 bytes: its first 360 bytes ‖ FF ‖ path_hash. FF is no byte
//               of UTF-8. So fields sort as paths do, but among those whose first 360 bytes are equal the cut ones
//               come last.
//   path        Path::key() where path_key is cut, else empty
//   path_hash   first 16 bytes of SHA-256(Path::key())
//   cell_hash   first 16 bytes of SHA-256(Path::key() ‖ 00 ‖ part u8 ‖ id)
//   delta_hash  first 16 bytes of SHA-256(actor ‖ 00 ‖ delta id)
//   kind        0 where the field is absent (a tombstone), else Kind + 1
//   trail       steps (version height){steps}, newest first
//   cell        trail image; the image is of model/cell.cpp, empty when the cell is gone
//   receipt     empty where version is not 0 (the event holds what it takes to remake it), else the map of
//               receipt_codec.hpp
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "blackboard/store/kv.hpp"
#include "blackboard/trail.hpp"
#include "common/base/clock.hpp"
#include "common/model/event.hpp"
#include "conflict/board_view.hpp"

namespace tafel::store {

inline constexpr std::uint64_t format_version = 4;
inline constexpr std::string_view meta_format = "format";
inline constexpr std::string_view meta_epoch = "epoch";
inline constexpr std::string_view meta_boards = "boards";
inline constexpr std::string_view meta_erasures = "erasures";
inline constexpr std::string_view meta_scrubbed = "scrubbed";
inline constexpr std::string_view meta_copied = "copied";
inline constexpr std::string_view meta_importing = "importing";
inline constexpr std::string_view meta_journal = "journal";

inline constexpr std::size_t path_key_bytes_max = 400;
inline constexpr std::size_t path_key_cut_bytes = 360;

// The number of a board in this store; 0 is the board that was never written to.
enum class BoardNumber : std::uint64_t { none = 0 };

struct BoardRecord {
  BoardNumber number = BoardNumber::none;
  Head head;
  Version deleted = 0;               // of the event that deleted the board; 0: it is there
  bool is_purged = false;            // deleted, and nothing else of it is left
  std::uint64_t log_bytes = 0;       // of the events that are kept
  std::uint64_t receipts_first = 0;  // receipt_queue holds receipts_first .. receipts_next - 1
  std::uint64_t receipts_next = 0;
  std::string parent;  // empty: no fork
  Version fork = 0;    // version of the parent at which it was forked: the first event here is the next one
};

// A cell as it lies in the store. It stays, with its trail, when the cell is gone. Holds the cell encoded or decoded
// and makes the other form when it is asked for; not for several threads at once.
class StoredCell {
 public:
  StoredCell() = default;  // gone
  StoredCell(blackboard::Trail its_trail, std::string image) : trail(std::move(its_trail)), image_(std::move(image)) {}
  StoredCell(blackboard::Trail its_trail, CellPointer cell) : trail(std::move(its_trail)), cell_(std::move(cell)) {}

  bool is_live() const { return cell_ != nullptr || !image_.empty(); }
  Result<CellPointer> cell() const;                 // null: gone
  const std::string& image() const;                 // encoded; empty: gone
  Result<Sum128> digest(const CellKey& key) const;  // what it adds to the digest of the board
  void set_cell(CellPointer cell);
  void set_image(std::string image);

  blackboard::Trail trail;

 private:
  mutable std::string image_;
  mutable CellPointer cell_;
  mutable std::optional<Sum128> digest_;
};
std::string encode_image(const Cell* cell);  // null: gone
inline std::string encode_image(const std::optional<Cell>& cell) { return encode_image(cell ? &*cell : nullptr); }

struct FieldRecord {
  FieldInfo info;
  Version erased = 0;       // at which all cells went with their trails; 0: never
  blackboard::Trail trail;  // of all its changes, those of suggestions too
  StoredCell leaf;          // no steps: the field was never a leaf
};

struct ReceiptRecord {
  std::uint64_t sequence = 0;  // its place in receipt_queue
  Sha256 payload_hash{};
  Version version = 0;
  std::string receipt;  // encoded; empty where `version` is set
};

// A board that was forked from another.
struct ForkRecord {
  Version version = 0;
  std::string board;
};

// A cell of which something expires at the time that its key tells.
struct ExpiringCell {
  std::string board;
  CellKey key;
};

// An erasure, or with the path `$board` the deletion of a board, and how far its work has come.
struct ErasureRecord {
  std::string board;
  std::string path;  // Path::key()
  Version version = 0;
  std::string actor;
  TimeMs time = 0;
  Version scrubbed = 0;  // events up to this one hold nothing of it; `version` itself: the whole board is being purged
  bool is_done = false;
  std::string cursor;  // key of the last receipt that was looked at, then of the last entry of the index of expiry
};

struct QueuedReceipt {
  TimeMs time = 0;
  std::string delta_hash;
};

// Keys
std::string board_prefix(BoardNumber number);
std::string field_key(BoardNumber number, const Path& path);
std::string parts_prefix(BoardNumber number, const Path& path);  // all parts of a field but the leaf
std::string part_prefix(BoardNumber number, const Path& path, Part part);
std::string part_key(BoardNumber number, const CellKey& key);
struct PartPlace {
  Part part = Part::leaf;
  std::string id;
};
std::optional<PartPlace> place_of_part(std::string_view part_key);
std::string event_key(BoardNumber number, Version version);
Version version_of_event(std::string_view event_key);
std::string delta_hash(std::string_view actor, std::string_view delta_id);
std::string receipt_key(BoardNumber number, std::string_view delta_hash);
std::string queue_key(BoardNumber number, std::uint64_t sequence);
std::string fork_key(BoardNumber parent, BoardNumber fork);
std::string floors_prefix(BoardNumber number, const CellKey& key);  // of one cell, or of a field itself
std::string floor_key(BoardNumber number, const CellKey& key, Version version);
Version version_of_floor(std::string_view floor_key);
std::string expiry_key(TimeMs time, BoardNumber number, const CellKey& key);
std::optional<TimeMs> time_of_expiry(std::string_view expiry_key);
// Whether the entry is one of the board's.
bool is_expiry_of(BoardNumber number, std::string_view expiry_key);

// Payloads. Decoding gives nullopt for bytes that are no such payload.
std::string encode_number(std::uint64_t number);
std::optional<std::uint64_t> decode_number(std::string_view payload);
std::string encode_board(const BoardRecord& record);
std::optional<BoardRecord> decode_board(std::string_view payload);
std::string encode_field(const Path& path, const FieldRecord& record);
std::optional<FieldRecord> decode_field(std::string_view payload);
// The path of a field from its key and payload.
std::optional<Path> path_of_field(std::string_view key, std::string_view payload);
std::string encode_part(const StoredCell& record);
std::optional<StoredCell> decode_part(std::string_view payload);
std::string encode_receipt(const ReceiptRecord& record);
std::optional<ReceiptRecord> decode_receipt(std::string_view payload);
std::string erasure_key(std::uint64_t sequence);
std::uint64_t sequence_of_erasure(std::string_view erasure_key);
std::string encode_erasure(const ErasureRecord& record);
std::optional<ErasureRecord> decode_erasure(std::string_view payload);
std::string encode_fork(const ForkRecord& record);
std::optional<ForkRecord> decode_fork(std::string_view payload);
std::string encode_expiring(const ExpiringCell& cell);
std::optional<ExpiringCell> decode_expiring(std::string_view payload);
std::string encode_queued(const QueuedReceipt& queued);
std::optional<QueuedReceipt> decode_queued(std::string_view payload);

}  // namespace tafel::store
