#include "blackboard/store/lmdb_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <system_error>

#include "blackboard/store/lmdb_pages.hpp"

namespace tafel::store {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

Result<MetaPage> read_meta(const PageFile& file, std::uint64_t offset) {
  const auto bytes = file.read(offset, MetaPage::bytes);
  if (!bytes) return tl::unexpected(bytes.error());
  if (auto defect = MetaPage::defect(*bytes)) return fail(Fault::bad_bytes, std::move(*defect));
  return MetaPage::read(*bytes);
}

// The state that LMDB will open. Each commit writes the meta page that its number is even or odd for, so the two are
// always neighbours: anything else is damage that would bring back an older state.
Result<MetaPage> newest_meta(const PageFile& file) {
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

Result<void> check(const PageFile& file, std::uint64_t walk_bytes_max) {
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

Result<void> check_opened(const std::filesystem::path& path, const std::function<Result<void>(const PageFile&)>& look) {
  const Descriptor descriptor(path);
  struct stat info {};
  if (descriptor.number() < 0 || ::fstat(descriptor.number(), &info) != 0) {
    const Fault fault = errno == ENOENT ? Fault::bad_bytes : Fault::io;
    return fail(fault, fmt::format("can not open {}: {}", path.string(), std::generic_category().message(errno)));
  }
  const auto looked = look(PageFile(descriptor.number(), static_cast<std::uint64_t>(info.st_size)));
  if (!looked) return fail(looked.error().fault, path.string() + ": " + looked.error().message);
  return {};
}

}  // namespace

Result<void> check_lmdb_file(const std::filesystem::path& path, std::uint64_t walk_bytes_max) {
  return check_opened(path, [&](const PageFile& file) { return check(file, walk_bytes_max); });
}

Result<void> check_lmdb_file_in_use(const std::filesystem::path& path) {
  return check_opened(path, [](const PageFile& file) -> Result<void> {
    const auto even = read_meta(file, 0);
    if (!even) return tl::unexpected(even.error());
    const auto odd = read_meta(file, even->page_bytes);
    if (!odd) return tl::unexpected(odd.error());
    return {};
  });
}

}  // namespace tafel::store
