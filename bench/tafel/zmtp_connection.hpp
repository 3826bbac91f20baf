// A DEALER that speaks ZMTP 3.0 over its own socket (RFC 23, mechanism NULL), without libzmq: no thread beside the
// caller's and no hand-over between threads, so that what a load program costs is comparable with other systems' lean
// clients. For measuring; products take common/net.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bench/load/stream.hpp"
#include "common/base/result.hpp"

namespace tafel::bench {

class ZmtpConnection {
 public:
  // Waits for the connection and both handshakes. `endpoint`: tcp://ADDRESS:PORT (digits) or ipc://PATH.
  static Result<std::unique_ptr<ZmtpConnection>> connect(const std::string& endpoint);

  int descriptor() const { return stream_.descriptor(); }

  // Sends as much as there is room for, and keeps the rest. False: the connection is broken.
  bool send(std::string_view message);
  bool flush() { return stream_.flush(); }
  bool has_unsent() const { return stream_.has_unsent(); }

  // Reads what has come, without waiting. False: the connection is broken.
  bool read() { return stream_.read(); }
  // The next whole message of what was read; valid until the next `read`.
  std::optional<std::string_view> next();
  // Waits for the next message, up to some seconds.
  Result<std::string> wait();

 private:
  struct Frame {
    bool is_command = false;
    std::string_view body;
  };
  explicit ZmtpConnection(int descriptor) : stream_(descriptor) {}
  Result<void> shake_hands();
  std::optional<Frame> next_frame();
  void put_frame(unsigned char flags, std::string_view body);
  void answer(std::string_view command);

  Stream stream_;
};

}  // namespace tafel::bench
