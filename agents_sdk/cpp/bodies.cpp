#include "agents_sdk/cpp/bodies.hpp"

#include <charconv>

#include "common/codec/cell_codec.hpp"

namespace tafel::sdk {
namespace {

std::optional<std::uint64_t> number(const Value& value) {
  if (const auto* large = value.get_if<std::uint64_t>()) return *large;
  const auto* integer = value.get_if<std::int64_t>();
  if (integer == nullptr || *integer < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*integer);
}

std::optional<std::uint64_t> from_hex16(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// 32 hex digits.
std::optional<Sum128> digest_from(const std::string& text) {
  if (text.size() != 32) return std::nullopt;
  const auto high = from_hex16(std::string_view(text).substr(0, 16));
  const auto low = from_hex16(std::string_view(text).substr(16));
  if (!high || !low) return std::nullopt;
  return Sum128{*high, *low};
}

Result<Change> cell_from(const Value& item) {
  const auto* pair = item.get_if<List>();
  if (pair == nullptr || pair->size() != 2) return fail(Fault::bad_bytes, "a cell of a page is [key, cell]");
  auto key = codec::cell_key_from_value((*pair)[0]);
  if (!key) return tl::unexpected<Failure>(key.error());
  auto cell = codec::cell_from_value((*pair)[1]);
  if (!cell) return tl::unexpected<Failure>(cell.error());
  return Change{std::move(*key), std::move(*cell)};
}

}  // namespace

Fault fault_of(const ErrorInfo& error) { return error.code == ErrorCode::deleted ? Fault::deleted : Fault::refused; }

Version deleted_version(const ErrorInfo& error) { return error.found ? number(*error.found).value_or(0) : 0; }

std::string text_of(const Value& body, std::string_view member) {
  const Value* found = body.find(member);
  const auto* text = found == nullptr ? nullptr : found->get_if<std::string>();
  return text == nullptr ? std::string() : *text;
}

std::optional<std::uint64_t> number_of(const Value& body, std::string_view member) {
  const Value* found = body.find(member);
  return found == nullptr ? std::nullopt : number(*found);
}

Result<Mirror::Page> page_from_value(const Value& body) {
  const auto version = number_of(body, "version");
  const Value* cells = body.find("cells");
  const auto* list = cells == nullptr ? nullptr : cells->get_if<List>();
  if (!version || list == nullptr) return fail(Fault::bad_bytes, "a page of cells has a version and a list of cells");
  Mirror::Page page;
  page.version = *version;
  page.epoch = text_of(body, "epoch");
  page.digest = digest_from(text_of(body, "digest"));
  if (const Value* next = body.find("next")) page.next = *next;
  page.cells.reserve(list->size());
  for (const Value& item : *list) {
    auto cell = cell_from(item);
    if (!cell) return tl::unexpected<Failure>(cell.error());
    page.cells.push_back(std::move(*cell));
  }
  return page;
}

std::vector<std::pair<std::string, Version>> heads_of(const Value& body) {
  std::vector<std::pair<std::string, Version>> heads;
  const Value* member = body.find("heads");
  const auto* map = member == nullptr ? nullptr : member->get_if<Map>();
  if (map == nullptr) return heads;
  for (const auto& [board, head] : *map) {
    if (const auto version = number(head)) heads.emplace_back(board, *version);
  }
  return heads;
}

}  // namespace tafel::sdk
