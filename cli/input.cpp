#include "cli/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/limits.hpp"

namespace tafel::cli {
namespace {

constexpr std::size_t block_bytes = 64 * 1024;

tl::unexpected<Failure> failed(std::string_view verb, const std::string& name) {
  return fail(Fault::io, fmt::format("cannot {} {}: {}", verb, name, std::strerror(errno)));
}

// Waits until the descriptor has something to read or has ended; false when it did not in time.
bool wait_readable(int descriptor, std::optional<std::chrono::milliseconds> patience) {
  pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&waiting, 1, patience ? static_cast<int>(patience->count()) : -1);
  return ready != 0;  // an error shows in the read
}

// Appends what one read gives; returns its count (0: the end, or nothing yet).
Result<std::size_t> read_block(int descriptor, const std::string& name, std::string& buffer) {
  std::array<char, block_bytes> block;
  ssize_t count = 0;
  do {
    count = ::read(descriptor, block.data(), block.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) return failed("read", name);
  buffer.append(block.data(), static_cast<std::size_t>(count));
  return static_cast<std::size_t>(count);
}

}  // namespace

Result<LineReader> LineReader::open(const std::string& file, std::size_t line_bytes_max) {
  if (file == "-") return LineReader(STDIN_FILENO, "standard input", line_bytes_max);
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed("open", file);
  return LineReader(descriptor, file, line_bytes_max);
}

LineReader::LineReader(LineReader&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      line_bytes_max_(other.line_bytes_max_),
      buffer_(std::move(other.buffer_)) {}

LineReader::~LineReader() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

Result<LineReader::Item> LineReader::next(std::string& line, std::optional<std::chrono::milliseconds> patience) {
  for (;;) {
    if (const auto item = take(line)) return *item;
    const auto filled = fill(patience);
    if (!filled) return tl::unexpected(filled.error());
    if (!*filled) return Item::waiting;
  }
}

// What the buffer holds already; nullopt when more must be read first.
std::optional<LineReader::Item> LineReader::take(std::string& line) {
  const std::size_t found = buffer_.find('\n', searched_);
  const bool is_whole = found != std::string::npos;
  const std::size_t end = is_whole ? found : buffer_.size();
  if (end - begin_ > line_bytes_max_) is_skipping_ = true;
  if (!is_whole && !is_at_end_) {
    if (is_skipping_) buffer_.resize(begin_);
    searched_ = buffer_.size();
    return std::nullopt;
  }
  if (!is_whole && begin_ == end && !is_skipping_) return Item::end;
  line.assign(buffer_, begin_, end - begin_);
  begin_ = searched_ = is_whole ? end + 1 : end;
  return std::exchange(is_skipping_, false) ? Item::too_long : Item::line;
}

Result<bool> LineReader::fill(std::optional<std::chrono::milliseconds> patience) {
  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  if (!wait_readable(descriptor_, patience)) return false;
  const auto count = read_block(descriptor_, name_, buffer_);
  if (!count) return tl::unexpected(count.error());
  is_at_end_ = *count == 0;
  return true;
}

Result<std::string> read_small_file(const std::string& file) {
  const int descriptor = file == "-" ? STDIN_FILENO : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed("open", file);
  std::string text;
  Result<std::size_t> count = 0;
  do {
    count = read_block(descriptor, file, text);
  } while (count && *count > 0 && text.size() <= limits::input_line_bytes_max);
  if (descriptor != STDIN_FILENO) ::close(descriptor);
  if (!count) return tl::unexpected(count.error());
  if (text.size() > limits::input_line_bytes_max) {
    return fail(Fault::io, fmt::format("{} is larger than {} bytes", file, limits::input_line_bytes_max));
  }
  return text;
}

}  // namespace tafel::cli
