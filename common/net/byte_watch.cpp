#include "common/net/byte_watch.hpp"

#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

namespace tafel::net {
namespace {

constexpr std::size_t descriptors_per_period = 500;

template <class Option>
bool read_option(int descriptor, int level, int name, Option& option) {
  socklen_t size = sizeof(option);
  return ::getsockopt(descriptor, level, name, &option, &size) == 0;
}

std::optional<std::uint64_t> cookie_of(int descriptor) {
  std::uint64_t cookie = 0;
  if (!read_option(descriptor, SOL_SOCKET, SO_COOKIE, cookie)) return std::nullopt;
  return cookie;
}

// Bytes that the process has taken out of the connection: received by the kernel, less those still waiting there.
std::optional<std::uint64_t> bytes_taken(int descriptor) {
  tcp_info info{};
  int waiting = 0;
  if (!read_option(descriptor, IPPROTO_TCP, TCP_INFO, info) || ::ioctl(descriptor, FIONREAD, &waiting) != 0)
    return std::nullopt;
  const auto unread = static_cast<std::uint64_t>(std::max(waiting, 0));
  return info.tcpi_bytes_received - std::min<std::uint64_t>(info.tcpi_bytes_received, unread);
}

std::optional<std::uint16_t> local_port(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return std::nullopt;
}

std::vector<int> open_descriptors() {
  std::vector<int> descriptors;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), &::closedir);
  if (!directory) return descriptors;
  while (const dirent* entry = ::readdir(directory.get())) {
    int descriptor = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, descriptor).ptr == end) descriptors.push_back(descriptor);
  }
  return descriptors;
}

}  // namespace

bool cut_connection(int descriptor) {
  // Without it the peer's kernel goes on asking for room for two minutes: the close that follows says nothing to a full
  // window.
  const linger reset_on_close{1, 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset_on_close, sizeof(reset_on_close));
  return ::shutdown(descriptor, SHUT_RDWR) == 0;
}

void ByteWatch::delivered(int descriptor) {
  if (descriptor < 0) return;
  const auto at = static_cast<std::size_t>(descriptor);
  if (at >= deliveries_.size()) deliveries_.resize(at + 64);
  ++deliveries_[at];
}

std::size_t ByteWatch::check(std::chrono::steady_clock::time_point now) {
  if (ports_.empty() || now < next_) return 0;
  ++round_;
  std::size_t cut = 0;
  const std::vector<int> descriptors = open_descriptors();
  for (const int descriptor : descriptors) {
    if (!is_ours(descriptor)) continue;
    const auto cookie = cookie_of(descriptor);
    if (!cookie || !is_abusive(descriptor, *cookie)) continue;
    // The number may have passed to another connection meanwhile; the cookie never does.
    if (cookie_of(descriptor) == cookie && cut_connection(descriptor)) ++cut;
  }
  std::erase_if(connections_, [this](const auto& entry) { return entry.second.round != round_; });
  // With very many connections a look takes long: it comes less often then.
  next_ = now + period * (1 + descriptors.size() / descriptors_per_period);
  return cut;
}

bool ByteWatch::is_ours(int descriptor) const {
  const auto port = local_port(descriptor);
  if (!port || std::find(ports_.begin(), ports_.end(), *port) == ports_.end()) return false;
  int listens = 0;
  return read_option(descriptor, SOL_SOCKET, SO_ACCEPTCONN, listens) && listens == 0;
}

bool ByteWatch::is_abusive(int descriptor, std::uint64_t cookie) {
  const auto taken = bytes_taken(descriptor);
  if (!taken) return false;
  const auto at = static_cast<std::size_t>(descriptor);
  const std::uint64_t deliveries = at < deliveries_.size() ? deliveries_[at] : 0;
  const auto [entry, is_new] = connections_.try_emplace(cookie);
  Connection& connection = entry->second;
  connection.round = round_;
  if (is_new || connection.deliveries != deliveries) {
    // A connection whose descriptor never delivered anything counts from its first byte on.
    connection.taken = is_new && deliveries == 0 ? 0 : *taken;
    connection.deliveries = deliveries;
  }
  return *taken - std::min(*taken, connection.taken) > bytes_max_;
}

}  // namespace tafel::net
