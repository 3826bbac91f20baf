#include "bench/peers/nats_connection.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&place), sizeof(place)) != 0) {
    const int error = errno;
    ::close(descriptor);
    return fail(Fault::unreachable, std::string("NATS: ") + std::strerror(error));
  }
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  std::unique_ptr<NatsConnection> made(new NatsConnection(descriptor));
  made->stream_.out() += "CONNECT {\"verbose\":false,\"pedantic\":false,\"name\":\"tafel-peer-bench\"}\r\n";
  if (auto settled = made->settle(); !settled) return tl::unexpected(settled.error());
  return made;
}

void NatsConnection::subscribe(std::string_view subject) {
  fmt::format_to(std::back_inserter(stream_.out()), "SUB {} 1\r\n", subject);
}

void NatsConnection::publish(std::string_view subject, std::string_view reply, std::string_view payload) {
  fmt::format_to(std::back_inserter(stream_.out()), "PUB {} {} {}\r\n", subject, reply, payload.size());
  stream_.out().append(payload).append(line_end);
}

Result<void> NatsConnection::flush() { return stream_.flush() ? Result<void>() : hung_up(); }

Result<void> NatsConnection::read() { return stream_.read() ? Result<void>() : hung_up(); }

std::optional<std::string_view> NatsConnection::next_line() const {
  const std::string_view left = stream_.in();
  const std::size_t end = left.find(line_end);
  if (end == std::string_view::npos) return std::nullopt;
  return left.substr(0, end);
}

// MSG subject sid [reply] bytes, then the payload. INFO, PING, PONG and -ERR are lines alone.
std::optional<NatsMessage> NatsConnection::next() {
  while (true) {
    const auto line = next_line();
    if (!line) return std::nullopt;
    const std::size_t head = line->size() + line_end.size();
    if (!line->starts_with("MSG ")) stream_.take(head);
    if (line->starts_with("PING")) stream_.out() += "PONG\r\n";
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
    const std::string_view rest = stream_.in().substr(head);
    if (rest.size() < size + line_end.size()) return std::nullopt;  // not whole yet
    const std::string_view payload = rest.substr(0, size);
    stream_.take(head + size + line_end.size());
    return NatsMessage{words[1], count == 5 ? words[3] : std::string_view(), payload};
  }
}

Result<void> NatsConnection::wait() {
  if (auto sent = flush(); !sent) return sent;
  return stream_.wait(patience_ms) ? read() : hung_up();
}

Result<void> NatsConnection::settle() {
  stream_.out() += "PING\r\n";
  is_settled_ = false;
  while (!is_settled_) {
    if (auto waited = wait(); !waited) return waited;
    while (next()) {
    }
  }
  return {};
}

Result<std::string> NatsConnection::ask(std::string_view subject, std::string_view payload) {
  const std::string inbox = fmt::format("_INBOX.ask.{}", descriptor());
  if (!std::exchange(has_inbox_, true)) subscribe(inbox);
  publish(subject, inbox, payload);
  while (true) {
    if (auto waited = wait(); !waited) return tl::unexpected(waited.error());
    if (const auto message = next()) return std::string(message->payload);
  }
}

}  // namespace tafel::bench
