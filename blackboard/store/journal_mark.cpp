#include "blackboard/store/journal_mark.hpp"

#include "blackboard/store/journal.hpp"
#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/bytes.hpp"

namespace tafel::store {

Result<std::optional<JournalMark>> read_mark(KvRead& kv) {
  const auto payload = get_record(kv, Table::meta, meta_journal);
  if (!payload) return tl::unexpected(payload.error());
  if (!*payload) return std::nullopt;
  const std::string& bytes = **payload;
  if (bytes.size() != Journal::id_bytes + sizeof(std::uint64_t))
    return bad_record(Table::meta, meta_journal, "this names no journal");
  return JournalMark{bytes.substr(0, Journal::id_bytes), get_be64(std::string_view(bytes).substr(Journal::id_bytes))};
}

Result<void> put_mark(KvWrite& kv, const JournalMark& mark) {
  std::string payload = mark.id;
  put_be64(payload, mark.covered);
  return put_record(kv, Table::meta, meta_journal, payload);
}

}  // namespace tafel::store
