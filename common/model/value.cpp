#include "common/model/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/check.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace tafel {
namespace {

constexpr double two_to_63 = 9223372036854775808.0;
constexpr double two_to_64 = 18446744073709551616.0;

// The integer that `number` equals, as a Value of an integer form; the double itself when there is none.
Value integer_form(double number) {
  if (std::trunc(number) != number || number < -two_to_63 || number >= two_to_64) return number;
  if (number < two_to_63) return static_cast<std::int64_t>(number);
  return static_cast<std::uint64_t>(number);
}

int sign(bool less, bool greater) { return less ? -1 : (greater ? 1 : 0); }

template <class T>
int three_way(T left, T right) {
  return sign(left<right, left> right);
}

// -1, 0, 1 of an integer form against a double that equals no integer or lies outside both integer ranges.
int compare_integer_with_double(const Value& integer, double number) {
  if (number < -two_to_63) return 1;
  if (number >= two_to_64) return -1;
  // Inside the ranges: compare with the whole part; the fraction decides a tie.
  const Value floor = integer_form(std::floor(number));
  return compare_numbers(integer, floor) <= 0 ? -1 : 1;
}

bool maps_equal(const Map& left, const Map& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const MapEntry& a, const MapEntry& b) { return a.first == b.first && a.second == b.second; });
}

}  // namespace

Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

Value::Value(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(INT64_MAX)) {
    data_ = static_cast<std::int64_t>(value);
  } else {
    data_ = value;
  }
}

Value::Value(Map value) : data_(std::move(value)) {
  auto& entries = std::get<Map>(data_);
  const auto by_key = [](const MapEntry& a, const MapEntry& b) { return a.first < b.first; };
  if (!std::is_sorted(entries.begin(), entries.end(), by_key)) std::sort(entries.begin(), entries.end(), by_key);
}

bool Value::is_number() const {
  return std::holds_alternative<std::int64_t>(data_) || std::holds_alternative<std::uint64_t>(data_) ||
         std::holds_alternative<double>(data_);
}

std::optional<std::int64_t> Value::as_int64() const {
  if (const auto* integer = get_if<std::int64_t>()) return *integer;
  if (const auto* number = get_if<double>()) {
    if (const Value form = integer_form(*number); const auto* integer = form.get_if<std::int64_t>()) return *integer;
  }
  return std::nullopt;
}

const Value* Value::find(std::string_view key) const {
  const auto* map = get_if<Map>();
  if (map == nullptr) return nullptr;
  const auto at = std::lower_bound(map->begin(), map->end(), key,
                                   [](const MapEntry& entry, std::string_view wanted) { return entry.first < wanted; });
  return at != map->end() && at->first == key ? &at->second : nullptr;
}

Value& Value::set(std::string_view key, Value member) {
  if (is_nil()) data_ = Map{};
  auto* map = get_if<Map>();
  TAFEL_CHECK(map != nullptr, "members are set on maps");
  const auto at = std::lower_bound(map->begin(), map->end(), key,
                                   [](const MapEntry& entry, std::string_view wanted) { return entry.first < wanted; });
  if (at != map->end() && at->first == key) {
    at->second = std::move(member);
  } else {
    map->emplace(at, std::string(key), std::move(member));
  }
  return *this;
}

bool operator==(const Value& left, const Value& right) {
  if (left.is_number() && right.is_number()) return compare_numbers(left, right) == 0;
  if (left.data_.index() != right.data_.index()) return false;
  if (const auto* map = left.get_if<Map>()) return maps_equal(*map, *right.get_if<Map>());
  return left.data_ == right.data_;
}

int compare_numbers(const Value& left, const Value& right) {
  TAFEL_CHECK(left.is_number() && right.is_number(), "only numbers are compared");
  const auto form = [](const Value& value) {
    const auto* number = value.get_if<double>();
    return number != nullptr ? integer_form(*number) : value;
  };
  const Value a = form(left);
  const Value b = form(right);
  const auto* a_double = a.get_if<double>();
  const auto* b_double = b.get_if<double>();
  if (a_double != nullptr && b_double != nullptr) return three_way(*a_double, *b_double);
  if (b_double != nullptr) return compare_integer_with_double(a, *b_double);
  if (a_double != nullptr) return -compare_integer_with_double(b, *a_double);
  const auto* a_signed = a.get_if<std::int64_t>();
  const auto* b_signed = b.get_if<std::int64_t>();
  if (a_signed != nullptr && b_signed != nullptr) return three_way(*a_signed, *b_signed);
  if (a_signed != nullptr) return -1;  // b lies above int64
  if (b_signed != nullptr) return 1;
  return three_way(*a.get_if<std::uint64_t>(), *b.get_if<std::uint64_t>());
}

bool is_blank(const Value& value) {
  if (value.is_nil()) return true;
  if (const auto* text = value.get_if<std::string>()) return is_white_space(*text);
  if (const auto* list = value.get_if<List>()) return list->empty();
  if (const auto* map = value.get_if<Map>()) return map->empty();
  return false;
}

namespace {

std::optional<ValueDefect> defect_of_form(const Value& value, std::size_t depth);

std::optional<ValueDefect> defect_of_list(const List& list, std::size_t depth) {
  if (list.size() > limits::value_items_max) {
    return ValueDefect{true,
                       fmt::format("a list of {} items; at most {} are allowed", list.size(), limits::value_items_max)};
  }
  for (const Value& item : list) {
    if (auto defect = defect_of_form(item, depth + 1)) return defect;
  }
  return std::nullopt;
}

std::optional<ValueDefect> defect_of_map(const Map& map, std::size_t depth) {
  if (map.size() > limits::value_items_max) {
    return ValueDefect{true,
                       fmt::format("a map of {} entries; at most {} are allowed", map.size(), limits::value_items_max)};
  }
  for (std::size_t i = 0; i < map.size(); ++i) {
    const std::string& key = map[i].first;
    if (key.size() > limits::key_bytes_max) {
      return ValueDefect{
          true, fmt::format("a map key of {} bytes; at most {} are allowed", key.size(), limits::key_bytes_max)};
    }
    if (!is_utf8(key)) return ValueDefect{false, "a map key is not valid UTF-8"};
    if (i > 0 && map[i - 1].first == key)
      return ValueDefect{false, fmt::format("the map key \"{}\" stands twice", key)};
    if (auto defect = defect_of_form(map[i].second, depth + 1)) return defect;
  }
  return std::nullopt;
}

std::optional<ValueDefect> defect_of_form(const Value& value, std::size_t depth) {
  if (const auto* number = value.get_if<double>(); number != nullptr && !std::isfinite(*number)) {
    return ValueDefect{false, "not a finite number (NaN or infinity)"};
  }
  if (const auto* text = value.get_if<std::string>(); text != nullptr && !is_utf8(*text)) {
    return ValueDefect{false, "text that is not valid UTF-8"};
  }
  const auto* list = value.get_if<List>();
  const auto* map = value.get_if<Map>();
  if ((list != nullptr || map != nullptr) && depth >= limits::value_depth_max) {
    return ValueDefect{false, fmt::format("lists and maps nested deeper than {}", limits::value_depth_max)};
  }
  if (list != nullptr) return defect_of_list(*list, depth);
  if (map != nullptr) return defect_of_map(*map, depth);
  return std::nullopt;
}

template <bool Canonical>
void write(PackWriter& out, const Value& value) {
  struct Writer {
    PackWriter& out;
    void operator()(Nil) const { out.nil(); }
    void operator()(bool flag) const { out.boolean(flag); }
    void operator()(std::int64_t number) const { out.integer(number); }
    void operator()(std::uint64_t number) const { out.unsigned_integer(number); }
    void operator()(double number) const {
      if constexpr (Canonical) {
        const Value form = integer_form(number);
        if (form.get_if<double>() == nullptr) return write<true>(out, form);
      }
      out.number(number);
    }
    void operator()(const std::string& text) const { out.text(text); }
    void operator()(const Bytes& bytes) const { out.binary(bytes.data); }
    void operator()(const List& list) const {
      out.array(list.size());
      for (const Value& item : list) write<Canonical>(out, item);
    }
    void operator()(const Map& map) const {
      out.map(map.size());
      for (const auto& [key, member] : map) {
        out.text(key);
        write<Canonical>(out, member);
      }
    }
  };
  std::visit(Writer{out}, value.variant());
}

void append_brief(std::string& out, const Value& value) {
  constexpr std::size_t enough = 60;
  if (out.size() > enough) return;
  struct Printer {
    std::string& out;
    void operator()(Nil) const { out += "null"; }
    void operator()(bool flag) const { out += flag ? "true" : "false"; }
    void operator()(std::int64_t number) const { out += std::to_string(number); }
    void operator()(std::uint64_t number) const { out += std::to_string(number); }
    void operator()(double number) const { out += fmt::format("{}", number); }
    void operator()(const std::string& text) const { out += '"' + text + '"'; }
    void operator()(const Bytes& bytes) const { out += fmt::format("<{} bytes>", bytes.data.size()); }
    void operator()(const List& list) const {
      out += '[';
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (i > 0) out += ',';
        append_brief(out, list[i]);
      }
      out += ']';
    }
    void operator()(const Map& map) const {
      out += '{';
      for (std::size_t i = 0; i < map.size(); ++i) {
        if (i > 0) out += ',';
        out += '"' + map[i].first + "\":";
        append_brief(out, map[i].second);
      }
      out += '}';
    }
  };
  std::visit(Printer{out}, value.variant());
}

}  // namespace

std::optional<ValueDefect> find_defect(const Value& value) {
  if (auto defect = defect_of_form(value, 0)) return defect;
  if (const std::size_t size = canonical(value).size(); size > limits::value_bytes_max) {
    return ValueDefect{true, fmt::format("a value of {} bytes; at most {} are allowed", size, limits::value_bytes_max)};
  }
  return std::nullopt;
}

void write_canonical(PackWriter& out, const Value& value) { write<true>(out, value); }
void write_exact(PackWriter& out, const Value& value) { write<false>(out, value); }

std::string canonical(const Value& value) {
  std::string bytes;
  PackWriter out(bytes);
  write_canonical(out, value);
  return bytes;
}

std::string brief(const Value& value) {
  constexpr std::size_t longest = 60;
  std::string text;
  append_brief(text, value);
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a UTF-8 character
  return text.substr(0, end) + "…";
}

}  // namespace tafel
