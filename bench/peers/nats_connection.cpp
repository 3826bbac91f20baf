#include "bench/peers/nats_connection.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

namespace tafel::bench {
namespace {

constexpr int patience_ms = 60'000;
constexpr std::size_t read_bytes = 64 * 1024;
constexpr std::string_view line_end = "\r\n";

tl::unexpected<Failure> hung_up() { return fail(Fault::unreachable, "NATS hung up, or does not answer"); }

}  // namespace

Result<std::unique_ptr<NatsConnection>> NatsConnection::connect(const PeerAddress& address) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(address.port));
  if (::inet_pton(AF_INET, address.host.c_str(), &place.sin_addr) != 1) {
    return fail(Fault::bad_config, address.host + " is no address of IPv4");
  }
  std::unique_ptr<NatsConnection> made(new NatsConnection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  if (::connect(made->descriptor_, reinterpret_cast<const sockaddr*>(&place), sizeof(place)) != 0) {
    return fail(Fault::unreachable, std::string("NATS: ") + std::strerror(errno));
  }
  const int on = 1;
  ::setsockopt(made->descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::fcntl(made->descriptor_, F_SETFL, ::fcntl(made->descriptor_, F_GETFL) | O_NONBLOCK);
  made->out_ += "CONNECT {\"verbose\":false,\"pedantic\":false,\"name\":\"tafel-peer-bench\"}\r\n";
  if (auto settled = made->settle(); !settled) return tl::unexpected(settled.error());
  return made;
}

NatsConnection::~NatsConnection() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void NatsConnection::subscribe(std::string_view subject) {
  fmt::format_to(std::back_inserter(out_), "SUB {} 1\r\n", subject);
}

void NatsConnection::publish(std::string_view subject, std::string_view reply, std::string_view payload) {
  fmt::format_to(std::back_inserter(out_), "PUB {} {} {}\r\n", subject, reply, payload.size());
  out_.append(payload).append(line_end);
}

Result<void> NatsConnection::flush() {
  while (has_unsent()) {
    const auto sent = ::send(descriptor_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (sent < 0) return hung_up();
    sent_ += static_cast<std::size_t>(sent);
  }
  out_.clear();
  sent_ = 0;
  return {};
}

Result<void> NatsConnection::read() {
  in_.erase(0, taken_);
  taken_ = 0;
  const std::size_t had = in_.size();
  in_.resize(had + read_bytes);
  const auto got = ::recv(descriptor_, in_.data() + had, read_bytes, MSG_DONTWAIT);
  const int error = errno;
  in_.resize(had + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got > 0 || (got < 0 && (error == EAGAIN || error == EINTR))) return {};
  return hung_up();
}

std::optional<std::string_view> NatsConnection::next_line() {
  const std::string_view left = std::string_view(in_).substr(taken_);
  const std::size_t end = left.find(line_end);
  if (end == std::string_view::npos) return std::nullopt;
  taken_ += end + line_end.size();
  return left.substr(0, end);
}

// MSG subject sid [reply] bytes, then the payload. INFO, PING, PONG and -ERR are lines alone.
std::optional<NatsMessage> NatsConnection::next() {
  while (true) {
    const std::size_t begin = taken_;
    const auto line = next_line();
    if (!line) return std::nullopt;
    if (line->starts_with("PING")) out_ += "PONG\r\n";
    if (line->starts_with("PONG")) is_settled_ = true;
    if (!line->starts_with("MSG ")) continue;
    std::array<std::string_view, 5> words{};
    std::size_t count = 0;
    for (std::string_view rest = *line; !rest.empty() && count < words.size(); ++count) {
      const std::size_t blank = rest.find(' ');
      words[count] = rest.substr(0, blank);
      rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
    }
    const std::string_view digits = words[count - 1];
    std::size_t size = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (in_.size() - taken_ < size + line_end.size()) {  // not whole yet
      taken_ = begin;
      return std::nullopt;
    }
    const std::string_view payload = std::string_view(in_).substr(taken_, size);
    taken_ += size + line_end.size();
    return NatsMessage{words[1], count == 5 ? words[3] : std::string_view(), payload};
  }
}

Result<void> NatsConnection::wait() {
  if (auto sent = flush(); !sent) return sent;
  pollfd item{descriptor_, POLLIN, 0};
  if (has_unsent()) item.events |= POLLOUT;
  if (::poll(&item, 1, patience_ms) <= 0) return hung_up();
  if ((item.revents & POLLIN) == 0) return {};
  return read();
}

Result<void> NatsConnection::settle() {
  out_ += "PING\r\n";
  is_settled_ = false;
  while (!is_settled_) {
    if (auto waited = wait(); !waited) return waited;
    while (next()) {
    }
  }
  return {};
}

Result<std::string> NatsConnection::ask(std::string_view subject, std::string_view payload) {
  const std::string inbox = fmt::format("_INBOX.ask.{}", descriptor_);
  if (!std::exchange(has_inbox_, true)) subscribe(inbox);
  publish(subject, inbox, payload);
  while (true) {
    if (auto waited = wait(); !waited) return tl::unexpected(waited.error());
    if (const auto message = next()) return std::string(message->payload);
  }
}

}  // namespace tafel::bench
