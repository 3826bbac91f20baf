#include "agents_sdk/cpp/core.hpp"

#include <fmt/format.h>

#include <utility>

#include "agents_sdk/cpp/encode.hpp"
#include "common/base/clock.hpp"

namespace tafel::sdk {
namespace {

using Time = std::chrono::steady_clock::time_point;

milliseconds left_until(Time deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::max(left, milliseconds(0));
}

bool names_a_version(const Delta& delta) { return delta.base || delta.expect.version || !delta.expect.fields.empty(); }

ErrorInfo foreign_base(const std::string& made_for, const std::string& board) {
  ErrorInfo error;
  error.code = ErrorCode::bad_value;
  error.message =
      fmt::format("the delta was made from a context of {}; its base says nothing about {}", made_for, board);
  return error;
}

}  // namespace

Ticket Core::submit(const std::string& board, Delta delta) {
  if (delta.id.empty()) delta.id = new_delta_id();
  const auto refuse = [&](ErrorInfo error) {
    Receipt receipt;
    receipt.id = delta.id;
    receipt.board = board;
    receipt.epoch = link_->epoch();
    receipt.error = std::move(error);
    return answered_ticket(delta.id, std::move(receipt));
  };
  if (delta.base && !delta.board.empty() && delta.board != board) return refuse(foreign_base(delta.board, board));
  delta.board = board;
  auto encoded = encode_delta(delta, link_->delta_bytes_max());
  if (!encoded) return refuse(std::move(encoded.error()));

  Outbox::Entry entry;
  entry.board = board;
  entry.delta_id = delta.id;
  entry.bytes = std::move(encoded->bytes);
  entry.objects = encoded->objects;
  if (names_a_version(delta)) entry.epoch = link_->epoch();
  entry.ticket = std::make_shared<Ticket::State>(delta.id);
  const Ticket ticket(entry.ticket);
  if (auto taken = link_->submit(std::move(entry)); !taken)
    return answered_ticket(delta.id, tl::unexpected<Failure>(taken.error()));
  return ticket;
}

Result<Receipt> Core::apply(const std::string& board, const Delta& delta, BoardFeed* mirror) {
  const Time deadline = std::chrono::steady_clock::now() + bounded(options_.submit_timeout);
  auto receipt = submit(board, delta).wait(options_.submit_timeout);
  // A dry run names a version that will not be.
  if (!receipt || receipt->error || delta.check || mirror == nullptr) return receipt;
  if (auto seen = mirror->wait_for(receipt->version, left_until(deadline)); !seen) {
    return fail(seen.error().fault, fmt::format("delta {} is committed with version {}, but {}", receipt->id,
                                                receipt->version, seen.error().message));
  }
  return receipt;
}

Result<std::uint64_t> Core::follow(const std::string& board, Version from, std::vector<std::string> paths,
                                   Watcher watcher) {
  auto queue = WatchQueue::start(std::move(watcher), link_->waker());
  if (!queue) return tl::unexpected<Failure>(queue.error());
  StreamOptions stream;
  stream.number = new_number();
  stream.board = board;
  stream.from = from;
  stream.paths = std::move(paths);
  stream.queue = *queue;
  const std::uint64_t number = stream.number;
  {
    const std::lock_guard lock(mutex_);
    follows_[number] = *queue;
  }
  if (auto started = link_->follow(std::move(stream), options_.submit_timeout); !started) {
    unfollow(number);
    return tl::unexpected<Failure>(started.error());
  }
  return number;
}

void Core::unfollow(std::uint64_t number) {
  std::shared_ptr<WatchQueue> queue;
  {
    const std::lock_guard lock(mutex_);
    const auto at = follows_.find(number);
    if (at == follows_.end()) return;
    queue = std::move(at->second);
    follows_.erase(at);
  }
  link_->unfollow(number);
  queue->stop();  // outside the lock: the watcher may be submitting
}

void Core::close() {
  link_->close();
  std::map<std::uint64_t, std::shared_ptr<WatchQueue>> follows;
  {
    const std::lock_guard lock(mutex_);
    follows.swap(follows_);
  }
  for (const auto& [number, queue] : follows) queue->stop();
}

std::string Core::new_delta_id() {
  SystemClock clock;
  const std::lock_guard lock(mutex_);
  return new_id(clock.wall_ms(), random_);
}

}  // namespace tafel::sdk
