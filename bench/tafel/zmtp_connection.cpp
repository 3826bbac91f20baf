#include "bench/tafel/zmtp_connection.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace tafel::bench {
namespace {

constexpr int patience_ms = 10'000;
constexpr std::size_t greeting_bytes = 64;

// The first byte of a frame.
constexpr unsigned char flag_more = 1;
constexpr unsigned char flag_long = 2;
constexpr unsigned char flag_command = 4;

Failure no_endpoint(const std::string& endpoint) {
  return {Fault::bad_config, endpoint + " is no endpoint for a load: right are tcp://127.0.0.1:7117 and ipc:///path"};
}

Result<int> connect_tcp(const std::string& endpoint) {
  const std::string_view rest = std::string_view(endpoint).substr(6);
  const std::size_t colon = rest.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::uint16_t port = 0;
  if (colon == std::string_view::npos ||
      std::from_chars(rest.data() + colon + 1, rest.data() + rest.size(), port).ec != std::errc{} ||
      ::inet_pton(AF_INET, std::string(rest.substr(0, colon)).c_str(), &address.sin_addr) != 1) {
    return tl::unexpected(no_endpoint(endpoint));
  }
  address.sin_port = htons(port);
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const int error = errno;
    ::close(descriptor);
    return fail(Fault::unreachable, fmt::format("{}: {}", endpoint, std::strerror(error)));
  }
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return descriptor;
}

Result<int> connect_ipc(const std::string& endpoint) {
  const std::string path = endpoint.substr(6);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return tl::unexpected(no_endpoint(endpoint));
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const int error = errno;
    ::close(descriptor);
    return fail(Fault::unreachable, fmt::format("{}: {}", endpoint, std::strerror(error)));
  }
  return descriptor;
}

std::string greeting() {
  std::string bytes("\xFF\0\0\0\0\0\0\0\x01\x7F\x03\0NULL", 16);
  bytes.resize(greeting_bytes, '\0');
  return bytes;
}

std::string ready_command() { return std::string("\x05READY\x0BSocket-Type\0\0\0\x06", 6 + 12 + 4) + "DEALER"; }

}  // namespace

Result<std::unique_ptr<ZmtpConnection>> ZmtpConnection::connect(const std::string& endpoint) {
  Result<int> descriptor = tl::unexpected(no_endpoint(endpoint));
  if (endpoint.starts_with("tcp://")) descriptor = connect_tcp(endpoint);
  if (endpoint.starts_with("ipc://")) descriptor = connect_ipc(endpoint);
  if (!descriptor) return tl::unexpected(descriptor.error());
  std::unique_ptr<ZmtpConnection> made(new ZmtpConnection(*descriptor));
  if (auto shaken = made->shake_hands(); !shaken) return tl::unexpected(shaken.error());
  return made;
}

// Each side sends its greeting and READY without waiting for the other's.
Result<void> ZmtpConnection::shake_hands() {
  stream_.out() += greeting();
  put_frame(flag_command, ready_command());
  if (!stream_.flush()) return fail(Fault::unreachable, "the server hung up before the handshake");
  while (stream_.in().size() < greeting_bytes) {
    if (!stream_.wait(patience_ms) || !stream_.read()) return fail(Fault::unreachable, "no greeting came");
  }
  stream_.take(greeting_bytes);
  while (true) {
    if (const auto frame = next_frame()) {
      if (frame->is_command && frame->body.starts_with("\x05READY")) return {};
      return fail(Fault::refused, "the server does not speak ZMTP 3 with the mechanism NULL");
    }
    if (!stream_.wait(patience_ms) || !stream_.read()) return fail(Fault::unreachable, "no end of the handshake came");
  }
}

void ZmtpConnection::put_frame(unsigned char flags, std::string_view body) {
  std::string& out = stream_.out();
  if (body.size() < 256) {
    out.push_back(static_cast<char>(flags));
    out.push_back(static_cast<char>(body.size()));
  } else {
    out.push_back(static_cast<char>(flags | flag_long));
    for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(body.size() >> shift));
  }
  out.append(body);
}

bool ZmtpConnection::send(std::string_view message) {
  put_frame(0, message);
  return flush();
}

std::optional<ZmtpConnection::Frame> ZmtpConnection::next_frame() {
  const std::string_view left = stream_.in();
  if (left.size() < 2) return std::nullopt;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(left[at]); };
  std::uint64_t size = byte(1);
  std::size_t header = 2;
  if ((byte(0) & flag_long) != 0) {
    header = 9;
    if (left.size() < header) return std::nullopt;
    size = 0;
    for (std::size_t at = 1; at < header; ++at) size = size << 8 | byte(at);
  }
  if (left.size() - header < size) return std::nullopt;
  stream_.take(header + size);
  return Frame{(byte(0) & flag_command) != 0, left.substr(header, size)};
}

// The server asks now and then whether we are alive: PING, two bytes of time to live, a context that is sent back.
void ZmtpConnection::answer(std::string_view command) {
  constexpr std::string_view ping = "\x04PING";
  if (!command.starts_with(ping)) return;
  put_frame(flag_command, "\x04PONG" + std::string(command.substr(std::min(ping.size() + 2, command.size()))));
  flush();
}

std::optional<std::string_view> ZmtpConnection::next() {
  while (const auto frame = next_frame()) {
    if (!frame->is_command) return frame->body;
    answer(frame->body);
  }
  return std::nullopt;
}

Result<std::string> ZmtpConnection::wait() {
  while (true) {
    if (const auto message = next()) return std::string(*message);
    if (!stream_.wait(patience_ms)) return fail(Fault::unreachable, "the server does not answer");
    if (!stream_.read()) return fail(Fault::unreachable, "the server hung up");
  }
}

}  // namespace tafel::bench
