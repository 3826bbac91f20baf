// A server in this process on a directory of its own, which can be stopped and started again on the same endpoint, and
// what tests of the SDK do with it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agents_sdk/cpp/agent.hpp"
#include "broker/server.hpp"
#include "common/base/text.hpp"
#include "tests/effort.hpp"
#include "tests/temporary_directory.hpp"

namespace tafel::sdk {

inline constexpr milliseconds long_enough{60000};  // for what must happen; a test fails after it

inline bool wait_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + long_enough;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

class TestServer {
 public:
  explicit TestServer(std::string listen = "tcp://127.0.0.1:0", RoleTable roles = {})
      : listen_(std::move(listen)), roles_(std::move(roles)), data_(directory_.path() / "data") {
    if (listen_ == "ipc") listen_ = "ipc://" + (directory_.path() / "socket").string();
    start();
  }

  // On the endpoint of the first start.
  void start() {
    broker::ServerOptions options;
    options.data = data_;
    options.listen = {listen_};
    options.roles = roles_;
    options.heartbeat_ms = 200;
    auto started = broker::Server::start(std::move(options));
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    listen_ = server_->endpoints().request.front();
  }
  void stop() {
    EXPECT_TRUE(server_->stop());
    server_.reset();
    if (!known_.empty()) listen_ = std::exchange(known_, {});
  }
  // The same store on another endpoint, up to the next stop: those who know the first one do not find it.
  void start_elsewhere() {
    known_ = std::exchange(listen_, "tcp://127.0.0.1:0");
    start();
  }
  // Another store is served from the next start on.
  void use_other_store() { data_ = directory_.path() / ("data" + std::to_string(++stores_)); }

  const std::string& endpoint() const { return listen_; }
  std::uint16_t port() const { return static_cast<std::uint16_t>(std::stoi(listen_.substr(listen_.rfind(':') + 1))); }
  const std::string& epoch() const { return server_->epoch(); }

  std::unique_ptr<Agent> connect(const std::string& actor, std::size_t outbox_deltas_max = 10'000) const {
    AgentOptions options;
    options.server = listen_;
    options.actor = actor;
    options.connect_timeout = long_enough;
    options.submit_timeout = long_enough;
    options.outbox_deltas_max = outbox_deltas_max;
    auto agent = Agent::connect(std::move(options));
    EXPECT_TRUE(agent) << agent.error().message;
    return agent ? std::move(*agent) : nullptr;
  }

 private:
  testing::TemporaryDirectory directory_;
  std::string listen_;
  std::string known_;  // the first endpoint, while it is served elsewhere
  RoleTable roles_;
  std::filesystem::path data_;
  int stores_ = 0;
  std::unique_ptr<broker::Server> server_;
};

// What a watcher was told. The watcher may outlive it.
class Recorder {
 public:
  ~Recorder() { block(false); }

  Watcher watcher() {
    return [state = state_](const BoardEvent& event) {
      std::unique_lock lock(state->mutex);
      state->events.push_back(event);
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return !state->blocked; });
    };
  }
  // While blocked, a call does not return.
  void block(bool blocked) {
    const std::lock_guard lock(state_->mutex);
    state_->blocked = blocked;
    state_->changed.notify_all();
  }
  bool wait_for_version(Version version) {
    return wait([&](const BoardEvent& event) { return event.version >= version; });
  }
  bool wait_for_type(BoardEvent::Type type) {
    return wait([&](const BoardEvent& event) { return event.type == type; });
  }
  std::vector<Version> versions() const {
    std::vector<Version> versions;
    for (const BoardEvent& event : events()) {
      if (event.type == BoardEvent::Type::change) versions.push_back(event.version);
    }
    return versions;
  }
  std::size_t count(BoardEvent::Type type) const {
    const auto all = events();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [type](const BoardEvent& event) { return event.type == type; }));
  }
  std::vector<BoardEvent> events() const {
    const std::lock_guard lock(state_->mutex);
    return state_->events;
  }

 private:
  struct State {
    std::mutex mutex;  // guards all below: the watcher's thread writes, the test reads
    std::condition_variable changed;
    std::vector<BoardEvent> events;
    bool blocked = false;
  };

  bool wait(const std::function<bool(const BoardEvent&)>& wanted) {
    std::unique_lock lock(state_->mutex);
    // The newest one first: waking for each of thousands must not cost thousands.
    const auto found = [&] { return std::any_of(state_->events.rbegin(), state_->events.rend(), wanted); };
    return state_->changed.wait_for(lock, long_enough, found);
  }

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

inline std::vector<Version> up_to(Version last, Version first = 1) {
  std::vector<Version> versions;
  for (Version version = first; version <= last; ++version) versions.push_back(version);
  return versions;
}

inline std::string server_digest(Agent& agent, const std::string& board) {
  const auto answer = agent.query(Map{{"what", "full"}, {"board", board}}, long_enough);
  EXPECT_TRUE(answer) << answer.error().message;
  const Value* digest = answer ? answer->find("digest") : nullptr;
  const auto* text = digest == nullptr ? nullptr : digest->get_if<std::string>();
  return text == nullptr ? "none" : *text;
}

inline std::string digest_of(const BoardHandle& board) { return to_hex(to_bytes(board.digest())); }

inline std::shared_ptr<BoardHandle> join(Agent& agent, const std::string& board) {
  auto joined = agent.join(board);
  EXPECT_TRUE(joined) << joined.error().message;
  return joined ? *joined : nullptr;
}

}  // namespace tafel::sdk
