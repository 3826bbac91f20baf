// The question "schema": what a board's fields are, who says so, and how complete the board is.
#include <algorithm>

#include "blackboard/completeness.hpp"
#include "broker/query.hpp"
#include "common/base/limits.hpp"
#include "common/codec/completeness_codec.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/schema_codec.hpp"

namespace tafel::broker {

Answer Query::schema() {
  const auto moment = this->moment();
  if (!moment) return tl::unexpected(moment.error());
  List documents;
  for (const StoredSchema& stored : schema_.documents) {
    documents.push_back(
        Map{{"board", stored.board}, {"path", stored.path}, {"version", stored.version}, {"value", stored.document}});
  }
  const auto completeness = this->completeness(*moment);
  if (!completeness) return tl::unexpected(completeness.error());
  return codec::encode(Map{{"version", moment->version},
                           {"schema", schema_.documents.empty() ? Value() : codec::schema_to_value(*schema_.schema)},
                           {"documents", std::move(documents)},
                           {"completeness", *completeness}});
}

// Nil where nothing is required. That a personal or secret field is missing is told to all who may read its path:
// somebody must ask for it.
tl::expected<Value, ErrorInfo> Query::completeness(const Moment& moment) {
  const auto required = blackboard::required_fields(*schema_.schema);
  if (required.empty()) return Value();
  std::vector<bool> held;
  for (const blackboard::RequiredField& field : required) {
    if (moment.version == 0) {
      held.push_back(false);
      continue;
    }
    const auto board = snapshot_.load(question_.board, field.path, std::nullopt, limits::query_load_bytes);
    if (!board && board.error().fault != Fault::full) return failed(board.error());
    held.push_back(!board || blackboard::completeness(*board, {field}, {moment.now, nullptr}).missing.empty());
  }
  Completeness found = blackboard::completeness(required, held);
  std::erase_if(found.missing,
                [&](const Completeness::Missing& missing) { return !rights_.may_read_path(missing.path); });
  return codec::completeness_to_value(found);
}

}  // namespace tafel::broker
