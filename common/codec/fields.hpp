// Typed parts of decoded values. A reader keeps the first defect and reads everything after it as empty, so a decoder
// is a straight line of reads that asks once, at its end, whether all went well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/hash.hpp"
#include "common/base/result.hpp"
#include "common/model/value.hpp"

namespace tafel::codec {

// The integer in the value (1.0 counts as 1); nullopt for anything else or outside uint64.
std::optional<std::uint64_t> as_uint64(const Value& value);

// Converts single values and keeps the first defect. `what` is the thing that is read, for the message.
class FieldReader {
 public:
  explicit FieldReader(std::string_view what) : what_(what) {}

  bool failed() const { return failure_.has_value(); }
  void refuse(std::string_view name, std::string_view rule);  // "<what>: <name> must be <rule>"
  void keep(Failure failure);                                 // of a part that another decoder read

  // The value, when nothing was refused.
  template <class T>
  Result<T> finish(T value) {
    if (failure_) return tl::unexpected(std::move(*failure_));
    return value;
  }

 protected:
  std::uint64_t number_of(const Value& value, std::string_view name, std::uint64_t highest);
  std::int64_t integer_of(const Value& value, std::string_view name);
  bool boolean_of(const Value& value, std::string_view name);
  std::string text_of(const Value& value, std::string_view name);
  const std::string& bytes_of(const Value& value, std::string_view name, std::optional<std::size_t> size);
  const List& list_of(const Value& value, std::string_view name);
  std::vector<std::string> texts_of(const Value& value, std::string_view name);

  template <class T>
  T part_of(const Value& value, Result<T> (*read)(const Value&)) {
    if (failed()) return T{};
    Result<T> part = read(value);
    if (part) return std::move(*part);
    keep(std::move(part.error()));
    return T{};
  }

 private:
  std::string_view what_;
  std::optional<Failure> failure_;
};

// Reads the items of a list of fixed length, in order.
class ItemReader : public FieldReader {
 public:
  ItemReader(const Value& value, std::string_view what, std::size_t count);

  const Value& item();
  std::uint64_t number(std::string_view name, std::uint64_t highest = UINT64_MAX) {
    return number_of(item(), name, highest);
  }
  std::int64_t integer(std::string_view name) { return integer_of(item(), name); }
  bool boolean(std::string_view name) { return boolean_of(item(), name); }
  std::string text(std::string_view name) { return text_of(item(), name); }
  const List& list(std::string_view name) { return list_of(item(), name); }
  const std::string& bytes(std::string_view name, std::optional<std::size_t> size = std::nullopt) {
    return bytes_of(item(), name, size);
  }
  std::vector<std::string> texts(std::string_view name) { return texts_of(item(), name); }
  template <class T>
  T part(Result<T> (*read)(const Value&)) {
    return part_of(item(), read);
  }

 private:
  const List* items_ = nullptr;
  std::size_t next_ = 0;
};

// Reads members of a map by name. Members that are null or missing read as `fallback` where one is given; unknown
// members are not looked at, so that a newer peer may send more.
class MemberReader : public FieldReader {
 public:
  MemberReader(const Value& value, std::string_view what);

  bool has(std::string_view name) const { return !member(name).is_nil(); }
  const Value& member(std::string_view name) const;  // nil when missing
  const Value* find(std::string_view name) const { return value_.find(name); }

  std::uint64_t number(std::string_view name, std::uint64_t highest = UINT64_MAX) {
    return number_of(member(name), name, highest);
  }
  std::int64_t integer(std::string_view name) { return integer_of(member(name), name); }
  bool boolean(std::string_view name) { return boolean_of(member(name), name); }
  std::string text(std::string_view name) { return text_of(member(name), name); }
  std::string text_or(std::string_view name, std::string_view fallback);
  const List& list(std::string_view name) { return list_of(member(name), name); }
  std::vector<std::string> texts(std::string_view name) { return texts_of(member(name), name); }
  std::vector<std::string> texts_or_none(std::string_view name);
  template <class T>
  T part(std::string_view name, Result<T> (*read)(const Value&)) {
    return part_of(member(name), read);
  }

 private:
  const Value& value_;
};

}  // namespace tafel::codec
