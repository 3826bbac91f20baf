#include "blackboard/store/durable_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace tafel::store {
namespace {

Result<void> write_all(int file, const std::filesystem::path& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_failure("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(file) != 0) return io_failure("sync", path, errno);
  return {};
}

}  // namespace

tl::unexpected<Failure> io_failure(const char* act, const std::filesystem::path& path, int error) {
  return fail(Fault::io, fmt::format("can not {} {}: {}", act, path.string(), std::generic_category().message(error)));
}

Result<void> sync(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return io_failure("open", path, errno);
  const int outcome = ::fsync(file);
  const int error = errno;
  ::close(file);
  if (outcome != 0) return io_failure("sync", path, error);
  return {};
}

Result<void> sync_directory(const std::filesystem::path& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (auto synced = sync(entry.path()); !synced) return synced;
  }
  if (error) return io_failure("list", directory, error.value());
  return sync(directory);
}

Result<void> write_synced(const std::filesystem::path& file, std::string_view bytes) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, private_file);
  if (descriptor < 0) return io_failure("make", file, errno);
  auto written = write_all(descriptor, file, bytes);
  ::close(descriptor);
  return written;
}

Result<void> rename_to_new(const std::filesystem::path& from, const std::filesystem::path& to) {
  int outcome = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  // A file system without that: the name was looked at before, and a directory is never renamed onto a full one.
  if (outcome != 0 && errno == EINVAL) outcome = ::rename(from.c_str(), to.c_str());
  if (outcome == 0) return {};
  if (errno == EEXIST || errno == ENOTEMPTY) return fail(Fault::refused, fmt::format("{} exists", to.string()));
  return io_failure("rename to", to, errno);
}

}  // namespace tafel::store
