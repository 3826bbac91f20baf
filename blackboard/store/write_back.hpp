// What is in the journal and not in the store yet, and the thread that writes it back. Two layers: commits add to the
// newer one; while a write-back runs, the older one is what it writes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "blackboard/store/changes.hpp"
#include "blackboard/store/journal.hpp"
#include "common/base/limits.hpp"

namespace tafel::store {

struct WriteBackLimits {
  std::int64_t age_ms = limits::write_back_ms;          // it begins when something waits for so long …
  std::size_t bytes = limits::write_back_bytes;         // … or is so much, or when a reader wants it
  std::size_t bytes_max = limits::unwritten_bytes_max;  // of both layers; then commits wait
};

// Puts the changes into the store, and that it holds the records of the journal up to `covered`, in one transaction.
Result<void> write_into_store(Kv& store, const Changes& changes, const std::string& journal_id, std::uint64_t covered);

class WriteBack {
 public:
  // All records of `journal` are in `store`.
  WriteBack(Kv& store, Journal& journal, std::string journal_id, WriteBackLimits limits);
  WriteBack(const WriteBack&) = delete;
  WriteBack& operator=(const WriteBack&) = delete;
  ~WriteBack();  // writes everything back

  // The layers as they are now. A snapshot of the store that is taken afterwards holds what they lack.
  struct Unwritten {
    std::shared_ptr<const Changes> newer;  // grows by `add`, on whose thread alone it may be read
    std::shared_ptr<const Changes> older;  // null: no write-back runs
    std::size_t bytes = 0;
  };
  Unwritten unwritten() const;

  // Adds what was made durable as this record of the journal. One thread adds.
  void add(Changes changes, std::uint64_t sequence);
  // Waits until the store holds all that was added before the call.
  Result<void> wait();
  // Waits until there is room for more.
  Result<void> wait_for_room();

  // After a failure that leaves unknown what is on disk, everything fails.
  void break_off(Failure failure);
  Result<void> usable() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  void run();
  bool write_back(Lock& lock);
  Result<void> wait_until_written(Lock& lock, std::uint64_t sequence);
  std::size_t unwritten_bytes() const { return newer_->bytes() + (older_ ? older_->bytes() : 0); }

  Kv& store_;
  Journal& journal_;
  const std::string journal_id_;
  const WriteBackLimits limits_;

  mutable std::mutex mutex_;        // guards what follows
  std::condition_variable wanted_;  // something is to be done by the thread
  std::condition_variable written_;
  std::shared_ptr<Changes> newer_ = std::make_shared<Changes>();
  std::shared_ptr<Changes> older_;
  std::uint64_t added_;       // sequence of the newest record
  std::uint64_t in_store_;    // of the newest one that the store holds
  std::uint64_t waited_for_;  // of the newest one that somebody waits for
  bool is_closing_ = false;
  std::optional<Failure> failure_;

  std::thread thread_;  // last: it uses all of this
};

}  // namespace tafel::store
