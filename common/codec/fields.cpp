#include "common/codec/fields.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tafel::codec {
namespace {

constexpr double two_to_64 = 18446744073709551616.0;

const Value nil_value;
const List no_items;
const std::string no_bytes;

}  // namespace

std::optional<std::uint64_t> as_uint64(const Value& value) {
  if (const auto* large = value.get_if<std::uint64_t>()) return *large;
  if (const auto integer = value.as_int64()) {
    if (*integer < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*integer);
  }
  const auto* number = value.get_if<double>();
  if (number == nullptr || !(*number >= 0 && *number < two_to_64) || std::trunc(*number) != *number)
    return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

void FieldReader::refuse(std::string_view name, std::string_view rule) {
  keep({Fault::bad_bytes, fmt::format("{}: {} must be {}", what_, name, rule)});
}

void FieldReader::keep(Failure failure) {
  if (!failure_) failure_ = std::move(failure);
}

std::uint64_t FieldReader::number_of(const Value& value, std::string_view name, std::uint64_t highest) {
  const auto number = as_uint64(value);
  if (number && *number <= highest) return *number;
  refuse(name, highest == UINT64_MAX ? std::string("a non-negative integer")
                                     : fmt::format("an integer from 0 to {}", highest));
  return 0;
}

std::int64_t FieldReader::integer_of(const Value& value, std::string_view name) {
  if (const auto integer = value.as_int64()) return *integer;
  refuse(name, "an integer");
  return 0;
}

bool FieldReader::boolean_of(const Value& value, std::string_view name) {
  if (const auto* flag = value.get_if<bool>()) return *flag;
  refuse(name, "true or false");
  return false;
}

std::string FieldReader::text_of(const Value& value, std::string_view name) {
  if (const auto* text = value.get_if<std::string>()) return *text;
  refuse(name, "text");
  return {};
}

const std::string& FieldReader::bytes_of(const Value& value, std::string_view name, std::optional<std::size_t> size) {
  const auto* bytes = value.get_if<Bytes>();
  if (bytes != nullptr && (!size || bytes->data.size() == *size)) return bytes->data;
  refuse(name, size ? fmt::format("{} bytes", *size) : std::string("bytes"));
  return no_bytes;
}

const List& FieldReader::list_of(const Value& value, std::string_view name) {
  if (const auto* list = value.get_if<List>()) return *list;
  refuse(name, "a list");
  return no_items;
}

std::vector<std::string> FieldReader::texts_of(const Value& value, std::string_view name) {
  std::vector<std::string> texts;
  for (const Value& item : list_of(value, name)) {
    const auto* text = item.get_if<std::string>();
    if (text == nullptr) refuse(name, "a list of texts");
    texts.push_back(text == nullptr ? std::string() : *text);
  }
  return texts;
}

ItemReader::ItemReader(const Value& value, std::string_view what, std::size_t count) : FieldReader(what) {
  const auto* list = value.get_if<List>();
  if (list != nullptr && list->size() == count) {
    items_ = list;
  } else {
    refuse("it", fmt::format("a list of {} items", count));
  }
}

const Value& ItemReader::item() {
  if (items_ == nullptr || next_ >= items_->size()) return nil_value;
  return (*items_)[next_++];
}

MemberReader::MemberReader(const Value& value, std::string_view what) : FieldReader(what), value_(value) {
  if (value.get_if<Map>() == nullptr) refuse("it", "a map");
}

const Value& MemberReader::member(std::string_view name) const {
  const Value* found = value_.find(name);
  return found == nullptr ? nil_value : *found;
}

std::string MemberReader::text_or(std::string_view name, std::string_view fallback) {
  return has(name) ? text(name) : std::string(fallback);
}

std::vector<std::string> MemberReader::texts_or_none(std::string_view name) {
  return has(name) ? texts(name) : std::vector<std::string>{};
}

}  // namespace tafel::codec
