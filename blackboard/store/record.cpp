#include "blackboard/store/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/bytes.hpp"
#include "common/base/hash.hpp"
#include "common/base/text.hpp"

namespace tafel::store {
namespace {

constexpr std::size_t checksum_bytes = 8;

std::uint64_t checksum_of(Table table, std::string_view key, std::string_view payload) {
  std::string bytes;
  bytes.reserve(1 + key.size() + payload.size());
  bytes.push_back(static_cast<char>(table));
  bytes.append(key).append(payload);
  return checksum64(bytes);
}

}  // namespace

const char* table_name(Table table) {
  constexpr std::array<const char*, table_count> names{"meta",   "boards",   "fields",        "parts",
                                                       "events", "receipts", "receipt_queue", "forks",
                                                       "floors", "expiry",   "erasures"};
  return names[static_cast<std::size_t>(table)];
}

std::string place_of(Table table, std::string_view key) {
  return fmt::format("table {}, key {}", table_name(table), to_hex(key));
}

tl::unexpected<Failure> bad_record(Table table, std::string_view key, std::string_view what) {
  return fail(Fault::bad_bytes, fmt::format("the store is damaged at {}: {}", place_of(table, key), what));
}

std::string close_record(Table table, std::string_view key, std::string_view payload) {
  std::string record;
  record.reserve(payload.size() + checksum_bytes);
  record.append(payload);
  put_be64(record, checksum_of(table, key, payload));
  return record;
}

Result<std::string_view> open_record(Table table, std::string_view key, std::string_view record) {
  if (record.size() < checksum_bytes) return bad_record(table, key, "the record is too short");
  const std::string_view payload = record.substr(0, record.size() - checksum_bytes);
  if (get_be64(record.substr(payload.size())) != checksum_of(table, key, payload)) {
    return bad_record(table, key, "the checksum does not fit the record");
  }
  return payload;
}

Result<std::optional<std::string>> get_record(KvRead& kv, Table table, std::string_view key) {
  auto record = kv.get(table, key);
  if (!record) return tl::unexpected(record.error());
  if (!*record) return std::nullopt;
  const auto payload = open_record(table, key, **record);
  if (!payload) return tl::unexpected(payload.error());
  (*record)->resize(payload->size());
  return std::move(*record);
}

Result<void> put_record(KvWrite& kv, Table table, std::string_view key, std::string_view payload) {
  return kv.put(table, key, close_record(table, key, payload));
}

Result<void> scan_records(KvRead& kv, Table table, std::string_view prefix, std::string_view from,
                          const RecordVisitor& visit) {
  std::optional<Failure> failure;
  const auto scanned = kv.scan(table, std::max(prefix, from), [&](std::string_view key, std::string_view record) {
    if (!key.starts_with(prefix)) return false;
    const auto payload = open_record(table, key, record);
    const auto goes_on = payload ? visit(key, *payload) : Result<bool>(tl::unexpected(payload.error()));
    if (!goes_on) failure = goes_on.error();
    return goes_on.value_or(false);
  });
  if (failure) return tl::unexpected(*failure);
  return scanned;
}

Result<void> check_records(KvRead& kv) {
  for (std::size_t table = 0; table < table_count; ++table) {
    const auto checked = scan_records(kv, static_cast<Table>(table), {}, {},
                                      [](std::string_view, std::string_view) { return Result<bool>(true); });
    if (!checked) return checked;
  }
  return {};
}

}  // namespace tafel::store
