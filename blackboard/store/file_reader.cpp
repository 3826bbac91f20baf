#include "blackboard/store/file_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tafel::store {
namespace {

tl::unexpected<Failure> not_opened(const std::filesystem::path& file, int error) {
  return fail(error == ENOENT ? Fault::not_found : Fault::io,
              fmt::format("can not open {}: {}", file.string(), std::generic_category().message(error)));
}

}  // namespace

Result<FileReader> FileReader::open(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return not_opened(file, errno);
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) {
    const int error = errno;
    ::close(descriptor);
    return not_opened(file, error);
  }
  return FileReader(descriptor, static_cast<std::uint64_t>(info.st_size));
}

FileReader::FileReader(FileReader&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

FileReader::~FileReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::string> FileReader::read(std::uint64_t offset, std::size_t count) const {
  if (offset > size_ || count > size_ - offset) return fail(Fault::bad_bytes, "the file is truncated");
  std::string bytes(count, '\0');
  for (std::size_t done = 0; done < count;) {
    const ssize_t size = ::pread(descriptor_, bytes.data() + done, count - done, static_cast<off_t>(offset + done));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail(Fault::io, "the file can not be read: " + std::generic_category().message(errno));
    if (size == 0) return fail(Fault::bad_bytes, "the file is truncated");
    done += static_cast<std::size_t>(size);
  }
  return bytes;
}

}  // namespace tafel::store
