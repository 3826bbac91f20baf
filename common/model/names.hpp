// Names: board ids, dot paths, actor and delta ids, and the patterns that rights and schemas use to speak of many of
// them.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace tafel {

// Reserved paths of the boards' own verbs.
inline constexpr std::string_view fork_path = "$fork";            // of a fork: {"parent", "version"}
inline constexpr std::string_view merge_path = "$merge";          // named by the op, nothing stands there
inline constexpr std::string_view retention_path = "$retention";  // how much of the history is kept
inline constexpr std::string_view tags_path = "$tags";            // below it, by name: a version
inline constexpr std::string_view board_path = "$board";          // names the whole board, nothing stands there

// The place of a field: segments, written with dots ("education.undergraduate.gpa"; `\.` is a literal dot, `\\` a
// backslash). Paths are ordered so that everything below a path directly follows it.
class Path {
 public:
  // The message of a failure says what is wrong with the text.
  static Result<Path> parse(std::string_view text);
  // From literal segments, checked like parse.
  static Result<Path> from_segments(const std::vector<std::string>& segments);

  std::string text() const;
  std::vector<std::string> segments() const;
  std::string_view first_segment() const;
  std::size_t depth() const;                   // number of segments
  Path child(std::string_view segment) const;  // the segment must be well-formed (is_segment)
  std::optional<Path> parent() const;          // nullopt for a path of one segment
  bool is_below(const Path& ancestor) const;   // strictly below
  bool is_at_or_below(const Path& ancestor) const { return *this == ancestor || is_below(ancestor); }
  bool is_reserved() const { return first_segment().starts_with('$'); }

  // The segments joined by U+0000 (which no segment holds): sorts as paths sort.
  const std::string& key() const { return key_; }
  static Path from_key(std::string key) { return Path(std::move(key)); }  // `key` came from key()

  friend bool operator==(const Path&, const Path&) = default;
  friend std::strong_ordering operator<=>(const Path& left, const Path& right) { return left.key_ <=> right.key_; }

 private:
  explicit Path(std::string key) : key_(std::move(key)) {}
  std::string key_;
};

// What is wrong with one literal segment (empty, control character, bad UTF-8), or nullopt.
std::optional<std::string> segment_defect(std::string_view segment);

// A board id: 1 to 8 segments joined by "/", the first one is the tenant. nullopt when well-formed.
std::optional<std::string> board_id_defect(std::string_view id);
std::string_view tenant_of(std::string_view board_id);

// An actor or delta id: 1 to 128 bytes of UTF-8 without control characters. nullopt when well-formed.
std::optional<std::string> name_defect(std::string_view name);

// Patterns over segments: `*` stands for one segment, `**` for any number (none too); other segments are literal. Board
// patterns are split at "/", path patterns at "." as paths are.
class Pattern {
 public:
  static Result<Pattern> for_boards(std::string_view text);
  static Result<Pattern> for_paths(std::string_view text);

  bool matches(const std::vector<std::string>& segments) const;
  bool matches_everything() const;
  const std::string& text() const { return text_; }
  const std::vector<std::string>& parts() const { return parts_; }

 private:
  std::string text_;
  std::vector<std::string> parts_;
};

std::vector<std::string> board_segments(std::string_view board_id);

}  // namespace tafel
