// One followed board, between the link's thread, which feeds it, and the host's threads, which read it, wait on it and
// watch it. Watchers normally get what the mirror gets; one whose queue is full is left behind, is then fed from the
// server's log by a stream of its own (link), and comes back when it has reached the mirror. So nobody waits for a slow
// watcher and it misses nothing.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agents_sdk/cpp/mirror.hpp"
#include "agents_sdk/cpp/watch_queue.hpp"

namespace tafel::sdk {

class BoardFeed {
 public:
  explicit BoardFeed(std::string id) : id_(std::move(id)) {}

  const std::string& id() const { return id_; }

  // For the link's thread.
  struct Standing {
    Mirror::Phase phase = Mirror::Phase::reading;
    Value cursor;
    Version position = 0;
    std::size_t broken_in_a_row = 0;
    bool has_copy = false;
  };
  Standing standing() const;
  Mirror::Next page(Mirror::Page page);
  Mirror::Next events(std::vector<codec::FeedEvent> events, std::size_t bytes);
  Mirror::Next live(Version version);
  Mirror::Next history_gone();
  Mirror::Next epoch_is(const std::string& epoch);
  // The server says that the board was deleted, by that version, in these words.
  Mirror::Next deleted(Version version, std::string message);
  void lost();
  // The board cannot be followed (no right to read it, …). Ends the waiting of `wait_live`.
  void refuse(Failure failure);

  // Watchers that were left behind and have room again.
  struct Behind {
    std::uint64_t number = 0;
    Version from = 0;
    std::string epoch;  // of the versions that it counts
    std::shared_ptr<WatchQueue> queue;
  };
  std::vector<Behind> behind();
  // What its stream says: it has got everything up to `position`. True when it still needs the stream.
  bool still_behind(std::uint64_t number, Version position);
  // Its stream found the history gone: it is told of a resync and goes on with the mirror.
  void skip_to_mirror(std::uint64_t number);

  // For the host's threads.
  Version version() const;
  Sum128 digest() const;
  std::optional<Version> deleted() const;
  // That the board was deleted, in the server's words or our own; nullopt: it is there.
  std::optional<std::string> ending() const;
  std::uint64_t resyncs() const;
  std::optional<Completeness> completeness() const;  // as the newest event told it
  std::string epoch() const;
  std::shared_ptr<const blackboard::Board> snapshot() const;
  std::optional<Value> get(const Path& path, TimeMs now) const;
  Result<void> wait_for(Version version, milliseconds timeout);
  Result<void> wait_live(milliseconds timeout);
  // Every version after version() as it is now. `number` names the watch.
  void watch(std::uint64_t number, std::shared_ptr<WatchQueue> queue);
  void unwatch(std::uint64_t number);
  // Ends all waiting and all watches; waits for watchers that are running.
  void close();

 private:
  struct Tap {
    std::uint64_t number = 0;
    std::shared_ptr<WatchQueue> queue;
    Version last = 0;  // the last version that it was given
    bool behind = false;
  };

  template <class Input>
  Mirror::Next put_in(std::size_t bytes, Input input);
  void tell(const BoardEvent& event, std::size_t bytes);
  Tap* find(std::uint64_t number);
  std::string ending_words() const;

  const std::string id_;
  mutable std::mutex mutex_;  // guards all below: readers want the state as it is, not a queue of what became of it
  std::condition_variable changed_;
  Mirror mirror_;
  std::vector<Tap> taps_;
  std::optional<Failure> refusal_;
  std::string ending_;  // what the server said of the deletion; empty: nothing
  bool closed_ = false;
};

}  // namespace tafel::sdk
