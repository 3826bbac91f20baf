#include "blackboard/store/data_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "blackboard/store/durable_files.hpp"

namespace tafel::store {
namespace {

constexpr mode_t private_directory = 0700;

Result<void> make_directory(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) return {};
  if (directory.has_parent_path()) std::filesystem::create_directories(directory.parent_path(), error);
  if (::mkdir(directory.c_str(), private_directory) == 0 || errno == EEXIST) {
    if (std::filesystem::is_directory(directory, error)) return {};
    return fail(Fault::bad_config, fmt::format("{} is no directory", directory.string()));
  }
  return fail(Fault::bad_config, fmt::format("can not make the directory {}: {}", directory.string(),
                                             std::generic_category().message(errno)));
}

Result<void> refuse_network(const std::filesystem::path& directory) {
  constexpr std::array<std::uint32_t, 8> network_types{
      0x6969,      // NFS
      0x517B,      // SMB
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB 2
      0x5346414F,  // AFS
      0x73757245,  // Coda
      0x564C,      // NCP
      0x00C36400,  // Ceph
  };
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0) return io_failure("look at", directory, errno);
  const auto type = static_cast<std::uint32_t>(info.f_type);
  if (std::find(network_types.begin(), network_types.end(), type) == network_types.end()) return {};
  return fail(Fault::bad_config, fmt::format("{} lies on a network file system (type {:x}); a store needs a local one",
                                             directory.string(), type));
}

std::string holder_of(int lock) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(lock, text.data(), text.size() - 1, 0);
  const std::string_view digits(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
  return end == 0 ? "another process" : "process " + std::string(digits.substr(0, end));
}

Result<int> take_lock(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "lock";
  const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, private_file);
  if (lock < 0) return io_failure("open", path, errno);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string holder = holder_of(lock);
    ::close(lock);
    if (error != EWOULDBLOCK) return io_failure("lock", path, error);
    return fail(Fault::locked, fmt::format("{} is in use by {}", directory.string(), holder));
  }
  // For people only, so that nothing depends on these writes.
  const std::string id = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock, 0) == 0 && ::pwrite(lock, id.data(), id.size(), 0) < 0) return lock;
  return lock;
}

Result<void> rename_synced(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) return io_failure("rename", from, error.value());
  return sync(from.parent_path());
}

Result<void> remove_tree(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return io_failure("remove", path, error.value());
  return {};
}

}  // namespace

Result<DataDirectory> DataDirectory::open(const std::filesystem::path& directory) {
  if (auto made = make_directory(directory); !made) return tl::unexpected(made.error());
  if (auto local = refuse_network(directory); !local) return tl::unexpected(local.error());
  const auto lock = take_lock(directory);
  if (!lock) return tl::unexpected(lock.error());
  DataDirectory opened(directory, *lock);
  if (auto settled = opened.settle(); !settled) return tl::unexpected(settled.error());
  return opened;
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : directory_(std::move(other.directory_)), lock_(std::exchange(other.lock_, -1)) {}

DataDirectory::~DataDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

Result<void> DataDirectory::settle() const {
  std::error_code error;
  const bool is_there = std::filesystem::exists(store(), error);
  const bool was_swapped = std::filesystem::exists(old_store(), error);
  if (!is_there && !was_swapped) return {};  // what is made aside is then removed when it is made again
  if (!is_there) {
    // The new one was whole, and on disk, before the old one was moved away.
    const bool has_new = std::filesystem::exists(new_store(), error);
    if (auto moved = rename_synced(has_new ? new_store() : old_store(), store()); !moved) return moved;
  }
  for (const auto& left : {new_store(), old_store()}) {
    if (auto removed = remove_tree(left); !removed) return removed;
  }
  return {};
}

Result<void> DataDirectory::fill_new(const Fill& fill) const {
  if (auto removed = remove_tree(new_store()); !removed) return removed;
  if (::mkdir(new_store().c_str(), private_directory) != 0) return io_failure("make", new_store(), errno);
  auto filled = fill(new_store());
  // The content first, then the name: a store that can be seen is whole.
  if (filled) filled = sync_directory(new_store());
  if (!filled) static_cast<void>(remove_tree(new_store()));
  return filled;
}

Result<void> DataDirectory::make_store(const Fill& fill) const {
  if (auto filled = fill_new(fill); !filled) return filled;
  return rename_synced(new_store(), store());
}

Result<void> DataDirectory::replace_store(const Fill& fill) const {
  if (auto filled = fill_new(fill); !filled) return filled;
  if (auto moved = rename_synced(store(), old_store()); !moved) return moved;
  if (auto moved = rename_synced(new_store(), store()); !moved) return moved;
  if (auto removed = remove_tree(old_store()); !removed) return removed;
  return sync(directory_);
}

Result<DataDirectory::Space> DataDirectory::space() const {
  struct statvfs info {};
  if (::statvfs(directory_.c_str(), &info) != 0) return io_failure("look at", directory_, errno);
  return Space{std::uint64_t{info.f_bavail} * info.f_frsize, std::uint64_t{info.f_blocks} * info.f_frsize};
}

}  // namespace tafel::store
