#include "agents_sdk/cpp/link.hpp"

#include <fmt/format.h>

#include <system_error>

#include "agents_sdk/cpp/link_loop.hpp"

namespace tafel::sdk {
namespace {

// One answer on its way from the link's thread to a caller who waits.
template <class T>
class Reply {
 public:
  void give(Result<T> result) {
    {
      const std::lock_guard lock(mutex_);
      result_ = std::move(result);
    }
    given_.notify_all();
  }
  std::optional<Result<T>> wait(milliseconds timeout) {
    std::unique_lock lock(mutex_);
    given_.wait_for(lock, bounded(timeout), [&] { return result_.has_value(); });
    return result_;
  }

 private:
  std::mutex mutex_;  // guards `result_`: the caller may give up waiting before it comes
  std::condition_variable given_;
  std::optional<Result<T>> result_;
};

tl::unexpected<Failure> closed() { return fail(Fault::closed, "the agent is closed"); }

}  // namespace

Result<std::shared_ptr<Link>> Link::start(LinkOptions options) {
  auto shared = std::make_shared<Shared>();
  std::shared_ptr<Link> link(new Link(shared, options.outbox_deltas_max));
  try {
    link->thread_ = std::thread([shared, options] { Loop(shared, options).run(); });
  } catch (const std::system_error& error) {
    return fail(Fault::io, std::string("no thread for the link to the server: ") + error.what());
  }
  if (auto welcome = link->wait_for_welcome(options); !welcome) return tl::unexpected<Failure>(welcome.error());
  return link;
}

Link::~Link() { close(); }

Result<void> Link::wait_for_welcome(const LinkOptions& options) {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, bounded(options.connect_timeout),
                            [&] { return shared_->welcomed || shared_->refusal || shared_->closing; });
  if (shared_->welcomed) return {};
  if (shared_->refusal) return tl::unexpected<Failure>(*shared_->refusal);
  return fail(Fault::unreachable, fmt::format("no answer from {} within {} ms: is tafeld running there?",
                                              options.server, options.connect_timeout.count()));
}

void Link::close() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->closing = true;
  }
  shared_->waker.wake();
  const std::lock_guard lock(close_mutex_);
  if (thread_.joinable()) thread_.join();
}

Result<void> Link::submit(Outbox::Entry entry) {
  bool wakes = false;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->closing) return closed();
    if (shared_->deltas >= outbox_deltas_max_ || shared_->delta_bytes >= limits::outbox_bytes_max) {
      return fail(Fault::busy, fmt::format("{} deltas wait for their receipts already: wait for some of them first",
                                           shared_->deltas));
    }
    ++shared_->deltas;
    shared_->delta_bytes += entry.bytes.size();
    wakes = shared_->submitted.empty();
    shared_->submitted.push_back(std::move(entry));
  }
  if (wakes) shared_->waker.wake();
  return {};
}

Result<Value> Link::query(const Value& body, milliseconds timeout) {
  auto reply = std::make_shared<Reply<Value>>();
  const auto ask = [reply, body, timeout](Loop& loop) {
    loop.ask(body, timeout, [reply](Result<Value> answer) { reply->give(std::move(answer)); });
  };
  if (!post(ask)) return closed();
  if (auto answer = reply->wait(timeout)) return std::move(*answer);
  return fail(
      Fault::unreachable,
      fmt::format("no answer to the question within {} ms; is the query endpoint, which the server names (tafeld "
                  "--query-listen), within reach?",
                  timeout.count()));
}

void Link::join(std::shared_ptr<BoardFeed> board) {
  post([board = std::move(board)](Loop& loop) { loop.join(board); });
}

void Link::leave(std::shared_ptr<BoardFeed> board) {
  post([board = std::move(board)](Loop& loop) { loop.leave(*board); });
}

Result<void> Link::follow(StreamOptions options, milliseconds timeout) {
  auto reply = std::make_shared<Reply<void>>();
  options.started = [reply](Result<void> started) { reply->give(std::move(started)); };
  const std::string board = options.board;
  if (!post([options = std::move(options)](Loop& loop) { loop.follow(options); })) return closed();
  if (auto started = reply->wait(timeout)) return std::move(*started);
  return fail(Fault::unreachable,
              fmt::format("no subscription to {} within {} ms; is the feed endpoint, which the server names (tafeld "
                          "--feed-listen), within reach?",
                          board, timeout.count()));
}

void Link::unfollow(std::uint64_t number) {
  post([number](Loop& loop) { loop.unfollow(number); });
}

std::function<void()> Link::waker() const {
  return [shared = shared_] { shared->waker.wake(); };
}

std::string Link::epoch() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->welcome.epoch;
}

std::size_t Link::delta_bytes_max() const {
  const std::lock_guard lock(shared_->mutex);
  const std::size_t bytes_max = shared_->welcome.request_bytes_max;
  return bytes_max - std::min(bytes_max, submit_envelope_bytes);
}

std::size_t Link::outbox_size() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->deltas;
}

bool Link::connected() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->connected;
}

bool Link::post(std::function<void(Loop&)> command) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->closing) return false;
    shared_->commands.push_back(std::move(command));
  }
  shared_->waker.wake();
  return true;
}

}  // namespace tafel::sdk
