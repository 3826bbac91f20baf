#include "blackboard/store/copy.hpp"

#include <map>

#include "blackboard/store/format.hpp"
#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/limits.hpp"

namespace tafel::store {
namespace {

class Copying {
 public:
  Copying(KvRead& from, KvAppend& to, const CopyProgress& progress) : from_(from), to_(to), progress_(progress) {}

  Result<CopyCounts> run(CopyKind kind) {
    if (const auto known = has_format(from_); !known) return tl::unexpected(known.error());
    if (auto copied = copy_meta(kind); !copied) return tl::unexpected(copied.error());
    for (std::size_t table = 1; table < table_count; ++table) {
      if (auto copied = copy_table(static_cast<Table>(table)); !copied) return tl::unexpected(copied.error());
    }
    return counts_;
  }

 private:
  // Few records, which get the mark among them.
  Result<void> copy_meta(CopyKind kind) {
    std::map<std::string, std::string> records;
    const auto read = visit_records(Table::meta, [&](std::string_view key, std::string_view record) -> Result<void> {
      if (records.size() == limits::copy_meta_records_max) return bad_record(Table::meta, key, "there are too many");
      records.emplace(key, record);
      return {};
    });
    if (!read) return read;
    if (!records.contains(std::string(meta_format)))
      return bad_record(Table::meta, meta_format, "the format version is missing");
    records.erase(std::string(meta_journal));  // what is read holds all of it, and a copy has none before it
    if (kind == CopyKind::backup)
      records[std::string(meta_copied)] = close_record(Table::meta, meta_copied, encode_number(1));
    for (const auto& [key, record] : records) {
      if (auto put = append(Table::meta, key, record); !put) return put;
    }
    return {};
  }

  Result<void> copy_table(Table table) {
    return visit_records(table, [&](std::string_view key, std::string_view record) -> Result<void> {
      counts_.boards += table == Table::boards ? 1U : 0U;
      counts_.versions += table == Table::events ? 1U : 0U;
      return append(table, key, record);
    });
  }

  Result<void> append(Table table, std::string_view key, std::string_view record) {
    if (auto put = to_.append(table, key, record); !put) return put;
    counts_.bytes += key.size() + record.size();
    if (++counts_.records % limits::copy_progress_records == 0 && progress_) progress_(counts_);
    return {};
  }

  // Records as they are, once their checksums fit.
  Result<void> visit_records(Table table,
                             const std::function<Result<void>(std::string_view, std::string_view)>& visit) {
    Result<void> outcome;
    const auto scanned = from_.scan(table, {}, [&](std::string_view key, std::string_view record) {
      const auto payload = open_record(table, key, record);
      outcome = payload ? visit(key, record) : tl::unexpected(payload.error());
      return outcome.has_value();
    });
    return outcome ? scanned : outcome;
  }

  KvRead& from_;
  KvAppend& to_;
  const CopyProgress& progress_;
  CopyCounts counts_;
};

}  // namespace

Result<CopyCounts> copy_store(KvRead& from, KvAppend& to, CopyKind kind, const CopyProgress& progress) {
  return Copying(from, to, progress).run(kind);
}

}  // namespace tafel::store
