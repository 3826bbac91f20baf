// A TCP port of the loopback that is taken by this process: who connects is refused until `await_connection`.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace tafel::testing {

class TcpPort {
 public:
  // 0: chosen by the system.
  explicit TcpPort(std::uint16_t port = 0) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int reuse = 1;  // a server that has just stopped leaves connections behind
    ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    endpoint_ = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~TcpPort() { ::close(descriptor_); }
  TcpPort(const TcpPort&) = delete;
  TcpPort& operator=(const TcpPort&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  // Returns when somebody has connected, and drops the connection.
  void await_connection() {
    ASSERT_EQ(::listen(descriptor_, 1), 0);
    const int connection = ::accept(descriptor_, nullptr, nullptr);
    EXPECT_GE(connection, 0);
    ::close(connection);
  }

 private:
  int descriptor_;
  std::string endpoint_;
};

}  // namespace tafel::testing
