// A DEALER that speaks ZMTP 3.0 over its own socket (RFC 23, mechanism NULL), without libzmq: no thread beside the
// caller's and no hand-over between threads, so that what a load program costs is comparable with other systems' lean
// clients. For measuring; products take common/net.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace tafel::bench {

class ZmtpConnection {
 public:
  // Waits for the connection and both handshakes. `endpoint`: tcp://ADDRESS:PORT (digits) or ipc://PATH.
  static Result<std::unique_ptr<ZmtpConnection>> connect(const std::string& endpoint);
  ~ZmtpConnection();
  ZmtpConnection(const ZmtpConnection&) = delete;
  ZmtpConnection& operator=(const ZmtpConnection&) = delete;

  int descriptor() const { return descriptor_; }

  // Sends as much as there is room for, and keeps the rest. False: the connection is broken.
  bool send(std::string_view message);
  bool flush();
  bool has_unsent() const { return sent_ < out_.size(); }

  // Reads what has come, without waiting. False: the connection is broken.
  bool read();
  // The next whole message of what was read; valid until the next `read`.
  std::optional<std::string_view> next();
  // Waits for the next message, up to some seconds.
  Result<std::string> wait();

 private:
  struct Frame {
    bool is_command = false;
    std::string_view body;
  };
  explicit ZmtpConnection(int descriptor) : descriptor_(descriptor) {}
  Result<void> shake_hands();
  std::optional<Frame> next_frame();
  void put_frame(unsigned char flags, std::string_view body);
  void answer(std::string_view command);

  int descriptor_;
  std::string in_;
  std::size_t taken_ = 0;  // bytes of `in_` that were given out
  std::string out_;
  std::size_t sent_ = 0;  // bytes of `out_` that are on their way
};

}  // namespace tafel::bench
