#include "tests/broker/wire_client.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "common/base/bytes.hpp"
#include "common/base/limits.hpp"
#include "tests/broker/rig.hpp"

namespace tafel::testing {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool eventually(const std::function<bool()>& condition) {
  const auto end = steady_clock::now() + patience;
  while (!condition()) {
    if (steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

WireClient::WireClient(net::Context& context, const std::string& endpoint) {
  auto dealer = net::Dealer::connect(context, endpoint, limits::answer_bytes_max);
  if (!dealer) ADD_FAILURE() << dealer.error().message;
  if (dealer) dealer_ = std::move(*dealer);
}

codec::Welcome WireClient::greet(const std::string& actor) {
  codec::Hello hello;
  hello.actor = actor;
  send(codec::message::hello, 1, codec::to_value(hello));
  const auto answer = receive();
  if (!answer) ADD_FAILURE() << "no answer to hello";
  const auto welcome = answer ? codec::welcome_from_value(answer->body) : Result<codec::Welcome>(codec::Welcome());
  if (!welcome) ADD_FAILURE() << answer->type << ": " << brief(answer->body);
  return welcome ? *welcome : codec::Welcome();
}

void WireClient::send(std::string_view type, std::uint64_t id, Value body) {
  const std::string bytes = codec::encode_message({std::string(type), id, std::move(body)});
  EXPECT_TRUE(eventually([&] { return dealer_->send(bytes); })) << "can not send";
}

std::optional<codec::Message> WireClient::receive(milliseconds wait) {
  net::Poller poller;
  poller.add(dealer_.get());
  const auto end = steady_clock::now() + wait;
  while (true) {
    if (const auto bytes = dealer_->receive()) {
      auto message = codec::decode_message(*bytes);
      if (!message) ADD_FAILURE() << message.error().message;
      return message ? std::optional(std::move(*message)) : std::nullopt;
    }
    const auto left = std::chrono::duration_cast<milliseconds>(end - steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    poller.wait(left);
  }
}

std::optional<codec::Message> WireClient::receive(std::string_view type) {
  while (auto message = receive()) {
    if (message->type == type) return message;
  }
  return std::nullopt;
}

std::optional<Receipt> WireClient::submit(const Value& delta) {
  const std::uint64_t id = next_id_++;
  send(codec::message::submit, id, List{delta});
  const auto answer = receive();
  if (!answer || answer->id != id) return std::nullopt;
  auto receipts = receipts_in(*answer);
  return receipts.empty() ? std::nullopt : std::optional(std::move(receipts.front()));
}

RawPeer::RawPeer(const std::string& tcp_endpoint) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(tcp_endpoint.substr(tcp_endpoint.rfind(':') + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
}

RawPeer::~RawPeer() { ::close(descriptor_); }

bool RawPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd item{descriptor_, POLLOUT, 0};
    if (::poll(&item, 1, static_cast<int>(milliseconds(patience).count())) <= 0) return false;
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawPeer::is_cut(milliseconds wait) {
  char bytes[4096];
  while (true) {
    pollfd item{descriptor_, POLLIN, 0};
    if (::poll(&item, 1, static_cast<int>(wait.count())) <= 0) return false;
    if (::recv(descriptor_, bytes, sizeof(bytes), MSG_DONTWAIT) <= 0) return true;  // its own greeting comes first
  }
}

bool RawPeer::shake_hands(const std::string& socket_type) {
  if (!send(zmtp_greeting())) return false;
  std::string greeting(64, '\0');
  if (::recv(descriptor_, greeting.data(), greeting.size(), MSG_WAITALL) != 64) return false;
  std::string ready = "\x05READY\x0BSocket-Type";
  put_be32(ready, static_cast<std::uint32_t>(socket_type.size()));
  ready += socket_type;
  if (!send("\x04" + std::string(1, static_cast<char>(ready.size())) + ready)) return false;
  char header[2];
  if (::recv(descriptor_, header, sizeof(header), MSG_WAITALL) != 2) return false;
  std::string rest(static_cast<std::uint8_t>(header[1]), '\0');
  return ::recv(descriptor_, rest.data(), rest.size(), MSG_WAITALL) == static_cast<ssize_t>(rest.size());
}

std::string zmtp_greeting() {
  std::string greeting("\xFF\0\0\0\0\0\0\0\x01\x7F\x03\0NULL", 16);
  greeting.resize(64, '\0');
  return greeting;
}

std::string zmtp_frame(std::string_view body, bool more) {
  std::string frame;
  frame.push_back(more ? '\x03' : '\x02');  // the long form
  put_be64(frame, body.size());
  return frame.append(body);
}

std::size_t resident_bytes() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace tafel::testing
