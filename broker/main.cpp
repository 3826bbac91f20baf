// tafeld: reads its configuration, runs the server, says when it is ready, stops on a signal.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "broker/config.hpp"
#include "broker/server.hpp"
#include "common/base/descriptors.hpp"

namespace {

using namespace tafel;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr rlim_t descriptors_max = 65'536;

// Each client takes up to three descriptors, and a server without any burns a core, so we take what we are allowed.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, descriptors_max));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

// Waits for signals on a thread of its own: the first one stops the server cleanly, the second one ends the process at
// once (what was acknowledged is on disk).
class SignalWatch {
 public:
  explicit SignalWatch(broker::Server& server) : server_(server), thread_([this] { run(); }) {}

  ~SignalWatch() {
    done_ = true;
    thread_.join();
    if (stopper_.joinable()) stopper_.join();
  }

 private:
  void run() {
    const sigset_t signals = stop_signals();
    const timespec patience{0, 100'000'000};
    while (!done_) {
      const int signal = ::sigtimedwait(&signals, nullptr, &patience);
      if (signal < 0) continue;
      if (stopper_.joinable()) ::_exit(128 + signal);
      broker::log(broker::LogLevel::info, "stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
      stopper_ = std::thread([this] { static_cast<void>(server_.stop()); });
    }
  }

  broker::Server& server_;
  std::atomic<bool> done_{false};
  std::thread stopper_;
  std::thread thread_;
};

std::string ready_line(const broker::Server& server) {
  std::string line = "ready";
  const broker::Endpoints& endpoints = server.endpoints();
  for (const std::string& endpoint : endpoints.request) line += " " + endpoint;
  line += " query=" + endpoints.query + " feed=" + endpoints.feed;
  if (!endpoints.open_feed.empty()) line += " open=" + endpoints.open_feed;
  return line + " epoch=" + server.epoch() + "\n";
}

int complain(int code, const std::string& message) {
  std::fprintf(stderr, "tafeld: %s\n", message.c_str());
  return code;
}

int run(broker::Config config) {
  if (auto configured = broker::configure_log(config.log); !configured)
    return complain(exit_usage, configured.error().message);
  auto server = broker::Server::start(std::move(config.server));
  if (!server)
    return complain(server.error().fault == Fault::bad_config ? exit_usage : exit_failed, server.error().message);
  std::fputs(ready_line(**server).c_str(), stdout);
  std::fflush(stdout);
  const SignalWatch watch(**server);
  const auto outcome = (*server)->wait();
  static_cast<void>((*server)->stop());
  return outcome ? 0 : complain(exit_failed, "stopped by a failure of the store: " + outcome.error().message);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  // Blocked before any thread exists, so that only the watch takes them. A closed stdout must not end the server.
  const sigset_t signals = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();

  auto config = broker::read_config({argv + 1, argv + argc}, broker::process_environment());
  if (!config) return complain(exit_usage, config.error().message);
  if (!config->text) return run(std::move(*config));
  std::fputs(config->text->c_str(), stdout);
  return 0;
}
