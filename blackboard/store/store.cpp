#include "blackboard/store/store.hpp"

#include "blackboard/store/batch.hpp"
#include "blackboard/store/expiry_index.hpp"
#include "blackboard/store/format.hpp"
#include "blackboard/store/import.hpp"
#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"
#include "blackboard/store/snapshot.hpp"
#include "blackboard/store/verify.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace tafel::store {
namespace {

constexpr std::size_t epoch_bytes = 16;

class BoardStore final : public Store {
 public:
  BoardStore(std::unique_ptr<Kv> kv, Random& random, std::string epoch)
      : kv_(std::move(kv)), random_(random), epoch_(std::move(epoch)) {}

  const std::string& epoch() const override { return epoch_; }

  Result<std::unique_ptr<Snapshot>> snapshot() override {
    auto kv = kv_->read();
    if (!kv) return tl::unexpected(kv.error());
    return std::make_unique<StoreSnapshot>(std::move(*kv));
  }

  Result<std::unique_ptr<Snapshot>> writer_snapshot() override {
    auto kv = kv_->write();
    if (!kv) return tl::unexpected(kv.error());
    return std::make_unique<StoreSnapshot>(std::move(*kv));
  }

  Result<std::unique_ptr<Batch>> begin() override {
    auto kv = kv_->write();
    if (!kv) return tl::unexpected(kv.error());
    return std::make_unique<StoreBatch>(std::move(*kv), kept_, epoch_, random_);
  }

  Result<VerifyReport> verify(const std::string& board) override {
    auto kv = kv_->read();
    if (!kv) return tl::unexpected(kv.error());
    return verify_board(**kv, board);
  }

  Result<Kv::Usage> usage() override { return kv_->usage(); }

  Result<std::vector<Erasure>> erasures(std::uint64_t sequence, std::size_t count) override {
    auto kv = kv_->read();
    if (!kv) return tl::unexpected(kv.error());
    return list_erasures(**kv, sequence, count);
  }

 private:
  std::unique_ptr<Kv> kv_;
  std::shared_ptr<KeptForWriting> kept_ = std::make_shared<KeptForWriting>();
  Random& random_;
  const std::string epoch_;
};

// A key that is damaged hides its record from look-ups, so a small store is read whole before it is used; a large one
// when it is verified.
Result<void> check_small(Kv& kv) {
  const auto usage = kv.usage();
  if (!usage) return tl::unexpected(usage.error());
  if (usage->bytes > limits::store_checked_bytes_max) return {};
  const auto read = kv.read();
  if (!read) return tl::unexpected(read.error());
  return check_records(**read);
}

// The epoch of the store in `kv`; nullopt when `kv` is empty.
Result<std::optional<std::string>> read_epoch(Kv& kv) {
  const auto read = kv.read();
  if (!read) return tl::unexpected(read.error());
  const auto known = has_format(**read);
  if (!known) return tl::unexpected(known.error());
  if (!*known) {
    bool is_empty = true;
    for (std::size_t i = 0; i < table_count; ++i) {
      const auto table = static_cast<Table>(i);
      const auto scanned = (*read)->scan(table, {}, [&](std::string_view key, std::string_view) {
        is_empty = table == Table::meta && key == meta_journal;  // which is made before anything else
        return is_empty;
      });
      if (!scanned) return tl::unexpected(scanned.error());
      if (!is_empty) return bad_record(Table::meta, meta_format, "the format version is missing");
    }
    return std::nullopt;
  }
  auto epoch = get_record(**read, Table::meta, meta_epoch);
  if (epoch && !*epoch) return bad_record(Table::meta, meta_epoch, "the epoch is missing");
  return epoch;
}

// Whether the store is a backup that no server has opened yet.
Result<bool> is_unopened_copy(Kv& kv) {
  const auto read = kv.read();
  if (!read) return tl::unexpected(read.error());
  const auto mark = get_record(**read, Table::meta, meta_copied);
  if (!mark) return tl::unexpected(mark.error());
  return mark->has_value();
}

Result<void> write_epoch(Kv& kv, const std::string& epoch) {
  const auto write = kv.write();
  if (!write) return tl::unexpected(write.error());
  if (auto put = put_record(**write, Table::meta, meta_epoch, epoch); !put) return put;
  if (auto erased = (*write)->erase(Table::meta, meta_copied); !erased) return erased;
  return (*write)->commit();
}

Result<void> write_meta(Kv& kv, const std::string& epoch) {
  const auto write = kv.write();
  if (!write) return tl::unexpected(write.error());
  const std::pair<std::string_view, std::string> records[] = {
      {meta_format, encode_number(format_version)}, {meta_epoch, epoch}, {meta_boards, encode_number(1)}};
  for (const auto& [key, payload] : records) {
    if (auto put = put_record(**write, Table::meta, key, payload); !put) return put;
  }
  return (*write)->commit();
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(std::unique_ptr<Kv> kv, Random& random) {
  return open_store_with_epoch(std::move(kv), random, to_hex(random.bytes(epoch_bytes)));
}

Result<void> renew_epoch(Kv& kv, Random& random) {
  const auto found = read_epoch(kv);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return {};
  return write_epoch(kv, to_hex(random.bytes(epoch_bytes)));
}

Result<std::unique_ptr<Store>> open_to_read(std::unique_ptr<Kv> kv, Random& random) {
  auto epoch = read_epoch(*kv);
  if (!epoch) return tl::unexpected(epoch.error());
  if (!*epoch) return fail(Fault::not_found, "there is no store here yet: no server has run on it");
  return std::make_unique<BoardStore>(std::move(kv), random, std::move(**epoch));
}

static Result<std::string> prepare_store(Kv& kv, const std::string& new_epoch) {
  const auto found = read_epoch(kv);
  if (!found) return tl::unexpected(found.error());
  if (auto checked = check_small(kv); !checked) return tl::unexpected(checked.error());
  if (!*found) {
    if (auto written = write_meta(kv, new_epoch); !written) return tl::unexpected(written.error());
    return new_epoch;
  }
  if (auto undone = undo_import(kv); !undone) return tl::unexpected(undone.error());
  const auto is_copy = is_unopened_copy(kv);
  if (!is_copy) return tl::unexpected(is_copy.error());
  // A copy goes on from an older version than clients may know, and its versions will be others.
  if (!*is_copy) return **found;
  if (auto written = write_epoch(kv, new_epoch); !written) return tl::unexpected(written.error());
  return new_epoch;
}

Result<std::string> prepare_store(Kv& kv, Random& random) {
  return prepare_store(kv, to_hex(random.bytes(epoch_bytes)));
}

Result<std::unique_ptr<Store>> open_store_with_epoch(std::unique_ptr<Kv> kv, Random& random, const std::string& epoch) {
  auto its_epoch = prepare_store(*kv, epoch);
  if (!its_epoch) return tl::unexpected(its_epoch.error());
  return std::make_unique<BoardStore>(std::move(kv), random, std::move(*its_epoch));
}

}  // namespace tafel::store
