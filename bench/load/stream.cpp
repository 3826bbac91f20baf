#include "bench/load/stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace tafel::bench {
namespace {

constexpr std::size_t read_bytes = 256 * 1024;

}  // namespace

Stream::Stream(int descriptor) : descriptor_(descriptor) {
  ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
}

Stream::~Stream() { ::close(descriptor_); }

bool Stream::flush() {
  while (has_unsent()) {
    const auto sent = ::send(descriptor_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    sent_ += static_cast<std::size_t>(sent);
  }
  out_.clear();
  sent_ = 0;
  return true;
}

bool Stream::read() {
  in_.erase(0, taken_);
  taken_ = 0;
  const std::size_t had = in_.size();
  in_.resize(had + read_bytes);
  const auto got = ::recv(descriptor_, in_.data() + had, read_bytes, MSG_DONTWAIT);
  const int error = errno;
  in_.resize(had + static_cast<std::size_t>(got > 0 ? got : 0));
  return got > 0 || (got < 0 && (error == EAGAIN || error == EINTR));
}

bool Stream::wait(int patience_ms) const {
  pollfd item{descriptor_, POLLIN, 0};
  if (has_unsent()) item.events |= POLLOUT;
  return ::poll(&item, 1, patience_ms) > 0;
}

}  // namespace tafel::bench
