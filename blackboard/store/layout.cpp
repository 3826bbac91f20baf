#include "blackboard/store/layout.hpp"

#include <algorithm>
#include <limits>

#include "common/base/bytes.hpp"
#include "common/base/check.hpp"
#include "common/codec/cell_codec.hpp"
#include "common/codec/msgpack.hpp"

namespace tafel::store {
namespace {

constexpr std::size_t number_bytes = 8;
constexpr std::size_t hash_bytes = 16;
constexpr std::size_t steps_max = 64;  // heights are distinct but for two, and a version has 64 bits
constexpr char cut_mark = '\xFF';

std::string short_hash(std::string_view bytes) { return std::string(as_view(sha256(bytes)).substr(0, hash_bytes)); }

void put_number(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7U) out.push_back(static_cast<char>(0x80U | (number & 0x7FU)));
  out.push_back(static_cast<char>(number));
}

// Reads a payload from the front. What is missing reads as zero or empty and makes the whole unsound.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view payload) : rest_(payload) {}

  std::uint64_t number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1).front());
      number |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return number;
    }
    sound_ = false;
    return 0;
  }

  // `count` bytes; zero bytes where they are missing and `count` is small.
  std::string_view take(std::uint64_t count) {
    static constexpr std::string_view zeros("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
    if (count > rest_.size()) {
      sound_ = false;
      return zeros.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(count, zeros.size())));
    }
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view take_rest() { return take(rest_.size()); }
  void expect(bool condition) { sound_ = sound_ && condition; }
  bool is_read_whole() const { return sound_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool sound_ = true;
};

void put_trail(std::string& out, const blackboard::Trail& trail) {
  put_number(out, trail.steps().size());
  for (const auto& step : trail.steps()) {
    put_number(out, step.version);
    put_number(out, step.height);
  }
}

void put_cell(std::string& out, const StoredCell& cell) {
  put_trail(out, cell.trail);
  out.append(cell.image());
}

blackboard::Trail take_trail(PayloadReader& reader) {
  const std::uint64_t count = reader.number();
  reader.expect(count <= steps_max);
  std::vector<blackboard::Trail::Step> steps;
  Version above = std::numeric_limits<Version>::max();
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, steps_max); ++i) {
    const Version version = reader.number();
    const std::uint64_t height = reader.number();
    reader.expect(version > 0 && version < above && height < steps_max);
    steps.push_back({version, static_cast<std::uint32_t>(height)});
    above = version;
  }
  return blackboard::Trail(std::move(steps));
}

StoredCell take_cell(PayloadReader& reader) {
  blackboard::Trail trail = take_trail(reader);
  return {std::move(trail), std::string(reader.take_rest())};
}

bool is_cut_field_key(std::string_view key) {
  return key.size() == number_bytes + path_key_cut_bytes + 1 + hash_bytes &&
         key[number_bytes + path_key_cut_bytes] == cut_mark;
}

struct FieldHead {
  FieldInfo info;
  std::string_view path;  // empty: stands in the key
};

FieldHead take_field_head(PayloadReader& reader) {
  FieldHead head;
  const std::uint64_t kind = reader.number();
  reader.expect(kind <= static_cast<std::uint64_t>(Kind::log) + 1);
  if (kind > 0) head.info.kind = static_cast<Kind>(kind - 1);
  head.info.changed = reader.number();
  head.info.parts = reader.number();
  head.info.lasting = reader.number();
  head.path = reader.take(reader.number());
  return head;
}

}  // namespace

std::string encode_image(const Cell* cell) {
  std::string image;
  if (cell == nullptr) return image;
  PackWriter out(image);
  ExactSink values;
  write_cell(out, *cell, values);
  return image;
}

Result<CellPointer> StoredCell::cell() const {
  if (cell_ || image_.empty()) return cell_;
  // We wrote it, and a register of many large siblings may hold more objects than one message may.
  codec::DecodeLimits unbounded_objects;
  unbounded_objects.objects_max = std::numeric_limits<std::size_t>::max();
  const auto value = codec::decode(image_, unbounded_objects);
  if (!value) return tl::unexpected(value.error());
  auto cell = codec::cell_from_value(*value);
  if (!cell) return tl::unexpected(cell.error());
  cell_ = std::make_shared<const Cell>(std::move(*cell));
  return cell_;
}

const std::string& StoredCell::image() const {
  if (image_.empty()) image_ = encode_image(cell_.get());
  return image_;
}

Result<Sum128> StoredCell::digest(const CellKey& key) const {
  if (digest_) return *digest_;
  const auto decoded = cell();
  if (!decoded) return tl::unexpected(decoded.error());
  digest_ = *decoded ? digest_of(key, **decoded) : Sum128{};
  return *digest_;
}

void StoredCell::set_cell(CellPointer cell) {
  cell_ = std::move(cell);
  image_.clear();
  digest_.reset();
}

void StoredCell::set_image(std::string image) {
  image_ = std::move(image);
  cell_ = nullptr;
  digest_.reset();
}

std::string board_prefix(BoardNumber number) {
  std::string key;
  put_be64(key, static_cast<std::uint64_t>(number));
  return key;
}

std::string field_key(BoardNumber number, const Path& path) {
  const std::string& path_key = path.key();
  if (path_key.size() <= path_key_bytes_max) return board_prefix(number) + path_key;
  return board_prefix(number) + path_key.substr(0, path_key_cut_bytes) + cut_mark + short_hash(path_key);
}

std::string parts_prefix(BoardNumber number, const Path& path) { return board_prefix(number) + short_hash(path.key()); }

std::string part_prefix(BoardNumber number, const Path& path, Part part) {
  return parts_prefix(number, path) + static_cast<char>(part);
}

std::string part_key(BoardNumber number, const CellKey& key) {
  TAFEL_CHECK(key.part != Part::leaf, "a leaf lies in the record of its field");
  return part_prefix(number, key.path, key.part) + key.id;
}

std::optional<PartPlace> place_of_part(std::string_view part_key) {
  constexpr std::size_t part_at = number_bytes + hash_bytes;
  if (part_key.size() <= part_at + 1) return std::nullopt;
  const auto part = static_cast<Part>(part_key[part_at]);
  if (part == Part::leaf || part > Part::suggestion) return std::nullopt;
  return PartPlace{part, std::string(part_key.substr(part_at + 1))};
}

std::string event_key(BoardNumber number, Version version) {
  std::string key = board_prefix(number);
  put_be64(key, version);
  return key;
}

Version version_of_event(std::string_view event_key) {
  return event_key.size() != 2 * number_bytes ? 0 : get_be64(event_key.substr(number_bytes));
}

std::string delta_hash(std::string_view actor, std::string_view delta_id) {
  return short_hash(std::string(actor) + '\0' + std::string(delta_id));
}

std::string receipt_key(BoardNumber number, std::string_view delta_hash) {
  return board_prefix(number).append(delta_hash);
}

std::string queue_key(BoardNumber number, std::uint64_t sequence) {
  std::string key = board_prefix(number);
  put_be64(key, sequence);
  return key;
}

std::string fork_key(BoardNumber parent, BoardNumber fork) { return board_prefix(parent) + board_prefix(fork); }

std::string floors_prefix(BoardNumber number, const CellKey& key) {
  return part_prefix(number, key.path, key.part).append(key.id);
}

std::string floor_key(BoardNumber number, const CellKey& key, Version version) {
  std::string bytes = floors_prefix(number, key);
  put_be64(bytes, ~version);  // so that the newest one at or before a version is the next one in the table
  return bytes;
}

Version version_of_floor(std::string_view floor_key) {
  return floor_key.size() < number_bytes ? 0 : ~get_be64(floor_key.substr(floor_key.size() - number_bytes));
}

std::string expiry_key(TimeMs time, BoardNumber number, const CellKey& key) {
  std::string cell = key.path.key() + '\0' + static_cast<char>(key.part) + key.id;
  std::string bytes;
  put_be64(bytes, static_cast<std::uint64_t>(time));
  return bytes + board_prefix(number) + short_hash(cell);
}

std::optional<TimeMs> time_of_expiry(std::string_view expiry_key) {
  if (expiry_key.size() != 2 * number_bytes + hash_bytes) return std::nullopt;
  return static_cast<TimeMs>(get_be64(expiry_key));
}

bool is_expiry_of(BoardNumber number, std::string_view expiry_key) {
  return expiry_key.size() > number_bytes && expiry_key.substr(number_bytes).starts_with(board_prefix(number));
}

std::string encode_number(std::uint64_t number) {
  std::string payload;
  put_number(payload, number);
  return payload;
}

std::optional<std::uint64_t> decode_number(std::string_view payload) {
  PayloadReader reader(payload);
  const std::uint64_t number = reader.number();
  if (!reader.is_read_whole()) return std::nullopt;
  return number;
}

std::string encode_board(const BoardRecord& record) {
  std::string payload;
  put_number(payload, static_cast<std::uint64_t>(record.number));
  put_number(payload, record.head.version);
  put_number(payload, static_cast<std::uint64_t>(record.head.time));
  put_number(payload, record.head.floor);
  put_number(payload, record.head.erased);
  put_number(payload, record.deleted);
  put_number(payload, record.is_purged ? 1 : 0);
  put_number(payload, record.log_bytes);
  put_number(payload, record.receipts_first);
  put_number(payload, record.receipts_next);
  put_number(payload, record.fork);
  return payload.append(as_view(record.head.hash)).append(to_bytes(record.head.digest)).append(record.parent);
}

std::optional<BoardRecord> decode_board(std::string_view payload) {
  PayloadReader reader(payload);
  BoardRecord record;
  record.number = static_cast<BoardNumber>(reader.number());
  record.head.version = reader.number();
  record.head.time = static_cast<TimeMs>(reader.number());
  record.head.floor = reader.number();
  record.head.erased = reader.number();
  record.deleted = reader.number();
  record.is_purged = reader.number() == 1;
  record.log_bytes = reader.number();
  record.receipts_first = reader.number();
  record.receipts_next = reader.number();
  record.fork = reader.number();
  record.head.hash = sha256_from_bytes(reader.take(32));
  record.head.digest = sum_from_bytes(reader.take(16));
  record.parent = reader.take_rest();
  reader.expect((record.fork == 0) == record.parent.empty() && record.fork <= record.head.version);
  reader.expect(record.number != BoardNumber::none && record.receipts_first <= record.receipts_next);
  reader.expect(record.deleted == 0 ? !record.is_purged : record.deleted == record.head.version);
  if (!reader.is_read_whole()) return std::nullopt;
  return record;
}

std::string encode_field(const Path& path, const FieldRecord& record) {
  std::string payload;
  put_number(payload, record.info.kind ? static_cast<std::uint64_t>(*record.info.kind) + 1 : 0);
  put_number(payload, record.info.changed);
  put_number(payload, record.info.parts);
  put_number(payload, record.info.lasting);
  const bool is_cut = path.key().size() > path_key_bytes_max;
  put_number(payload, is_cut ? path.key().size() : 0);
  if (is_cut) payload.append(path.key());
  put_number(payload, record.erased);
  put_trail(payload, record.trail);
  put_cell(payload, record.leaf);
  return payload;
}

std::optional<FieldRecord> decode_field(std::string_view payload) {
  PayloadReader reader(payload);
  FieldRecord record;
  record.info = take_field_head(reader).info;
  record.erased = reader.number();
  record.trail = take_trail(reader);
  record.leaf = take_cell(reader);
  if (!reader.is_read_whole()) return std::nullopt;
  return record;
}

std::optional<Path> path_of_field(std::string_view key, std::string_view payload) {
  if (!is_cut_field_key(key)) {
    if (key.size() <= number_bytes) return std::nullopt;
    return Path::from_key(std::string(key.substr(number_bytes)));
  }
  PayloadReader reader(payload);
  const std::string_view path = take_field_head(reader).path;
  if (path.size() <= path_key_bytes_max) return std::nullopt;
  return Path::from_key(std::string(path));
}

std::string encode_part(const StoredCell& record) {
  std::string payload;
  put_cell(payload, record);
  return payload;
}

std::optional<StoredCell> decode_part(std::string_view payload) {
  PayloadReader reader(payload);
  StoredCell record = take_cell(reader);
  if (!reader.is_read_whole()) return std::nullopt;
  return record;
}

std::string encode_receipt(const ReceiptRecord& record) {
  std::string payload;
  put_number(payload, record.sequence);
  payload.append(as_view(record.payload_hash));
  put_number(payload, record.version);
  return payload.append(record.receipt);
}

std::optional<ReceiptRecord> decode_receipt(std::string_view payload) {
  PayloadReader reader(payload);
  ReceiptRecord record;
  record.sequence = reader.number();
  record.payload_hash = sha256_from_bytes(reader.take(32));
  record.version = reader.number();
  record.receipt = reader.take_rest();
  reader.expect((record.version == 0) != record.receipt.empty());
  if (!reader.is_read_whole()) return std::nullopt;
  return record;
}

std::string erasure_key(std::uint64_t sequence) {
  std::string key;
  put_be64(key, sequence);
  return key;
}

std::uint64_t sequence_of_erasure(std::string_view erasure_key) { return get_be64(erasure_key); }

std::string encode_erasure(const ErasureRecord& record) {
  std::string payload;
  for (const std::string* text : {&record.board, &record.path, &record.actor}) {
    put_number(payload, text->size());
    payload.append(*text);
  }
  put_number(payload, record.version);
  put_number(payload, static_cast<std::uint64_t>(record.time));
  put_number(payload, record.scrubbed);
  put_number(payload, record.is_done ? 1 : 0);
  return payload.append(record.cursor);
}

std::optional<ErasureRecord> decode_erasure(std::string_view payload) {
  PayloadReader reader(payload);
  ErasureRecord record;
  for (std::string* text : {&record.board, &record.path, &record.actor}) *text = reader.take(reader.number());
  record.version = reader.number();
  record.time = static_cast<TimeMs>(reader.number());
  record.scrubbed = reader.number();
  record.is_done = reader.number() == 1;
  record.cursor = reader.take_rest();
  reader.expect(!record.board.empty() && !record.path.empty() && record.version > 0);
  if (!reader.is_read_whole()) return std::nullopt;
  return record;
}

std::string encode_fork(const ForkRecord& record) {
  std::string payload;
  put_number(payload, record.version);
  return payload.append(record.board);
}

std::optional<ForkRecord> decode_fork(std::string_view payload) {
  PayloadReader reader(payload);
  ForkRecord record;
  record.version = reader.number();
  record.board = reader.take_rest();
  reader.expect(record.version > 0 && !record.board.empty());
  if (!reader.is_read_whole()) return std::nullopt;
  return record;
}

std::string encode_expiring(const ExpiringCell& cell) {
  std::string payload;
  put_number(payload, cell.board.size());
  payload.append(cell.board);
  put_number(payload, cell.key.path.key().size());
  payload.append(cell.key.path.key());
  payload.push_back(static_cast<char>(cell.key.part));
  return payload.append(cell.key.id);
}

std::optional<ExpiringCell> decode_expiring(std::string_view payload) {
  PayloadReader reader(payload);
  std::string board(reader.take(reader.number()));
  std::string path(reader.take(reader.number()));
  const auto part = static_cast<Part>(reader.take(1).front());
  std::string id(reader.take_rest());
  reader.expect(!board.empty() && !path.empty() && part <= Part::suggestion);
  if (!reader.is_read_whole()) return std::nullopt;
  return ExpiringCell{std::move(board), {Path::from_key(std::move(path)), part, std::move(id)}};
}

std::string encode_queued(const QueuedReceipt& queued) {
  std::string payload;
  put_number(payload, static_cast<std::uint64_t>(queued.time));
  return payload.append(queued.delta_hash);
}

std::optional<QueuedReceipt> decode_queued(std::string_view payload) {
  PayloadReader reader(payload);
  QueuedReceipt queued;
  queued.time = static_cast<TimeMs>(reader.number());
  queued.delta_hash = reader.take(hash_bytes);
  if (!reader.is_read_whole()) return std::nullopt;
  return queued;
}

}  // namespace tafel::store
