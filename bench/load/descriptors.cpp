#include "bench/load/descriptors.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>

namespace tafel::bench {

Descriptors::Descriptors() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

Descriptors::~Descriptors() {
  if (epoll_ >= 0) ::close(epoll_);
}

bool Descriptors::add(int descriptor, std::size_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void Descriptors::want_room(int descriptor, std::size_t number, bool is_wanted) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (is_wanted) event.events |= EPOLLOUT;
  event.data.u64 = number;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event);
}

const std::vector<std::size_t>& Descriptors::ready(std::chrono::milliseconds wait) {
  std::array<epoll_event, 128> events{};
  const int count =
      ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), static_cast<int>(wait.count()));
  ready_.clear();
  for (int i = 0; i < count; ++i) ready_.push_back(events[static_cast<std::size_t>(i)].data.u64);
  return ready_;
}

}  // namespace tafel::bench
