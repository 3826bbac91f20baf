#include "common/net/socket.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>
#include <zmq.hpp>

#include "common/base/limits.hpp"
#include "common/net/byte_watch.hpp"
#include "common/net/ipc_path.hpp"

namespace tafel::net {
namespace {

constexpr int handshake_ms = 5'000;
constexpr int heartbeat_interval_ms =
    10'000;  // by the bound side only: a connecting side with heartbeats aborts when its queue is full
constexpr int heartbeat_timeout_ms = 60'000;  // long: when the server itself stalls, a short one cuts healthy peers off
constexpr int keepalive_idle_s = 30;
constexpr int keepalive_interval_s = 10;
constexpr int keepalive_count = 3;
constexpr int unacknowledged_max_ms = 30'000;
constexpr int backlog = 1'024;
constexpr int answers_linger_ms = 1'000;  // the last answers of a server that stops
constexpr int client_linger_ms = 200;
constexpr int connect_timeout_ms = 5'000;
constexpr int reconnect_ms = 200;
constexpr int reconnect_max_ms = 2'000;
constexpr int publish_queue = 1'000;
constexpr std::size_t subscription_bytes_max = 512;
constexpr std::size_t drain_messages_max = 10'000;  // per call

using ContextPtr = std::shared_ptr<zmq::context_t>;

void keep_alive(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, keepalive_idle_s);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, keepalive_interval_s);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, keepalive_count);
  socket.set(zmq::sockopt::tcp_maxrt, unacknowledged_max_ms);
  socket.set(zmq::sockopt::handshake_ivl, handshake_ms);
}

void set_server_options(zmq::socket_t& socket, std::size_t message_bytes_max) {
  keep_alive(socket);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(message_bytes_max));
  socket.set(zmq::sockopt::heartbeat_ivl, heartbeat_interval_ms);
  socket.set(zmq::sockopt::heartbeat_timeout, heartbeat_timeout_ms);
  socket.set(zmq::sockopt::backlog, backlog);
}

Failure bind_failure(const std::string& endpoint, const zmq::error_t& error) {
  switch (error.num()) {
    case EADDRINUSE:
      return {Fault::locked, endpoint + " is in use already: choose another port (0 lets the system choose) or path"};
    case EMFILE: return {Fault::io, "no file descriptor is left for " + endpoint};
    default: return {Fault::bad_config, fmt::format("can not bind {}: {}", endpoint, error.what())};
  }
}

// Binds one endpoint and gives it back as it really is: with the port that the system chose.
Result<std::string> bind_one(zmq::socket_t& socket, const std::string& endpoint) {
  try {
    socket.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
    if (!endpoint.starts_with("ipc://")) {
      socket.bind(endpoint);
    } else {
      if (auto prepared = prepare_ipc_path(endpoint.substr(6)); !prepared) return tl::unexpected(prepared.error());
      const PrivateFiles guard;
      socket.bind(endpoint);
    }
    return socket.get(zmq::sockopt::last_endpoint);
  } catch (const zmq::error_t& error) {
    return tl::unexpected(bind_failure(endpoint, error));
  }
}

std::optional<std::uint16_t> tcp_port_of(std::string_view endpoint) {
  if (!endpoint.starts_with("tcp://")) return std::nullopt;
  const std::string_view digits = endpoint.substr(endpoint.rfind(':') + 1);
  std::uint16_t port = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), port).ec != std::errc{}) return std::nullopt;
  return port;
}

// The descriptor of the connection that a message came over, -1 when it has none (inproc).
int descriptor_of(zmq::message_t& message) {
  const char* text = zmq_msg_gets(message.handle(), "__fd");
  return text == nullptr ? -1 : std::atoi(text);
}

bool receive_frame(zmq::socket_t& socket, zmq::message_t& frame) {
  return zmq_msg_recv(frame.handle(), socket.handle(), ZMQ_DONTWAIT) >= 0;
}

// 0, or the error.
int send_frame(zmq::socket_t& socket, std::string_view bytes, int flags) {
  return zmq_send(socket.handle(), bytes.data(), bytes.size(), ZMQ_DONTWAIT | flags) >= 0 ? 0 : zmq_errno();
}

std::string to_string(const zmq::message_t& frame) { return {static_cast<const char*>(frame.data()), frame.size()}; }

template <class T>
Result<T> library_failure(const zmq::error_t& error) {
  return fail(Fault::io, std::string("a socket can not be made: ") + error.what());
}

}  // namespace

struct Context::Impl {
  ContextPtr context;
};

// Sockets hold the context too, so it ends after the last of them, whatever the order of destruction.
Context::Context() : impl_(std::make_unique<Impl>()) {
  try {
    impl_->context = std::make_shared<zmq::context_t>(1);
    impl_->context->set(zmq::ctxopt::blocky, 0);
  } catch (const zmq::error_t&) {
    impl_->context.reset();  // told by the first socket
  }
}

Context::~Context() = default;

namespace {

Result<zmq::socket_t> open_socket(const ContextPtr& context, zmq::socket_type type) {
  if (!context) return fail(Fault::io, "ZeroMQ could not start: out of memory or file descriptors");
  return zmq::socket_t(*context, type);
}

}  // namespace

// --- Router

struct Router::Impl {
  Impl(ContextPtr held, zmq::socket_t made, std::uint64_t waiting_bytes_max)
      : context(std::move(held)), socket(std::move(made)), watch(waiting_bytes_max) {}

  // Reads what is left of a message without keeping it.
  void skip_rest() {
    zmq::message_t frame;
    while (receive_frame(socket, frame) && frame.more()) {
    }
    ++dropped;
  }

  ContextPtr context;
  zmq::socket_t socket;
  std::vector<std::string> endpoints;
  std::uint64_t dropped = 0;
  ByteWatch watch;
};

Router::Router(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Router::~Router() = default;

Result<std::unique_ptr<Router>> Router::bind(Context& context, const std::vector<std::string>& endpoints,
                                             const RouterOptions& options) try {
  auto socket = open_socket(context.impl().context, zmq::socket_type::router);
  if (!socket) return tl::unexpected(socket.error());
  set_server_options(*socket, options.message_bytes_max);
  socket->set(zmq::sockopt::rcvhwm, options.receive_queue);
  socket->set(zmq::sockopt::sndhwm, options.send_queue);
  socket->set(zmq::sockopt::router_mandatory, true);
  socket->set(zmq::sockopt::router_handover, false);
  socket->set(zmq::sockopt::linger, answers_linger_ms);

  // A peer may have a full queue of whole messages waiting; what it sent beyond twice that is one message without an
  // end.
  const std::uint64_t waiting_bytes_max = static_cast<std::uint64_t>(options.receive_queue) * options.message_bytes_max;
  auto impl = std::make_unique<Impl>(context.impl().context, std::move(*socket), 2 * waiting_bytes_max);
  for (const std::string& endpoint : endpoints) {
    auto bound = bind_one(impl->socket, endpoint);
    if (!bound) return tl::unexpected(bound.error());
    if (const auto port = tcp_port_of(*bound)) impl->watch.add_port(*port);
    impl->endpoints.push_back(std::move(*bound));
  }
  return std::make_unique<Router>(std::move(impl));
} catch (const zmq::error_t& error) {
  return library_failure<std::unique_ptr<Router>>(error);
}

std::vector<std::string> Router::endpoints() const { return impl_->endpoints; }
std::uint64_t Router::dropped() const { return impl_->dropped; }

std::optional<Received> Router::receive() {
  // The bound keeps one peer with malformed messages from holding the caller here.
  for (std::size_t tries = 0; tries < drain_messages_max; ++tries) {
    zmq::message_t peer;
    if (!receive_frame(impl_->socket, peer)) {
      impl_->dropped += impl_->watch.check(std::chrono::steady_clock::now());
      return std::nullopt;
    }
    zmq::message_t payload;
    if (!peer.more() || !receive_frame(impl_->socket, payload)) {
      ++impl_->dropped;
      continue;
    }
    impl_->watch.delivered(
        descriptor_of(payload));  // the frame with the peer's id does not tell: its metadata are lost in 4.3.4
    if (!payload.more()) return Received{to_string(peer), to_string(payload)};
    impl_->skip_rest();
  }
  return std::nullopt;
}

Sent Router::send(std::string_view peer, std::string_view bytes) {
  switch (send_frame(impl_->socket, peer, ZMQ_SNDMORE)) {
    case 0: break;
    case EAGAIN:
    case EINTR: return Sent::full;
    default: return Sent::gone;
  }
  // Room was found above; if the peer went away since, the library drops the message and says nothing.
  return send_frame(impl_->socket, bytes, 0) == 0 ? Sent::sent : Sent::gone;
}

// --- Publisher

struct Publisher::Impl {
  ContextPtr context;
  zmq::socket_t socket;
  std::string endpoint;
  std::map<std::uint64_t, std::size_t> subscriptions;  // by the kernel's cookie of the connection
};

Publisher::Publisher(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Publisher::~Publisher() = default;

Result<std::unique_ptr<Publisher>> Publisher::bind(Context& context, const std::string& endpoint) try {
  auto socket = open_socket(context.impl().context, zmq::socket_type::xpub);
  if (!socket) return tl::unexpected(socket.error());
  set_server_options(*socket, subscription_bytes_max);
  socket->set(zmq::sockopt::sndhwm, publish_queue);
  socket->set(zmq::sockopt::xpub_nodrop, false);
  socket->set(zmq::sockopt::xpub_verboser, true);
  socket->set(zmq::sockopt::linger, 0);
  auto bound = bind_one(*socket, endpoint);
  if (!bound) return tl::unexpected(bound.error());
  return std::make_unique<Publisher>(
      std::make_unique<Impl>(Impl{context.impl().context, std::move(*socket), std::move(*bound), {}}));
} catch (const zmq::error_t& error) {
  return library_failure<std::unique_ptr<Publisher>>(error);
}

std::string Publisher::endpoint() const { return impl_->endpoint; }

void Publisher::publish(std::string_view topic, std::string_view bytes) {
  if (send_frame(impl_->socket, topic, ZMQ_SNDMORE) == 0) send_frame(impl_->socket, bytes, 0);
}

void Publisher::drain() {
  zmq::message_t frame;
  for (std::size_t count = 0; count < drain_messages_max && receive_frame(impl_->socket, frame); ++count) {
    const int descriptor = descriptor_of(frame);
    std::uint64_t cookie = 0;
    socklen_t size = sizeof(cookie);
    if (descriptor < 0 || ::getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0) continue;
    const bool subscribes = frame.size() > 0 && *static_cast<const char*>(frame.data()) == 1;
    std::size_t& held = impl_->subscriptions[cookie];
    if (!subscribes) {
      held -= std::min<std::size_t>(held, 1);
    } else if (++held > limits::subscriptions_per_session_max) {
      cut_connection(descriptor);
    }
    if (impl_->subscriptions.size() > limits::sessions_max)
      impl_->subscriptions.clear();  // a fresh count costs nobody anything
  }
}

// --- Dealer

struct Dealer::Impl {
  ContextPtr context;
  zmq::socket_t socket;
};

Dealer::Dealer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Dealer::~Dealer() = default;

Result<std::unique_ptr<Dealer>> Dealer::connect(Context& context, const std::string& endpoint,
                                                std::size_t message_bytes_max, int receive_queue) try {
  auto socket = open_socket(context.impl().context, zmq::socket_type::dealer);
  if (!socket) return tl::unexpected(socket.error());
  keep_alive(*socket);
  socket->set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(message_bytes_max));
  if (receive_queue > 0) socket->set(zmq::sockopt::rcvhwm, receive_queue);
  socket->set(zmq::sockopt::connect_timeout, connect_timeout_ms);
  socket->set(zmq::sockopt::reconnect_ivl, reconnect_ms);
  socket->set(zmq::sockopt::reconnect_ivl_max, reconnect_max_ms);
  socket->set(zmq::sockopt::immediate, true);
  socket->set(zmq::sockopt::linger, client_linger_ms);
  socket->set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
  try {
    socket->connect(endpoint);
  } catch (const zmq::error_t& error) {
    return fail(Fault::bad_config,
                fmt::format("{} is no endpoint to connect to ({}): right are tcp://127.0.0.1:7117 and "
                            "ipc:///path/of/socket",
                            endpoint, error.what()));
  }
  return std::make_unique<Dealer>(std::make_unique<Impl>(Impl{context.impl().context, std::move(*socket)}));
} catch (const zmq::error_t& error) {
  return library_failure<std::unique_ptr<Dealer>>(error);
}

bool Dealer::send(std::string_view bytes) { return send_frame(impl_->socket, bytes, 0) == 0; }

std::optional<std::string> Dealer::receive() {
  for (std::size_t tries = 0; tries < drain_messages_max; ++tries) {
    zmq::message_t frame;
    if (!receive_frame(impl_->socket, frame)) return std::nullopt;
    if (!frame.more()) return to_string(frame);
    while (frame.more() && receive_frame(impl_->socket, frame)) {  // no server of ours sends several frames: not kept
    }
  }
  return std::nullopt;
}

// --- Waker

Waker::Waker() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Waker::~Waker() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Waker::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof(one));  // a full counter wakes as well
}

void Waker::clear() noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(descriptor_, &count, sizeof(count));
}

// --- Poller

Poller& Poller::add(Router* router) {
  if (router != nullptr) sockets_.push_back(router->impl().socket.handle());
  return *this;
}

Poller& Poller::add(Publisher* publisher) {
  if (publisher != nullptr) sockets_.push_back(publisher->impl().socket.handle());
  return *this;
}

Poller& Poller::add(Dealer* dealer) {
  if (dealer != nullptr) sockets_.push_back(dealer->impl().socket.handle());
  return *this;
}

Poller& Poller::add(Waker* waker) {
  if (waker != nullptr && waker->descriptor() >= 0) descriptors_.push_back(waker->descriptor());
  return *this;
}

void Poller::wait(std::chrono::milliseconds timeout) {
  std::vector<zmq_pollitem_t> items;
  items.reserve(sockets_.size() + descriptors_.size());
  for (void* socket : sockets_) items.push_back({socket, 0, ZMQ_POLLIN, 0});
  for (const int descriptor : descriptors_) items.push_back({nullptr, descriptor, ZMQ_POLLIN, 0});
  // A signal ends the wait early, which callers take as "nothing yet".
  zmq_poll(items.data(), static_cast<int>(items.size()), static_cast<long>(timeout.count()));
}

}  // namespace tafel::net
