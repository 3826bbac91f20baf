#include "blackboard/store/backup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "blackboard/store/data_directory.hpp"
#include "blackboard/store/disk.hpp"
#include "blackboard/store/durable_files.hpp"
#include "blackboard/store/erasure_ledger.hpp"
#include "blackboard/store/lmdb_file.hpp"
#include "blackboard/store/store.hpp"
#include "common/base/limits.hpp"

namespace tafel::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* ledger_name = "erasures.jsonl";
constexpr std::uint64_t walk_all = std::numeric_limits<std::uint64_t>::max();

// Fills the empty directory `path` with all that `from` shows, and looks at what came of it.
Result<CopyCounts> copy_into(KvRead& from, const fs::path& path, CopyKind kind, const CopyProgress& progress) {
  CopyCounts counts;
  const auto filled = fill_lmdb(path, 0, [&](KvAppend& to) -> Result<void> {
    const auto copied = copy_store(from, to, kind, progress);
    if (!copied) return tl::unexpected(copied.error());
    counts = *copied;
    return {};
  });
  if (!filled) return tl::unexpected(filled.error());
  if (auto checked = check_lmdb_file(path / "data.mdb", walk_all); !checked) return tl::unexpected(checked.error());
  return counts;
}

// Removes what a backup that was cut off has left; a directory that holds anything else is not ours.
Result<void> clear_partial(const fs::path& partial) {
  constexpr std::array<std::string_view, 5> ours{"lock", "store", "store.new", "store.old", ledger_name};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(partial, error)) {
    const std::string name = entry.path().filename().string();
    if (std::find(ours.begin(), ours.end(), name) == ours.end())
      return fail(Fault::refused, fmt::format("{} is no unfinished backup: it holds {}", partial.string(), name));
  }
  for (const std::string_view name : ours) {
    if (name != "lock" && !error) fs::remove_all(partial / name, error);
  }
  if (error) return io_failure("clear", partial, error.value());
  return {};
}

Result<void> write_ledger(KvRead& kv, const fs::path& file, BackupReport& report) {
  std::string lines;
  for (std::uint64_t next = 0;;) {
    const auto page = list_erasures(kv, next, limits::boards_page_max);
    if (!page) return tl::unexpected(page.error());
    if (page->empty()) break;
    for (const Erasure& erasure : *page) {
      lines += ledger_line(erasure) + "\n";
      ++report.erasures;
      if (!erasure.is_done) ++report.erasures_pending;
    }
    next = page->back().sequence + 1;
  }
  return write_synced(file, lines);
}

Result<std::uint64_t> file_bytes(const fs::path& file) {
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(file, error);
  if (error) return io_failure("look at", file, error.value());
  return bytes;
}

bool lies_within(const fs::path& path, const fs::path& directory) {
  std::error_code error;
  const fs::path inner = fs::weakly_canonical(path, error);
  const fs::path outer = fs::weakly_canonical(directory, error);
  return !error && std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// Does what erasures and deletions have left to do, so that a copy holds nothing of it. Not without need: opening a
// backup to write takes a new epoch.
Result<void> end_erasures(const LmdbOptions& disk, Random& random) {
  auto kv = open_disk(disk, random);
  if (!kv) return tl::unexpected(kv.error());
  const auto store = Store::open(std::move(*kv), random);
  if (!store) return tl::unexpected(store.error());
  while (true) {
    const auto batch = (*store)->begin();
    if (!batch) return tl::unexpected(batch.error());
    const auto more = (*batch)->scrub(limits::erasure_step_max);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    if (auto committed = (*batch)->commit(); !committed) return committed;
  }
}

// Whether an erasure has anything left to do.
Result<bool> has_pending(const LmdbOptions& disk) {
  const auto kv = open_disk_reader(disk);
  if (!kv) return tl::unexpected(kv.error());
  const auto read = (*kv)->read();
  if (!read) return tl::unexpected(read.error());
  return has_pending_erasures(**read);
}

fs::path without_slash(fs::path path) { return path.has_filename() ? path : path.parent_path(); }

}  // namespace

Result<BackupReport> back_up(const fs::path& source, const fs::path& given, const CopyProgress& progress) {
  const fs::path destination = without_slash(given);
  std::error_code error;
  if (destination.empty()) return fail(Fault::bad_config, "a backup goes to a new directory, which needs a name");
  if (lies_within(destination, source)) {
    return fail(Fault::bad_config, fmt::format("{} lies within {}: what is erased there would stay in the copy",
                                               destination.string(), source.string()));
  }
  if (fs::symlink_status(destination, error).type() != fs::file_type::not_found)
    return fail(Fault::refused, fmt::format("{} exists: a backup goes to a new directory", destination.string()));
  LmdbOptions options;
  options.directory = source;
  const auto kv = open_disk_reader(options);
  if (!kv) return tl::unexpected(kv.error());
  const fs::path partial = destination.string() + ".partial";
  const auto directory = DataDirectory::open(partial);
  if (!directory) return tl::unexpected(directory.error());
  if (auto cleared = clear_partial(partial); !cleared) return tl::unexpected(cleared.error());

  const auto read = (*kv)->read();  // one moment, for the store and for its ledger
  if (!read) return tl::unexpected(read.error());
  BackupReport report;
  const auto made = directory->make_store([&](const fs::path& path) -> Result<void> {
    const auto copied = copy_into(**read, path, CopyKind::backup, progress);
    if (!copied) return tl::unexpected(copied.error());
    report.counts = *copied;
    return {};
  });
  if (!made) {
    fs::remove_all(partial, error);
    return tl::unexpected(made.error());
  }
  if (auto written = write_ledger(**read, partial / ledger_name, report); !written)
    return tl::unexpected(written.error());
  if (auto synced = sync(partial); !synced) return tl::unexpected(synced.error());
  if (auto renamed = rename_to_new(partial, destination); !renamed) return tl::unexpected(renamed.error());
  const fs::path parent = destination.has_parent_path() ? destination.parent_path() : fs::path(".");
  if (auto synced = sync(parent); !synced) return tl::unexpected(synced.error());
  return report;
}

Result<CompactReport> compact(const fs::path& path, Random& random, const CopyProgress& progress) {
  LmdbOptions options;
  options.directory = path;
  std::error_code error;
  if (!fs::is_directory(path, error)) return fail(Fault::not_found, fmt::format("{} is no directory", path.string()));
  {  // ends a replacement that was cut off; each of the two below takes the lock for itself
    const auto directory = DataDirectory::open(path);
    if (!directory) return tl::unexpected(directory.error());
    if (!fs::exists(directory->store(), error))
      return fail(Fault::not_found, fmt::format("{} holds no store", path.string()));
  }
  const auto pending = has_pending(options);
  if (!pending) return tl::unexpected(pending.error());
  if (*pending) {
    if (auto ended = end_erasures(options, random); !ended) return tl::unexpected(ended.error());
  }
  const auto directory = DataDirectory::open(path);
  if (!directory) return tl::unexpected(directory.error());
  CompactReport report;
  const auto before = file_bytes(directory->store() / "data.mdb");
  if (!before) return tl::unexpected(before.error());
  report.bytes_before = *before;
  if (auto checked = check_lmdb_file(directory->store() / "data.mdb", walk_all); !checked)
    return tl::unexpected(checked.error());
  const auto replaced = directory->replace_store([&](const fs::path& empty) -> Result<void> {
    const auto kv = open_disk_reader(options);
    if (!kv) return tl::unexpected(kv.error());
    const auto read = (*kv)->read();
    if (!read) return tl::unexpected(read.error());
    const auto copied = copy_into(**read, empty, CopyKind::same, progress);
    if (!copied) return tl::unexpected(copied.error());
    report.counts = *copied;
    return {};
  });
  if (!replaced) return tl::unexpected(replaced.error());
  const auto after = file_bytes(directory->store() / "data.mdb");
  if (!after) return tl::unexpected(after.error());
  report.bytes_after = *after;
  return report;
}

}  // namespace tafel::store
