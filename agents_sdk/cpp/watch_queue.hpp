// What waits for one watcher, and the thread that calls it. Each watcher has a thread of its own, so a slow one holds
// up neither the sockets nor anybody else. The queue is bounded: when it is full, the producer stops and remembers
// where, and goes on from the log later.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "agents_sdk/cpp/agent.hpp"

namespace tafel::sdk {

class WatchQueue {
 public:
  // `drained` is called on the watcher's thread when a queue that was full has room again, or its last event was taken.
  static Result<std::shared_ptr<WatchQueue>> start(Watcher watcher, std::function<void()> drained);
  ~WatchQueue();
  WatchQueue(const WatchQueue&) = delete;
  WatchQueue& operator=(const WatchQueue&) = delete;

  // One producer: the link's thread. `push` always takes the event; who pushes looks at `full` first.
  bool full() const;
  void push(BoardEvent event, std::size_t bytes);

  // From any thread: no call of the watcher begins afterwards. Waits for the call that is running, unless the watcher
  // itself is asking.
  void stop();

 private:
  struct Shared;
  explicit WatchQueue(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // the thread may outlive this object when the watcher ends its own watch
  std::mutex join_mutex_;           // guards `thread_` against two threads that both wait for its end
  std::thread thread_;
  std::thread::id thread_id_;
};

}  // namespace tafel::sdk
