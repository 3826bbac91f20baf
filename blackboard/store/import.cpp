#include "blackboard/store/import.hpp"

#include <fmt/format.h>

#include <memory>

#include "blackboard/store/board_import.hpp"
#include "blackboard/store/erasure_ledger.hpp"
#include "blackboard/store/export.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/bytes.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/json.hpp"

namespace tafel::store {
namespace {

std::optional<std::string> bytes_from_hex(std::string_view text) {
  std::string bytes;
  if (text.size() % 2 != 0) return std::nullopt;
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

Result<DeclaredBoard> declared_from(const Value& value) {
  codec::MemberReader in(value, "a board");
  DeclaredBoard board;
  board.id = in.text("board");
  board.head.version = in.number("version");
  board.head.time = in.integer("time");
  board.head.floor = in.number("floor");
  board.head.erased = in.number("erased");
  const auto hash = bytes_from_hex(in.text("hash"));
  const auto digest = bytes_from_hex(in.text("digest"));
  if (board_id_defect(board.id)) in.refuse("board", "the id of a board");
  if (board.head.version == 0) in.refuse("version", "above 0");
  if (!hash || hash->size() != sizeof(Sha256)) in.refuse("hash", "64 digits of hex");
  if (!digest || digest->size() != 16) in.refuse("digest", "32 digits of hex");
  if (in.has("parent")) {
    codec::MemberReader parent(in.member("parent"), "a parent");
    board.parent = parent.text("board");
    board.fork = parent.number("version");
    if (board_id_defect(board.parent)) parent.refuse("board", "the id of a board");
    if (board.parent == board.id) parent.refuse("board", "another board");
    if (auto read = parent.finish(true); !read) in.keep(read.error());
  }
  if (in.failed()) return in.finish(std::move(board));
  board.head.hash = sha256_from_bytes(*hash);
  board.head.digest = sum_from_bytes(*digest);
  return board;
}

std::size_t id_bytes_max(Part part) {
  return part == Part::element ? 33 : part == Part::leaf || part == Part::field ? 0 : 12;
}

Result<BaseImage> image_from(const Value& value) {
  codec::MemberReader in(value, "an image");
  const auto path = Path::parse(in.text("path"));
  const auto part = static_cast<Part>(in.number("part", static_cast<std::uint64_t>(Part::field)));
  const auto id = from_base64(in.text("id"));
  const auto record = from_base64(in.text("record"));
  const bool is_older = in.boolean("older");
  const bool is_known = in.boolean("known");
  if (!path) in.refuse("path", "a dot path");
  if (!record) in.refuse("record", "base64");
  const std::size_t bytes = id_bytes_max(part);
  const bool fits = id && (part == Part::element ? !id->empty() && id->size() <= bytes : id->size() == bytes);
  if (!fits) in.refuse("id", "the id of such a cell, in base64");
  const CellKey key{path.value_or(Path::from_key({})), part, id.value_or("")};
  return in.finish(BaseImage{key, record.value_or(""), is_older, is_known});
}

class Importing {
 public:
  Importing(Kv& kv, Random& random, TimeMs now) : kv_(kv), random_(random), now_(now) {}

  Result<ImportCounts> run(const NextLine& next_line) {
    auto done = read_all(next_line);
    if (done) return counts_;
    if (board_) {
      // The first failure is the one to be told; what can not be removed now is removed when the store is next opened.
      static_cast<void>(board_->abandon());
    }
    return tl::unexpected(std::move(done.error()));
  }

 private:
  Result<void> read_all(const NextLine& next_line) {
    while (!is_ended_) {
      const auto text = next_line();
      if (!text) return tl::unexpected(text.error());
      ++number_;
      if (!*text) return located(wrong("the file ends without its last line: it was cut off").value());
      if (auto taken = take(**text); !taken) return located(std::move(taken.error()));
    }
    ++number_;
    const auto more = next_line();
    if (!more) return tl::unexpected(more.error());
    if (*more)
      return located(wrong("the file goes on after the end of the export, which was taken; the rest was not").value());
    return {};
  }

  tl::unexpected<Failure> located(Failure failure) const {
    return fail(failure.fault, fmt::format("line {}: {}", number_, failure.message));
  }

  Result<void> take(const std::string& text) {
    const auto value = codec::parse_json(text);
    if (!value) return wrong("this is no line of an export: " + value.error().message);
    codec::MemberReader in(*value, "a line of an export");
    const std::string kind = in.text("line");
    if (in.failed()) return in.finish(true).map([](bool) {});
    if ((number_ == 1) != (kind == "header")) return wrong("an export begins with one line \"header\"");
    if (kind == "header") return take_header(*value);
    if (kind == "board") return take_board(*value);
    if (kind == "image") return take_image(*value);
    if (kind == "event") return take_event(*value);
    if (kind == "erasure") return take_erasure(*value);
    if (kind == "end") return take_end(*value);
    return wrong("an export has no lines " + brief(Value(kind)));
  }

  Result<void> take_header(const Value& value) {
    codec::MemberReader in(value, "the header");
    const std::uint64_t format = in.number("tafel_export");
    if (format != export_format) in.refuse("tafel_export", fmt::format("{}", export_format));
    return in.finish(true).map([](bool) {});
  }

  Result<void> take_board(const Value& value) {
    if (auto finished = finish_board(); !finished) return finished;
    auto declared = declared_from(value);
    if (!declared) return tl::unexpected(declared.error());
    board_ = std::make_unique<BoardImport>(kv_, random_, now_, std::move(*declared));
    const auto is_known = board_->begin();
    if (!is_known) return tl::unexpected(is_known.error());
    is_known_ = *is_known;
    return {};
  }

  Result<void> take_image(const Value& value) {
    const auto image = image_from(value);
    if (!image) return tl::unexpected(image.error());
    if (!board_) return wrong("an image stands before any board");
    return is_known_ ? Result<void>() : board_->add(*image);
  }

  Result<void> take_event(const Value& value) {
    codec::MemberReader in(value, "an event");
    const auto record = from_base64(in.text("record"));
    if (!record) in.refuse("record", "base64");
    if (in.failed()) return in.finish(true).map([](bool) {});
    if (!board_) return wrong("an event stands before any board");
    ++versions_;
    return is_known_ ? Result<void>() : board_->add(*record);
  }

  Result<void> take_erasure(const Value& value) {
    auto erasure = erasure_from_value(value);
    if (!erasure) return tl::unexpected(erasure.error());
    if (!board_) return wrong("an erasure stands before any board");
    return is_known_ ? Result<void>() : board_->add(std::move(*erasure));
  }

  Result<void> take_end(const Value& value) {
    if (auto finished = finish_board(); !finished) return finished;
    codec::MemberReader in(value, "the last line");
    if (in.number("boards") != boards_) in.refuse("boards", fmt::format("{}, as that many came", boards_));
    if (in.number("versions") != versions_) in.refuse("versions", fmt::format("{}, as that many came", versions_));
    is_ended_ = true;
    return in.finish(true).map([](bool) {});
  }

  Result<void> finish_board() {
    if (!board_) return {};
    ++boards_;
    if (is_known_) {
      ++counts_.boards_known;
    } else {
      const auto left_out = board_->finish();
      if (!left_out) return tl::unexpected(left_out.error());
      ++counts_.boards;
      counts_.versions += versions_ - versions_before_;
      counts_.fields_left_out += *left_out;
    }
    versions_before_ = versions_;
    board_.reset();
    return {};
  }

  Kv& kv_;
  Random& random_;
  const TimeMs now_;
  std::size_t number_ = 0;              // of the line
  std::unique_ptr<BoardImport> board_;  // whose lines come
  bool is_known_ = false;
  bool is_ended_ = false;
  std::uint64_t boards_ = 0;  // of the file
  std::uint64_t versions_ = 0;
  std::uint64_t versions_before_ = 0;
  ImportCounts counts_;
};

// Keys of the board's records in one table, at most so many.
Result<std::vector<std::string>> some_keys(KvRead& kv, Table table, BoardNumber number, std::size_t count) {
  std::vector<std::string> keys;
  const bool is_by_time = table == Table::expiry;
  const std::string prefix = is_by_time ? std::string() : board_prefix(number);
  const auto scanned = kv.scan(table, prefix, [&](std::string_view key, std::string_view) {
    if (!key.starts_with(prefix)) return false;
    if (!is_by_time || is_expiry_of(number, key)) keys.emplace_back(key);
    return keys.size() < count;
  });
  if (!scanned) return tl::unexpected(scanned.error());
  return keys;
}

// Removes some records of the board; false when there are none.
Result<bool> remove_some(Kv& kv, BoardNumber number) {
  for (const Table table : {Table::fields, Table::parts, Table::events, Table::floors, Table::expiry}) {
    const auto write = kv.write();
    if (!write) return tl::unexpected(write.error());
    (*write)->use_reserve(true);
    const auto keys = some_keys(**write, table, number, limits::import_undo_records);
    if (!keys) return tl::unexpected(keys.error());
    if (keys->empty()) continue;
    for (const std::string& key : *keys) {
      if (auto erased = (*write)->erase(table, key); !erased) return tl::unexpected(erased.error());
    }
    if (auto committed = (*write)->commit(); !committed) return tl::unexpected(committed.error());
    return true;
  }
  return false;
}

}  // namespace

Result<ImportCounts> import_boards(Kv& kv, Random& random, TimeMs now, const NextLine& next_line) {
  return Importing(kv, random, now).run(next_line);
}

Result<void> undo_import(Kv& kv) {
  std::optional<std::uint64_t> number;
  {
    const auto read = kv.read();
    if (!read) return tl::unexpected(read.error());
    const auto mark = get_record(**read, Table::meta, meta_importing);
    if (!mark) return tl::unexpected(mark.error());
    if (!*mark) return {};
    number = decode_number(**mark);
    if (!number) return bad_record(Table::meta, meta_importing, "this is no number");
  }
  for (bool more = true; more;) {
    const auto removed = remove_some(kv, static_cast<BoardNumber>(*number));
    if (!removed) return tl::unexpected(removed.error());
    more = *removed;
  }
  const auto write = kv.write();
  if (!write) return tl::unexpected(write.error());
  if (auto erased = (*write)->erase(Table::meta, meta_importing); !erased) return erased;
  return (*write)->commit();
}

}  // namespace tafel::store
