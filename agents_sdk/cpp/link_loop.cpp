#include "agents_sdk/cpp/link_loop.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::sdk {
namespace {

constexpr std::size_t messages_per_turn = 64;  // of one connection, so that none starves the others
constexpr std::string_view client_name = "tafel-cpp 0.1.0";

Result<std::vector<Receipt>> receipts_from(const Value& body) {
  const auto* list = body.get_if<List>();
  if (list == nullptr) return fail(Fault::bad_bytes, "receipts come as a list");
  std::vector<Receipt> receipts;
  for (const Value& item : *list) {
    auto receipt = codec::receipt_from_value(item);
    if (!receipt) return tl::unexpected<Failure>(receipt.error());
    receipts.push_back(std::move(*receipt));
  }
  return receipts;
}

ErrorInfo not_understood(const Failure& failure) {
  ErrorInfo error;
  error.message = "the server's answer is not understood: " + failure.message;
  return error;
}

}  // namespace

Link::Loop::Loop(std::shared_ptr<Shared> shared, LinkOptions options)
    : shared_(std::move(shared)),
      options_(std::move(options)),
      request_(new_channel()),
      query_(new_channel()),
      feed_(new_channel()),
      boards_(*feed_, *query_, queries_) {
  request_->aim(options_.server);
}

// Whatever happens here (memory runs out, …) ends the agent, never the process.
void Link::Loop::run() {
  try {
    while (take_inbox()) {
      turn();
      wait();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tafel: the link to %s has ended: %s\n", options_.server.c_str(), error.what());
  } catch (...) {
    std::fprintf(stderr, "tafel: the link to %s has ended\n", options_.server.c_str());
  }
  end();
}

void Link::Loop::ask(Value body, milliseconds timeout, Queries::Done done) {
  queries_.ask(*query_, std::move(body), now_ + bounded(timeout).count(), std::move(done));
}

void Link::Loop::follow(StreamOptions options) {
  streams_.push_back(std::make_unique<Stream>(new_channel(limits::stream_receive_queue), std::move(options)));
}

void Link::Loop::unfollow(std::uint64_t number) {
  std::erase_if(streams_, [number](const auto& stream) { return stream->number() == number; });
}

// False: the link was closed.
bool Link::Loop::take_inbox() {
  std::vector<Outbox::Entry> submitted;
  std::vector<std::function<void(Loop&)>> commands;
  shared_->waker.clear();
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->closing) return false;
    submitted.swap(shared_->submitted);
    commands.swap(shared_->commands);
  }
  now_ = clock_.steady_ms();
  for (Outbox::Entry& entry : submitted) outbox_.add(std::move(entry));
  for (const auto& command : commands) command(*this);
  return true;
}

void Link::Loop::turn() {
  serve_requests();
  serve_boards();
  serve_streams();
  expect_answers();
  tell_status();
}

void Link::Loop::serve_requests() {
  Channel& channel = *request_;
  channel.tick(now_);
  for (std::size_t i = 0; i < messages_per_turn; ++i) {
    const auto received = channel.receive(now_);
    if (!received) break;
    const codec::Message& message = received->message;
    if (message.type == codec::message::receipts) {
      auto receipts = receipts_from(message.body);
      complete(receipts ? outbox_.receipts(message.id, std::move(*receipts), now_)
                        : outbox_.refused(message.id, not_understood(receipts.error()), now_));
    } else if (message.type == codec::message::error) {
      auto error = codec::error_from_value(message.body);
      complete(outbox_.refused(message.id, error ? *error : not_understood(error.error()), now_));
    }
  }
  if (std::exchange(generation_, channel.generation()) != channel.generation()) greeted();
  send_deltas();
}

void Link::Loop::serve_boards() {
  feed_->tick(now_);
  for (std::size_t i = 0; i < messages_per_turn; ++i) {
    const auto received = feed_->receive(now_);
    if (!received) break;
    boards_.handle(*received, now_);
  }
  query_->tick(now_);
  for (std::size_t i = 0; i < messages_per_turn; ++i) {
    const auto received = query_->receive(now_);
    if (!received) break;
    queries_.handle(received->message, now_);
  }
  boards_.tick(now_);            // may ask questions …
  queries_.tick(*query_, now_);  // … which are sent here
  // The server may have come back with other endpoints: the request connection will tell.
  const auto in_doubt = [](Channel& channel) { return channel.liveness().doubtful() || !channel.open(); };
  const bool doubt = in_doubt(*query_) || in_doubt(*feed_);
  if (!std::exchange(was_in_doubt_, doubt) && doubt) request_->probe(now_);
}

void Link::Loop::serve_streams() {
  for (Boards::Straggler& straggler : boards_.stragglers()) {
    const std::uint64_t number = straggler.behind.number;
    const auto is_its = [number](const auto& stream) { return stream->number() == number; };
    if (std::any_of(streams_.begin(), streams_.end(), is_its)) continue;
    if (!straggler.board->still_behind(number, straggler.behind.from)) continue;
    StreamOptions options;
    options.number = number;
    options.board = straggler.board->id();
    options.from = straggler.behind.from;
    options.epoch = std::move(straggler.behind.epoch);
    options.queue = std::move(straggler.behind.queue);
    options.home = std::move(straggler.board);
    follow(std::move(options));
  }
  for (const auto& stream : streams_) stream->tick(request_->welcome().feed_endpoint, now_);
  std::erase_if(streams_, [](const auto& stream) { return stream->finished(); });
}

void Link::Loop::send_deltas() {
  if (!request_->open()) return;
  std::vector<Outbox::Done> done;
  const auto message = outbox_.next(request_->new_id(), request_->welcome().request_bytes_max, now_, done);
  if (message && !request_->send(message->bytes, now_)) outbox_.reconnected();
  complete(std::move(done));
}

// The request connection was welcomed, for the first time or anew: what was on its way may be lost, and the server may
// be another one.
void Link::Loop::greeted() {
  const codec::Welcome& welcome = request_->welcome();
  outbox_.reconnected();
  complete(outbox_.epoch_is(welcome.epoch));
  query_->aim(welcome.query_endpoint);
  feed_->aim(welcome.feed_endpoint);
  query_->probe(now_);
  feed_->probe(now_);
}

// Silence means something only where somebody should speak.
void Link::Loop::expect_answers() {
  request_->liveness().await_answer(outbox_.awaits_answer());
  query_->liveness().await_answer(queries_.awaits_answer());
  feed_->liveness().await_answer(boards_.awaits_answer());
  feed_->liveness().expect_heartbeat(boards_.awaits_heartbeat() ? feed_->welcome().heartbeat_ms : 0);
}

void Link::Loop::tell_status() {
  const bool is_refused = generation_ == 0 && request_->refused_for_good();
  if (told_open_ == request_->open() && told_generation_ == generation_ && !is_refused) return;
  told_open_ = request_->open();
  told_generation_ = generation_;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->connected = request_->open();
    shared_->welcomed = generation_ > 0;
    shared_->welcome = request_->welcome();
    if (is_refused) shared_->refusal = request_->refusal();
  }
  shared_->changed.notify_all();
}

void Link::Loop::complete(std::vector<Outbox::Done> done) {
  if (done.empty()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    for (const Outbox::Done& one : done) {
      --shared_->deltas;
      shared_->delta_bytes -= one.entry.bytes.size();
    }
  }
  for (Outbox::Done& one : done) one.entry.ticket->complete(std::move(one.receipt));
}

void Link::Loop::wait() {
  now_ = clock_.steady_ms();
  std::int64_t at =
      std::min({request_->next(now_), query_->next(now_), feed_->next(now_), queries_.next(now_), boards_.next(now_)});
  if (const auto retry = outbox_.retry_at(); retry && *retry > now_) at = std::min(at, *retry);
  for (const auto& stream : streams_) at = std::min(at, stream->next(now_));
  net::Poller poller;
  poller.add(&shared_->waker).add(request_->dealer()).add(query_->dealer()).add(feed_->dealer());
  for (const auto& stream : streams_) poller.add(stream->dealer());
  poller.wait(milliseconds(std::max<std::int64_t>(at - now_, 0)));
}

void Link::Loop::end() {
  try {
    give_up();
  } catch (...) {
    std::fprintf(stderr, "tafel: some who wait for answers of %s were not told that the link has ended\n",
                 options_.server.c_str());
  }
}

void Link::Loop::give_up() {
  const Failure closed{Fault::closed, "the agent was closed before the answer came; the outcome is not known"};
  std::vector<Outbox::Entry> entries = outbox_.give_up();
  std::vector<std::function<void(Loop&)>> commands;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->closing = true;
    shared_->connected = false;
    commands.swap(shared_->commands);
    std::move(shared_->submitted.begin(), shared_->submitted.end(), std::back_inserter(entries));
    shared_->submitted.clear();
    shared_->deltas = 0;
    shared_->delta_bytes = 0;
  }
  shared_->changed.notify_all();
  for (const Outbox::Entry& entry : entries) entry.ticket->complete(tl::unexpected<Failure>(closed));
  for (const auto& command : commands) command(*this);  // so that what they began can be ended
  queries_.close(closed);
  for (const auto& stream : streams_) stream->close(closed);
}

std::unique_ptr<Channel> Link::Loop::new_channel(int receive_queue) const {
  codec::Hello hello;
  hello.actor = options_.actor;
  hello.client = client_name;
  return std::make_unique<Channel>(options_.context, std::move(hello), receive_queue);
}

}  // namespace tafel::sdk
