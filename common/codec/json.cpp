#include "common/codec/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <exception>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/value_builder.hpp"

namespace tafel::codec {
namespace {

constexpr std::string_view bytes_key = "$bytes";
constexpr std::string_view map_key = "$map";
constexpr int out_of_range_number = 406;  // nlohmann's id of "number overflow"

// An iterator over the text that tells how far the parser has read, for the offset in an error.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** seen;

  reference operator*() const { return *at; }
  Cursor& operator++() {
    *seen = ++at;
    return *this;
  }
  Cursor operator++(int) {
    const Cursor before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Cursor& left, const Cursor& right) { return left.at == right.at; }
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.'; }

// The word around `offset`, as in "NaN" or "-Infinity". Short: nobody needs more of it.
std::string_view word_at(std::string_view text, std::size_t offset) {
  constexpr std::size_t longest = 16;
  std::size_t begin = std::min(offset, text.size());
  while (begin > 0 && offset - begin < longest && is_word(text[begin - 1])) --begin;
  std::size_t end = begin;
  while (end < text.size() && end - begin < longest && is_word(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// What other languages write for the numbers that JSON lacks.
bool is_not_finite(std::string_view word) {
  std::string lower;
  for (const char c : word) lower.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  if (!lower.empty() && (lower[0] == '-' || lower[0] == '+')) lower.erase(0, 1);
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

// nlohmann's sentence without its own prefix, and without the token that it repeats (which may be long, and bad UTF-8).
std::string plain_reason(std::string_view what) {
  if (const std::size_t begin = what.find("syntax error"); begin != std::string_view::npos) what.remove_prefix(begin);
  what = what.substr(0, what.find("; last read"));
  constexpr std::size_t longest = 200;
  what = what.substr(0, longest);
  return is_utf8(what) ? std::string(what) : "syntax error";
}

// Receives the events of nlohmann's parser. Its stack is a vector, so deep text does not reach ours.
class Reader {
 public:
  explicit Reader(std::string_view text)
      // A map may be wrapped in {"$map": …}, which doubles the levels of the text.
      : text_(text), seen_(text.data()), builder_(2 * DecodeLimits{}.depth_max) {}

  bool null() { return builder_.put(Value()); }
  bool boolean(bool value) { return builder_.put(Value(value)); }
  bool number_integer(std::int64_t value) { return builder_.put(Value(value)); }
  bool number_unsigned(std::uint64_t value) { return builder_.put(Value(value)); }
  bool number_float(double value, const std::string& token);
  bool string(std::string& value) { return builder_.put(Value(std::move(value))); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // not in text
  bool start_object(std::size_t) { return builder_.begin_map(); }
  bool key(std::string& key) { return builder_.key(std::move(key)); }
  bool end_object() { return builder_.end(); }
  bool start_array(std::size_t) { return builder_.begin_list(); }
  bool end_array() { return builder_.end(); }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error);

  Cursor begin() { return {text_.data(), &seen_}; }
  Cursor end() { return {text_.data() + text_.size(), &seen_}; }
  Value take() { return builder_.take(); }
  JsonError take_error();

 private:
  bool refuse_number(std::string_view token);

  std::string_view text_;
  const char* seen_;
  ValueBuilder builder_;
  std::optional<std::size_t> offset_;  // of the error, where the parser told it
  bool bad_number_ = false;
};

bool Reader::number_float(double value, const std::string& token) {
  // An integer that fits neither int64 nor uint64 comes here as a rounded float: refused, for no digit may be lost
  // silently.
  const bool is_integer_literal = token.find_first_of(".eE") == std::string::npos;
  if (is_integer_literal || !std::isfinite(value)) return refuse_number(token);
  return builder_.put(Value(value));
}

bool Reader::refuse_number(std::string_view token) {
  bad_number_ = true;
  return builder_.refuse(fmt::format("{} is not a number that a value can hold (finite; integers from -2^63 to 2^64-1)",
                                     brief(Value(token))));
}

bool Reader::parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error) {
  offset_ = position == 0 ? 0 : position - 1;
  if (error.id == out_of_range_number) return refuse_number(token);
  const std::string_view word = word_at(text_, *offset_);
  if (is_not_finite(word)) return refuse_number(word);
  return builder_.refuse(plain_reason(error.what()));
}

JsonError Reader::take_error() {
  const auto seen = static_cast<std::size_t>(seen_ - text_.data());
  const std::size_t offset = std::min(offset_.value_or(seen == 0 ? 0 : seen - 1), text_.size());
  JsonError error;
  error.message = fmt::format("JSON, near byte {}: {}", offset, builder_.error());
  error.location = builder_.location();
  error.bad_number = bad_number_;
  error.partial = builder_.take_partial();
  return error;
}

// The one member of a map that stands for something else ({"$bytes": …}, {"$map": …}), or null.
const MapEntry* escape_of(const Value& value) {
  const auto* map = value.get_if<Map>();
  if (map == nullptr || map->size() != 1) return nullptr;
  const MapEntry& only = map->front();
  return only.first == bytes_key || only.first == map_key ? &only : nullptr;
}

// Turns the escapes into what they stand for, and checks the depth of the result.
class Unescape {
 public:
  explicit Unescape(std::size_t depth_max) : depth_max_(depth_max) {}

  bool run(Value& value, std::size_t depth = 0);
  JsonError take_error() { return std::move(error_); }

 private:
  bool members(Map& map, std::size_t depth);
  bool items(List& list, std::size_t depth);
  bool bytes(Value& value);
  bool refuse(std::string message);

  std::size_t depth_max_;
  std::vector<std::string> location_;
  JsonError error_;
};

bool Unescape::run(Value& value, std::size_t depth) {
  if (const MapEntry* escape = escape_of(value)) {
    if (escape->first == bytes_key) return bytes(value);
    if (escape->second.get_if<Map>() == nullptr)
      return refuse("\"$map\" alone in a map stands for a map; its member must be one");
    Value inner = std::move(value.get_if<Map>()->front().second);  // the keys of an escaped map are literal
    value = std::move(inner);
    return members(*value.get_if<Map>(), depth);
  }
  if (auto* map = value.get_if<Map>()) return members(*map, depth);
  if (auto* list = value.get_if<List>()) return items(*list, depth);
  return true;
}

bool Unescape::members(Map& map, std::size_t depth) {
  if (depth >= depth_max_) return refuse(fmt::format("lists and maps nested deeper than {}", depth_max_));
  for (auto& [key, member] : map) {
    location_.push_back(key);
    if (!run(member, depth + 1)) return false;
    location_.pop_back();
  }
  return true;
}

bool Unescape::items(List& list, std::size_t depth) {
  if (depth >= depth_max_) return refuse(fmt::format("lists and maps nested deeper than {}", depth_max_));
  for (std::size_t i = 0; i < list.size(); ++i) {
    location_.push_back(std::to_string(i));
    if (!run(list[i], depth + 1)) return false;
    location_.pop_back();
  }
  return true;
}

bool Unescape::bytes(Value& value) {
  const auto* text = value.find(bytes_key)->get_if<std::string>();
  auto data = text == nullptr ? std::nullopt : from_base64(*text);
  if (!data) return refuse("\"$bytes\" alone in a map stands for bytes; its member must be base64 text with padding");
  value = Value(Bytes{std::move(*data)});
  return true;
}

bool Unescape::refuse(std::string message) {
  error_.message = "JSON: " + std::move(message);
  error_.location = location_;
  return false;
}

tl::expected<Value, JsonError> parse(std::string_view text) {
  Reader reader(text);
  if (!nlohmann::json::sax_parse(reader.begin(), reader.end(), &reader)) return tl::unexpected(reader.take_error());
  Value value = reader.take();
  Unescape unescape(DecodeLimits{}.depth_max);
  if (unescape.run(value)) return value;
  JsonError error = unescape.take_error();
  error.partial = std::move(value);
  return tl::unexpected(std::move(error));
}

void write_text(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else if (byte == 0xC2 && next >= 0x80 && next <= 0x9F) {  // U+0080–U+009F: terminals obey them
      out += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  out += '"';
}

void write_number(std::string& out, double number) {
  // No value is infinite. A reader refuses this text, so nothing turns into something else silently.
  if (!std::isfinite(number)) {
    out += std::isnan(number) ? "NaN" : (number < 0 ? "-Infinity" : "Infinity");
    return;
  }
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

struct WriterOptions {
  int indent = 0;          // compact
  bool canonical = false;  // doubles that equal an integer are written as that integer
};

class Writer {
 public:
  Writer(std::string& out, WriterOptions options) : out_(out), options_(options) {}

  void write(const Value& value);

 private:
  void write_escaped_map(const Map& map);
  void write_double(double number);
  void write_list(const List& list);
  void write_map(const Map& map);
  void new_line() {
    if (options_.indent <= 0) return;
    out_ += '\n';
    out_.append(level_ * static_cast<std::size_t>(options_.indent), ' ');
  }
  void write_key(std::string_view key) {
    write_text(out_, key);
    out_ += options_.indent > 0 ? ": " : ":";
  }

  std::string& out_;
  WriterOptions options_;
  std::size_t level_ = 0;
};

void Writer::write(const Value& value) {
  struct Visit {
    Writer& writer;
    std::string& out;
    bool needs_escape;
    void operator()(Nil) const { out += "null"; }
    void operator()(bool flag) const { out += flag ? "true" : "false"; }
    void operator()(std::int64_t number) const { out += std::to_string(number); }
    void operator()(std::uint64_t number) const { out += std::to_string(number); }
    void operator()(double number) const { writer.write_double(number); }
    void operator()(const std::string& text) const { write_text(out, text); }
    void operator()(const Bytes& bytes) const {
      writer.write_map({{std::string(bytes_key), Value(to_base64(bytes.data))}});
    }
    void operator()(const List& list) const { writer.write_list(list); }
    void operator()(const Map& map) const { needs_escape ? writer.write_escaped_map(map) : writer.write_map(map); }
  };
  std::visit(Visit{*this, out_, escape_of(value) != nullptr}, value.variant());
}

void Writer::write_double(double number) {
  if (options_.canonical) {
    if (const auto integer = Value(number).as_int64()) return write(Value(*integer));
    if (const auto integer = as_uint64(Value(number))) return write(Value(*integer));
  }
  write_number(out_, number);
}

void Writer::write_list(const List& list) {
  out_ += '[';
  ++level_;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out_ += ',';
    new_line();
    write(list[i]);
  }
  --level_;
  if (!list.empty()) new_line();
  out_ += ']';
}

void Writer::write_map(const Map& map) {
  out_ += '{';
  ++level_;
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (i > 0) out_ += ',';
    new_line();
    write_key(map[i].first);
    write(map[i].second);
  }
  --level_;
  if (!map.empty()) new_line();
  out_ += '}';
}

void Writer::write_escaped_map(const Map& map) {
  out_ += '{';
  ++level_;
  new_line();
  write_key(map_key);
  write_map(map);
  --level_;
  new_line();
  out_ += '}';
}

}  // namespace

tl::expected<Value, JsonError> parse_json(std::string_view text) {
  try {
    return parse(text);
  } catch (const std::exception& error) {  // no memory
    JsonError failed;
    failed.message = fmt::format("JSON cannot be read: {}", error.what());
    return tl::unexpected(std::move(failed));
  }
}

std::string to_json(const Value& value, int indent) {
  std::string text;
  Writer(text, {.indent = indent}).write(value);
  return text;
}

std::string to_canonical_json(const Value& value) {
  std::string text;
  Writer(text, {.canonical = true}).write(value);
  return text;
}

}  // namespace tafel::codec
