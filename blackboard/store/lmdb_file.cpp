#include "blackboard/store/lmdb_file.hpp"

#include <fmt/format.h>

#include <functional>

#include "blackboard/store/lmdb_pages.hpp"

namespace tafel::store {
namespace {

Result<MetaPage> read_meta(const FileReader& file, std::uint64_t offset) {
  const auto bytes = file.read(offset, MetaPage::bytes);
  if (!bytes) return tl::unexpected(bytes.error());
  if (auto defect = MetaPage::defect(*bytes)) return fail(Fault::bad_bytes, std::move(*defect));
  return MetaPage::read(*bytes);
}

// The state that LMDB will open. Each commit writes the meta page that its number is even or odd for, so the two are
// always neighbours: anything else is damage that would bring back an older state.
Result<MetaPage> newest_meta(const FileReader& file) {
  const auto even = read_meta(file, 0);
  if (!even) return even;
  const auto odd = read_meta(file, even->page_bytes);
  if (!odd) return odd;
  const MetaPage& newest = odd->transaction > even->transaction ? *odd : *even;
  const MetaPage& older = odd->transaction > even->transaction ? *even : *odd;
  const bool are_neighbours =
      even->transaction % 2 == 0 && odd->transaction % 2 == 1 && newest.transaction - older.transaction == 1;
  if (even->page_bytes != odd->page_bytes || !are_neighbours)
    return fail(Fault::bad_bytes, "the two meta pages do not belong together");
  return newest;
}

Result<void> check(const FileReader& file, std::uint64_t walk_bytes_max) {
  const auto meta = newest_meta(file);
  if (!meta) return tl::unexpected(meta.error());
  // Before anything is allocated by this number. A file may lack free pages at its end, but not as many as this.
  if (meta->last_page < 1 || meta->last_page / 64 > file.size() / meta->page_bytes) {
    return fail(Fault::bad_bytes,
                fmt::format("the data file is truncated: {} bytes for {} pages", file.size(), meta->last_page + 1));
  }
  const bool may_be_truncated = (meta->last_page + 1) * meta->page_bytes > file.size();
  if (file.size() > walk_bytes_max && !may_be_truncated) return {};
  return walk_pages(file, *meta);
}

Result<void> check_opened(const std::filesystem::path& path,
                          const std::function<Result<void>(const FileReader&)>& look) {
  const auto file = FileReader::open(path);
  if (!file) {  // a store without its file is a damaged one
    const Fault fault = file.error().fault == Fault::not_found ? Fault::bad_bytes : Fault::io;
    return fail(fault, file.error().message);
  }
  const auto looked = look(*file);
  if (!looked) return fail(looked.error().fault, path.string() + ": " + looked.error().message);
  return {};
}

}  // namespace

Result<void> check_lmdb_file(const std::filesystem::path& path, std::uint64_t walk_bytes_max) {
  return check_opened(path, [&](const FileReader& file) { return check(file, walk_bytes_max); });
}

Result<void> check_lmdb_file_in_use(const std::filesystem::path& path) {
  return check_opened(path, [](const FileReader& file) -> Result<void> {
    const auto even = read_meta(file, 0);
    if (!even) return tl::unexpected(even.error());
    const auto odd = read_meta(file, even->page_bytes);
    if (!odd) return tl::unexpected(odd.error());
    return {};
  });
}

}  // namespace tafel::store
