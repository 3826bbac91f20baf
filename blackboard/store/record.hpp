// A record is a value in a table, closed by a checksum over its place and content: LMDB has none of its own, and a
// damaged or misplaced value must never be taken for a right one.
//
//   record = payload ‖ be64 checksum64(table u8 ‖ key ‖ payload)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "blackboard/store/kv.hpp"

namespace tafel::store {

const char* table_name(Table table);

// "table fields, key 0a1b…": names a record in messages.
std::string place_of(Table table, std::string_view key);

// What is said of a record whose content makes no sense.
tl::unexpected<Failure> bad_record(Table table, std::string_view key, std::string_view what);

std::string close_record(Table table, std::string_view key, std::string_view payload);
// The payload, as a view into `record`; Fault::bad_bytes when the checksum does not fit.
Result<std::string_view> open_record(Table table, std::string_view key, std::string_view record);

// The payload under `key`; nullopt when nothing is there.
Result<std::optional<std::string>> get_record(KvRead& kv, Table table, std::string_view key);
Result<void> put_record(KvWrite& kv, Table table, std::string_view key, std::string_view payload);

// Visits the records from `from` on whose keys begin with `prefix`; a visitor that gives false or a failure ends the
// scan.
using RecordVisitor = std::function<Result<bool>(std::string_view key, std::string_view payload)>;
Result<void> scan_records(KvRead& kv, Table table, std::string_view prefix, std::string_view from,
                          const RecordVisitor& visit);

// Reads every record of every table.
Result<void> check_records(KvRead& kv);

}  // namespace tafel::store
