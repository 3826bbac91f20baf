#include "agents_sdk/cpp/watch_queue.hpp"

#include <cstdio>
#include <exception>
#include <system_error>

#include "common/base/limits.hpp"

namespace tafel::sdk {
namespace {

struct Waiting {
  BoardEvent event;
  std::size_t bytes = 0;
};

}  // namespace

struct WatchQueue::Shared {
  Watcher watcher;
  std::function<void()> drained;
  std::mutex mutex;  // guards all below: this is the queue between the link's thread and the watcher's
  std::condition_variable filled;
  std::deque<Waiting> waiting;
  std::size_t bytes = 0;
  bool was_full = false;
  bool stopped = false;

  bool is_full() const {
    return waiting.size() >= limits::watch_queue_events_max || bytes >= limits::watch_queue_bytes_max;
  }
  bool has_room() const {
    return waiting.size() <= limits::watch_queue_events_max / 2 && bytes <= limits::watch_queue_bytes_max / 2;
  }
};

namespace {

// A watcher's exception is its own affair; it ends neither the watch nor the process.
void call(const Watcher& watcher, const BoardEvent& event) {
  try {
    watcher(event);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tafel: a watcher threw at version %llu: %s\n", static_cast<unsigned long long>(event.version),
                 error.what());
  } catch (...) {
    std::fprintf(stderr, "tafel: a watcher threw at version %llu\n", static_cast<unsigned long long>(event.version));
  }
}

}  // namespace

Result<std::shared_ptr<WatchQueue>> WatchQueue::start(Watcher watcher, std::function<void()> drained) {
  if (!watcher) return fail(Fault::bad_config, "a watcher must be a function");
  auto shared = std::make_shared<Shared>();
  shared->watcher = std::move(watcher);
  shared->drained = std::move(drained);
  std::shared_ptr<WatchQueue> queue(new WatchQueue(shared));
  try {
    queue->thread_ = std::thread([shared] { run(shared); });
  } catch (const std::system_error& error) {
    return fail(Fault::io, std::string("no thread for a watcher: ") + error.what());
  }
  queue->thread_id_ = queue->thread_.get_id();
  return queue;
}

WatchQueue::~WatchQueue() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopped = true;
  }
  shared_->filled.notify_all();
  // Only a watcher that ended its own watch is still running here; nobody may wait for it.
  if (thread_.joinable()) thread_.detach();
}

bool WatchQueue::full() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->is_full();
}

void WatchQueue::push(BoardEvent event, std::size_t bytes) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->stopped) return;
    shared_->waiting.push_back({std::move(event), bytes});
    shared_->bytes += bytes;
    shared_->was_full = shared_->was_full || shared_->is_full();
  }
  shared_->filled.notify_one();
}

void WatchQueue::stop() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopped = true;
    shared_->waiting.clear();
  }
  shared_->filled.notify_all();
  if (std::this_thread::get_id() == thread_id_) return;
  const std::lock_guard lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

void WatchQueue::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->filled.wait(lock, [&] { return shared->stopped || !shared->waiting.empty(); });
    if (shared->stopped) return;
    const Waiting next = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    shared->bytes -= next.bytes;
    const bool tell = shared->was_full && shared->has_room();
    if (tell) shared->was_full = false;
    lock.unlock();
    if (tell && shared->drained) shared->drained();
    call(shared->watcher, next.event);
    lock.lock();
  }
}

}  // namespace tafel::sdk
