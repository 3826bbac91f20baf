// Waits for input on many descriptors at once, for peers that read their connections themselves (epoll).
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace tafel::bench {

class Descriptors {
 public:
  Descriptors();
  ~Descriptors();
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  // `number` is what `ready` tells when there is input, or an end. False: the system has no room.
  bool add(int descriptor, std::size_t number);
  // Also when there is room to write, as long as `is_wanted`.
  void want_room(int descriptor, std::size_t number, bool is_wanted);

  // The numbers of those that are ready; empty when the time was over first. Valid until the next call.
  const std::vector<std::size_t>& ready(std::chrono::milliseconds wait);

 private:
  int epoll_;
  std::vector<std::size_t> ready_;
};

}  // namespace tafel::bench
