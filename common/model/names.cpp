#include "common/model/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace tafel {
namespace {

constexpr char separator = '\0';

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The literal segments of a dot path; a failure for a backslash that escapes neither a dot nor a backslash.
Result<std::vector<std::string>> split_dots(std::string_view text) {
  std::vector<std::string> segments(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      segments.emplace_back();
    } else if (c != '\\') {
      segments.back().push_back(c);
    } else {
      const char escaped = i + 1 < text.size() ? text[i + 1] : '\0';
      if (escaped != '.' && escaped != '\\') {
        return fail(Fault::bad_bytes, "a backslash may only stand before a dot or a backslash (\\. or \\\\)");
      }
      segments.back().push_back(escaped);
      ++i;
    }
  }
  return segments;
}

// The key of a path as most are written, without escapes and defects; nullopt where one must look closer.
std::optional<std::string> key_of_plain(std::string_view text) {
  if (text.empty() || text.front() == '.' || text.back() == '.') return std::nullopt;
  std::string key(text);
  std::size_t segments = 1;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '\\') return std::nullopt;
    if (key[i] != '.') continue;
    if (key[i - 1] == separator || ++segments > limits::path_segments_max) return std::nullopt;
    key[i] = separator;
  }
  if (!is_utf8(text) || has_control_character(text)) return std::nullopt;
  return key;
}

// Goes back to the last `**` only, which suffices: time is at most parts times segments.
bool match(const std::vector<std::string>& parts, const std::vector<std::string>& segments) {
  std::size_t part = 0;
  std::size_t segment = 0;
  std::optional<std::size_t> many;  // the last `**`, and the first segment that it does not stand for
  std::size_t many_end = 0;
  while (segment < segments.size()) {
    if (part < parts.size() && parts[part] == "**") {
      many = part++;
      many_end = segment;
    } else if (part < parts.size() && (parts[part] == "*" || parts[part] == segments[segment])) {
      ++part;
      ++segment;
    } else if (many) {
      part = *many + 1;
      segment = ++many_end;
    } else {
      return false;
    }
  }
  return std::all_of(parts.begin() + static_cast<std::ptrdiff_t>(part), parts.end(),
                     [](const std::string& rest) { return rest == "**"; });
}

// The parts of a pattern are segments like any other.
std::optional<Failure> parts_defect(std::string_view pattern, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (part.find('*') != std::string::npos && part != "*" && part != "**") {
      return Failure{Fault::bad_config,
                     fmt::format("the pattern \"{}\": * stands for a whole segment, ** for any number of them; \"{}\" "
                                 "would match itself only",
                                 pattern, part)};
    }
    if (auto defect = segment_defect(part))
      return Failure{Fault::bad_config, fmt::format("the pattern \"{}\": {}", pattern, *defect)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> segment_defect(std::string_view segment) {
  if (segment.empty()) return "a segment is empty";
  if (!is_utf8(segment)) return "a segment is not valid UTF-8";
  if (has_control_character(segment)) return "a segment holds a control character";
  return std::nullopt;
}

Result<Path> Path::parse(std::string_view text) {
  if (text.size() > limits::path_bytes_max) {
    return fail(Fault::bad_bytes,
                fmt::format("a path of {} bytes; at most {} are allowed", text.size(), limits::path_bytes_max));
  }
  if (auto key = key_of_plain(text)) return Path(std::move(*key));
  auto segments = split_dots(text);
  if (!segments) return tl::unexpected(segments.error());
  return from_segments(*segments);
}

Result<Path> Path::from_segments(const std::vector<std::string>& segments) {
  if (segments.empty()) return fail(Fault::bad_bytes, "a path needs at least one segment");
  if (segments.size() > limits::path_segments_max) {
    return fail(Fault::bad_bytes, fmt::format("a path of {} segments; at most {} are allowed", segments.size(),
                                              limits::path_segments_max));
  }
  std::string key;
  for (const std::string& segment : segments) {
    if (auto defect = segment_defect(segment)) return fail(Fault::bad_bytes, *defect);
    if (!key.empty()) key.push_back(separator);
    key += segment;
  }
  if (key.size() > limits::path_bytes_max) {
    return fail(Fault::bad_bytes,
                fmt::format("a path of {} bytes; at most {} are allowed", key.size(), limits::path_bytes_max));
  }
  return Path(std::move(key));
}

std::string Path::text() const {
  std::string text;
  for (const char c : key_) {
    if (c == separator) {
      text.push_back('.');
    } else {
      if (c == '.' || c == '\\') text.push_back('\\');
      text.push_back(c);
    }
  }
  return text;
}

std::vector<std::string> Path::segments() const { return split(key_, separator); }

std::string_view Path::first_segment() const { return std::string_view(key_).substr(0, key_.find(separator)); }

std::size_t Path::depth() const {
  return 1 + static_cast<std::size_t>(std::count(key_.begin(), key_.end(), separator));
}

Path Path::child(std::string_view segment) const {
  TAFEL_CHECK(!segment_defect(segment), "segments are checked before they are joined");
  return Path(key_ + separator + std::string(segment));
}

std::optional<Path> Path::parent() const {
  const std::size_t end = key_.rfind(separator);
  if (end == std::string::npos) return std::nullopt;
  return Path(key_.substr(0, end));
}

bool Path::is_below(const Path& ancestor) const {
  return key_.size() > ancestor.key_.size() && key_[ancestor.key_.size()] == separator &&
         key_.starts_with(ancestor.key_);
}

std::vector<std::string> board_segments(std::string_view board_id) { return split(board_id, '/'); }

std::optional<std::string> board_id_defect(std::string_view id) {
  if (id.empty()) return "it is missing; a board id is 1 to 8 segments joined by '/', as acme/trips/42";
  if (id.size() > limits::board_id_bytes_max) {
    return fmt::format("a board id of {} bytes; at most {} are allowed", id.size(), limits::board_id_bytes_max);
  }
  const auto segments = board_segments(id);
  if (segments.size() > limits::board_id_segments_max) {
    return fmt::format("a board id of {} segments; at most {} are allowed", segments.size(),
                       limits::board_id_segments_max);
  }
  for (const std::string& segment : segments) {
    if (auto defect = segment_defect(segment)) return "a board id is 1 to 8 segments joined by '/': " + *defect;
  }
  return std::nullopt;
}

std::string_view tenant_of(std::string_view board_id) { return board_id.substr(0, board_id.find('/')); }

std::optional<std::string> name_defect(std::string_view name) {
  if (name.empty()) return "a name is empty";
  if (name.size() > limits::name_bytes_max) {
    return fmt::format("a name of {} bytes; at most {} are allowed", name.size(), limits::name_bytes_max);
  }
  if (!is_utf8(name)) return "a name is not valid UTF-8";
  if (has_control_character(name)) return "a name holds a control character";
  return std::nullopt;
}

Result<Pattern> Pattern::for_boards(std::string_view text) {
  if (text.empty()) return fail(Fault::bad_config, "a board pattern is empty");
  Pattern pattern;
  pattern.text_ = text;
  pattern.parts_ = board_segments(text);
  if (auto defect = parts_defect(text, pattern.parts_)) return tl::unexpected(std::move(*defect));
  return pattern;
}

Result<Pattern> Pattern::for_paths(std::string_view text) {
  if (text.empty()) return fail(Fault::bad_config, "a path pattern is empty");
  auto parts = split_dots(text);
  if (!parts) return tl::unexpected(parts.error());
  Pattern pattern;
  pattern.text_ = text;
  pattern.parts_ = std::move(*parts);
  if (auto defect = parts_defect(text, pattern.parts_)) return tl::unexpected(std::move(*defect));
  return pattern;
}

bool Pattern::matches(const std::vector<std::string>& segments) const { return match(parts_, segments); }

bool Pattern::matches_everything() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const std::string& part) { return part == "**"; });
}

}  // namespace tafel
