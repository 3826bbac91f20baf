#include "blackboard/store/write_back.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "blackboard/store/journal_mark.hpp"

namespace tafel::store {

Result<void> write_into_store(Kv& store, const Changes& changes, const std::string& journal_id, std::uint64_t covered) {
  const auto write = store.write();
  if (!write) return tl::unexpected(write.error());
  (*write)->ignore_quota();
  if (auto written = write_changes(changes, **write); !written) return written;
  if (auto marked = put_mark(**write, {journal_id, covered}); !marked) return marked;
  return (*write)->commit();
}

WriteBack::WriteBack(Kv& store, Journal& journal, std::string journal_id, WriteBackLimits limits)
    : store_(store),
      journal_(journal),
      journal_id_(std::move(journal_id)),
      limits_(limits),
      added_(journal.last()),
      in_store_(journal.last()),
      waited_for_(journal.last()),
      thread_([this] { run(); }) {}

WriteBack::~WriteBack() {
  {
    const Lock lock(mutex_);
    is_closing_ = true;
  }
  wanted_.notify_one();
  thread_.join();
}

WriteBack::Unwritten WriteBack::unwritten() const {
  const Lock lock(mutex_);
  return {newer_, older_, unwritten_bytes()};
}

void WriteBack::add(Changes changes, std::uint64_t sequence) {
  const Lock lock(mutex_);
  const bool was_idle = newer_->empty();
  newer_->absorb(std::move(changes));
  added_ = sequence;
  if (was_idle || newer_->bytes() >= limits_.bytes) wanted_.notify_one();
}

Result<void> WriteBack::wait() {
  Lock lock(mutex_);
  return wait_until_written(lock, added_);
}

Result<void> WriteBack::wait_for_room() {
  Lock lock(mutex_);
  if (failure_) return tl::unexpected(*failure_);
  if (unwritten_bytes() < limits_.bytes_max) return {};
  return wait_until_written(lock, added_);
}

// Whoever waits for the same records shares the write-back.
Result<void> WriteBack::wait_until_written(Lock& lock, std::uint64_t sequence) {
  if (!failure_ && in_store_ < sequence) {
    waited_for_ = std::max(waited_for_, sequence);
    wanted_.notify_one();
    written_.wait(lock, [&] { return in_store_ >= sequence || failure_; });
  }
  if (failure_) return tl::unexpected(*failure_);
  return {};
}

void WriteBack::break_off(Failure failure) {
  const Lock lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  wanted_.notify_one();
  written_.notify_all();
}

Result<void> WriteBack::usable() const {
  const Lock lock(mutex_);
  if (failure_) return tl::unexpected(*failure_);
  return {};
}

void WriteBack::run() {
  Lock lock(mutex_);
  while (true) {
    wanted_.wait(lock, [&] { return !newer_->empty() || is_closing_ || failure_; });
    if (newer_->empty() || failure_) return;
    wanted_.wait_for(lock, std::chrono::milliseconds(limits_.age_ms), [&] {
      return is_closing_ || failure_ || waited_for_ > in_store_ || newer_->bytes() >= limits_.bytes;
    });
    if (failure_ || !write_back(lock)) return;
  }
}

bool WriteBack::write_back(Lock& lock) {
  std::shared_ptr<Changes> changes = std::exchange(newer_, std::make_shared<Changes>());
  const std::uint64_t sequence = added_;
  older_ = changes;
  lock.unlock();
  const auto written = write_into_store(store_, *changes, journal_id_, sequence);
  lock.lock();
  if (!written) {
    if (!failure_)
      failure_ = Failure{Fault::io, fmt::format("what was committed can not be written from the journal into the "
                                                "store, and stays in the journal: {}",
                                                written.error().message)};
    written_.notify_all();
    return false;
  }
  older_.reset();
  in_store_ = sequence;
  journal_.release(sequence);
  written_.notify_all();
  lock.unlock();
  changes.reset();  // takes a while, which nobody is to wait for
  lock.lock();
  return true;
}

}  // namespace tafel::store
