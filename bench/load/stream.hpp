// A connected socket that is read and written without waiting, with what is not yet sent and not yet taken.
#pragma once

#include <string>
#include <string_view>

namespace tafel::bench {

class Stream {
 public:
  // Owns `descriptor` and makes it non-blocking.
  explicit Stream(int descriptor);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int descriptor() const { return descriptor_; }

  std::string& out() { return out_; }  // append here what is to be sent
  // Sends as much as there is room for, and keeps the rest. False: the connection is broken.
  bool flush();
  bool has_unsent() const { return sent_ < out_.size(); }

  // Reads what has come, up to some hundred kB. False: the connection is broken.
  bool read();
  // What was read and not taken; valid until the next `read`.
  std::string_view in() const { return std::string_view(in_).substr(taken_); }
  void take(std::size_t bytes) { taken_ += bytes; }
  // Waits for something to read, or room for what is unsent. False: nothing for so long.
  bool wait(int patience_ms) const;

 private:
  int descriptor_;
  std::string in_;
  std::size_t taken_ = 0;
  std::string out_;
  std::size_t sent_ = 0;
};

}  // namespace tafel::bench
