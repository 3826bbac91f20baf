// The turns of the link's thread. Not used by anybody else than link.cpp.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agents_sdk/cpp/boards.hpp"
#include "agents_sdk/cpp/link.hpp"
#include "agents_sdk/cpp/queries.hpp"
#include "common/base/clock.hpp"
#include "common/net/socket.hpp"

namespace tafel::sdk {

// Between the link's thread and all others.
struct Link::Shared {
  net::Waker waker;
  std::mutex mutex;  // guards all below: the inbox of the link's thread, and what it tells about itself
  std::condition_variable changed;
  std::vector<Outbox::Entry> submitted;
  std::vector<std::function<void(Loop&)>> commands;
  std::size_t deltas = 0;  // without a receipt
  std::size_t delta_bytes = 0;
  bool closing = false;  // nothing more is taken
  bool connected = false;
  bool welcomed = false;  // at least once
  std::optional<Failure> refusal;
  codec::Welcome welcome;
};

class Link::Loop {
 public:
  Loop(std::shared_ptr<Shared> shared, LinkOptions options);

  // Until the link is closed.
  void run();

  // Commands, on the link's thread.
  void ask(Value body, milliseconds timeout, Queries::Done done);
  void join(std::shared_ptr<BoardFeed> board) { boards_.join(std::move(board)); }
  void leave(const BoardFeed& board) { boards_.leave(board, now_); }
  void follow(StreamOptions options);
  void unfollow(std::uint64_t number);

 private:
  bool take_inbox();
  void turn();
  void serve_requests();
  void serve_boards();
  void serve_streams();
  void send_deltas();
  void expect_answers();
  void greeted();
  void tell_status();
  void complete(std::vector<Outbox::Done> done);
  void wait();
  void end();
  void give_up();
  std::unique_ptr<Channel> new_channel(int receive_queue = 0) const;

  const std::shared_ptr<Shared> shared_;
  const LinkOptions options_;
  SystemClock clock_;
  std::int64_t now_ = 0;
  std::unique_ptr<Channel> request_;
  std::unique_ptr<Channel> query_;
  std::unique_ptr<Channel> feed_;
  Outbox outbox_;
  Queries queries_;
  Boards boards_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::uint64_t generation_ = 0;  // of the request connection
  bool told_open_ = false;        // what others were told last
  std::uint64_t told_generation_ = 0;
  bool was_in_doubt_ = false;  // one of the other connections
};

}  // namespace tafel::sdk
