// A value of the blackboard: nil, bool, integer (all of int64 and uint64), finite float64, UTF-8 text, bytes, list, map
// with text keys. Equality is by value (1 == 1.0); the canonical encoding is the one byte form of a value: equal values
// have equal encodings, and it is valid MessagePack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/pack.hpp"

namespace tafel {

struct Nil {
  friend bool operator==(const Nil&, const Nil&) = default;
};

struct Bytes {
  std::string data;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

class Value;
using List = std::vector<Value>;
using MapEntry = std::pair<std::string, Value>;
using Map = std::vector<MapEntry>;  // sorted by the bytes of the key, keys unique

class Value {
 public:
  // uint64_t is held only above the range of int64_t, so that each integer has one form.
  using Variant = std::variant<Nil, bool, std::int64_t, std::uint64_t, double, std::string, Bytes, List, Map>;

  Value() = default;
  // Defined in value.cpp: every file that holds values would otherwise compile them anew.
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
  Value(Nil) {}
  Value(bool value) : data_(value) {}
  Value(int value) : data_(std::int64_t{value}) {}
  Value(std::int64_t value) : data_(value) {}
  Value(std::uint64_t value);
  Value(double value) : data_(value) {}
  Value(const char* value) : data_(std::string(value)) {}
  Value(std::string value) : data_(std::move(value)) {}
  Value(std::string_view value) : data_(std::string(value)) {}
  Value(Bytes value) : data_(std::move(value)) {}
  Value(List value) : data_(std::move(value)) {}
  Value(Map value);  // sorts; the keys must be unique

  const Variant& variant() const { return data_; }
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  template <class T>
  T* get_if() {
    return std::get_if<T>(&data_);
  }

  bool is_nil() const { return std::holds_alternative<Nil>(data_); }
  bool is_number() const;
  // The integer in the value (1.0 counts as 1); nullopt for anything else or outside int64.
  std::optional<std::int64_t> as_int64() const;
  // A member of a map, or null when this is no map or has no such key.
  const Value* find(std::string_view key) const;

  // Sets a member; the value must be a map or nil (which becomes a map).
  Value& set(std::string_view key, Value member);

  friend bool operator==(const Value& left, const Value& right);

 private:
  Variant data_;
};

// Numbers compare exactly over int64, uint64 and double: -1, 0 or 1.
int compare_numbers(const Value& left, const Value& right);

// nil, text that trims to nothing, an empty list or map; 0 and false are not blank.
bool is_blank(const Value& value);

// What makes `value` unacceptable (not finite, bad UTF-8, too deep, too large, too many items), or nullopt. The
// sentence names the place inside the value.
struct ValueDefect {
  bool too_large = false;  // refused for its size, not for its form
  std::string message;
};
std::optional<ValueDefect> find_defect(const Value& value);

void write_canonical(PackWriter& out, const Value& value);  // numbers in their one form
void write_exact(PackWriter& out, const Value& value);      // 1.0 stays a float64
std::string canonical(const Value& value);

// A short text for messages, at most about 60 characters: the value as JSON-like text, cut with "…".
std::string brief(const Value& value);

}  // namespace tafel
