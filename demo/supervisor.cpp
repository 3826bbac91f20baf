#include "demo/supervisor.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>

#include "common/base/clock.hpp"
#include "demo/dialogues.hpp"
#include "demo/evaluation.hpp"
#include "demo/process.hpp"
#include "demo/show.hpp"
#include "demo/turn_facts.hpp"
#include "demo/workspace.hpp"

namespace tafel::demo {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_interrupted = 130;
constexpr int poll_ms = 100;
constexpr int ready_patience_ms = 30'000;
constexpr int agent_stop_ms = 2'000;
constexpr int server_stop_ms = 20'000;
constexpr std::int64_t silence_ms_max = 60'000;  // no report from anybody: something hangs

volatile std::sig_atomic_t interrupted = 0;  // set by the signal handler

void remember_interrupt(int) { interrupted = 1; }

// While this lives, SIGINT, SIGTERM and SIGHUP only raise the flag.
void take_signals() {
  struct sigaction action {};
  action.sa_handler = remember_interrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

// Threads that start while this lives leave those signals to the main thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

tl::unexpected<Failure> interruption() { return fail(Fault::closed, "interrupted"); }

// The last lines that the processes wrote to their standard error.
std::string tail_of(const std::filesystem::path& file) {
  constexpr std::size_t lines_max = 10;
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::string text;
  for (std::size_t i = lines.size() - std::min(lines.size(), lines_max); i < lines.size(); ++i)
    text += "\n  " + lines[i];
  return text;
}

class Supervisor {
 public:
  Supervisor(const Options& options, std::filesystem::path dialogue_file, std::vector<Dialogue> dialogues,
             Workspace workspace)
      : options_(options),
        dialogue_file_(std::move(dialogue_file)),
        dialogues_(std::move(dialogues)),
        team_(make_team(options.agents, domains_of(dialogues_))),
        workspace_(std::move(workspace)),
        show_(show_settings()) {}

  ~Supervisor() {
    stop(agents_, agent_stop_ms);
    stop(server_, server_stop_ms);
  }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // True when all checks passed.
  Result<bool> run() {
    if (auto done = start_server(); !done) return tl::unexpected(done.error());
    if (auto done = start_agents(); !done) return tl::unexpected(done.error());
    if (auto done = watch_agents(); !done) return tl::unexpected(done.error());
    show_.end();
    auto summary = sum_up();
    if (!summary) return tl::unexpected(summary.error());
    std::fputs(summary_text(*summary).c_str(), stdout);
    if (auto done = write_json(*summary); !done) return tl::unexpected(done.error());
    if (options_.keep) {
      if (auto done = stay(); !done) return tl::unexpected(done.error());
    }
    return summary->passed();
  }

  std::string errors() const { return tail_of(workspace_.errors()); }

 private:
  ShowSettings show_settings() const {
    ShowSettings settings{options_.quiet, ::isatty(STDOUT_FILENO) == 1, dialogues_.size(), 0};
    for (const Dialogue& dialogue : dialogues_) settings.turns += dialogue.turns.size();
    return settings;
  }

  Result<void> start_server() {
    const std::filesystem::path program = own_program().parent_path() / "tafeld";
    if (!std::filesystem::exists(program)) {
      return fail(Fault::not_found, fmt::format("{} is not there: build the target tafeld too", program.string()));
    }
    auto server = Process::start({"tafeld",
                                  {program.string(), "--data", workspace_.server().string(), "--listen",
                                   "tcp://127.0.0.1:0", "--log-level", "warn"},
                                  workspace_.errors()});
    if (!server) return tl::unexpected(server.error());
    server_.push_back(std::move(*server));
    return wait_ready();
  }

  // The line "ready tcp://127.0.0.1:… …".
  Result<void> wait_ready() {
    for (int waited = 0; waited < ready_patience_ms; waited += poll_ms) {
      if (interrupted != 0) return interruption();
      pollfd output{server_.front().output(), POLLIN, 0};
      ::poll(&output, 1, poll_ms);
      for (const std::string& line : server_.front().take_lines()) {
        std::istringstream words(line);
        std::string word;
        if (words >> word && word == "ready" && words >> endpoint_) return {};
      }
      if (server_.front().has_ended()) return fail(Fault::io, "tafeld ended before it was ready");
    }
    return fail(Fault::unreachable, "tafeld did not get ready");
  }

  Result<void> start_agents() {
    show_.line(fmt::format("{} agents and one server, {} dialogues, a board each. Server: {}", team_.size(),
                           dialogues_.size(), endpoint_));
    for (std::size_t i = 0; i < team_.size(); ++i) {
      auto agent = Process::start({team_[i].name, agent_arguments(i), workspace_.errors()});
      if (!agent) return tl::unexpected(agent.error());
      agents_.push_back(std::move(*agent));
    }
    return {};
  }

  std::vector<std::string> agent_arguments(std::size_t member) const {
    const bool is_own_set = options_.dialogues.empty();
    const std::size_t boards = options_.boards_at_once > 0 ? options_.boards_at_once : is_own_set ? 2 : 8;
    const std::int64_t pace = options_.pace_ms >= 0 ? options_.pace_ms : is_own_set ? 250 : 10;
    return {own_program().string(),
            "agent",
            "--server",
            endpoint_,
            "--member",
            std::to_string(member),
            "--agents",
            std::to_string(options_.agents),
            "--dialogues",
            dialogue_file_.string(),
            "--limit",
            std::to_string(options_.limit),
            "--boards-at-once",
            std::to_string(boards),
            "--pace",
            std::to_string(pace),
            "--journal",
            journal_file(workspace_.journals(), team_[member]).string()};
  }

  Result<void> watch_agents() {
    last_report_ms_ = clock_.steady_ms();
    std::vector<bool> is_done(agents_.size());
    while (std::count(is_done.begin(), is_done.end(), false) > 0) {
      if (interrupted != 0) return interruption();
      wait_for_output();
      for (std::size_t i = 0; i < agents_.size(); ++i) {
        if (auto read = read_reports(i); !read) return read;
        if (is_done[i] || !agents_[i].has_ended()) continue;
        if (auto read = read_reports(i); !read) return read;  // what it wrote last
        if (agents_[i].exit_code() != 0) {
          return fail(Fault::io,
                      fmt::format("the agent {} ended with code {}", agents_[i].name(), agents_[i].exit_code()));
        }
        is_done[i] = true;
      }
      if (server_.front().has_ended()) return fail(Fault::io, "tafeld ended");
      const std::int64_t now = clock_.steady_ms();
      if (now - last_report_ms_ > silence_ms_max)
        return fail(Fault::unreachable, "no agent has reported anything for a minute");
      show_.tick(now);
    }
    return {};
  }

  void wait_for_output() {
    std::vector<pollfd> outputs;
    for (const Process& agent : agents_) {
      if (agent.output() >= 0) outputs.push_back({agent.output(), POLLIN, 0});
    }
    ::poll(outputs.data(), outputs.size(), poll_ms);
  }

  Result<void> read_reports(std::size_t i) {
    for (const std::string& line : agents_[i].take_lines()) {
      const auto report = report_from_line(line);
      if (!report)
        return fail(Fault::bad_bytes, fmt::format("{} reported what is no report: {}", agents_[i].name(), line));
      if (report->kind == Report::Kind::failed) {
        return fail(Fault::refused, fmt::format("the agent {} gave up: {}", agents_[i].name(), report->lines.front()));
      }
      last_report_ms_ = clock_.steady_ms();
      show_.take(*report, agents_[i].name(), last_report_ms_);
    }
    return {};
  }

  // All processes are started and the agents are gone: only now this process makes a ZeroMQ context.
  Result<Summary> sum_up() {
    auto agent = connect();
    if (!agent) return tl::unexpected(agent.error());
    show_.line("Checking each board: the log against what the agents were told, every mirror, and the naive ways …");
    const Played played{dialogues_, team_, workspace_.journals(), show_.seconds()};
    return evaluate(**agent, played, [](std::size_t) { return interrupted == 0; });
  }

  Result<std::unique_ptr<sdk::Agent>> connect() const {
    const SignalsBlocked blocked;
    sdk::AgentOptions options;
    options.server = endpoint_;
    options.actor = "supervisor";
    return sdk::Agent::connect(std::move(options));
  }

  Result<void> write_json(const Summary& summary) const {
    if (options_.json.empty()) return {};
    std::ofstream out(options_.json, std::ios::trunc);
    out << summary_json(summary);
    out.close();
    if (!out) return fail(Fault::io, fmt::format("{} cannot be written", options_.json.string()));
    return {};
  }

  // Leaves the server up until Ctrl-C.
  Result<void> stay() {
    workspace_.keep();
    const std::string tool = (own_program().parent_path() / "tafel").string();
    const std::string board = dialogues_.front().board();
    std::fputs(fmt::format("\nThe server stays up at {0}. Try, in another terminal:\n"
                           "  {1} --server {0} boards\n"
                           "  {1} --server {0} get {2}\n"
                           "  {1} --server {0} get {2} trip --at 9\n"
                           "  {1} --server {0} get {2} --suggestions\n"
                           "  {1} --server {0} log {2} --from 1 --to 3\n"
                           "  {1} --server {0} verify {2}\n"
                           "  {1} --server {0} watch {2}\n"
                           "and, while that watches:\n"
                           "  echo '{{\"set\": {{\"budget.max\": 15000}}}}' | {1} --server {0} --as me apply {2}\n"
                           "Ctrl-C stops the server; the data and the journals stay in {3}\n",
                           endpoint_, tool, board, workspace_.root().string())
                   .c_str(),
               stdout);
    std::fflush(stdout);
    while (interrupted == 0) {
      if (server_.front().has_ended()) return fail(Fault::io, "tafeld ended");
      ::poll(nullptr, 0, poll_ms);
    }
    return {};
  }

  const Options& options_;
  std::filesystem::path dialogue_file_;
  std::vector<Dialogue> dialogues_;
  std::vector<Member> team_;
  Workspace workspace_;
  Show show_;
  SystemClock clock_;
  std::string endpoint_;
  std::int64_t last_report_ms_ = 0;
  std::vector<Process> server_;  // one
  std::vector<Process> agents_;
};

// The small set lies beside the program.
std::filesystem::path file_of(const Options& options) {
  if (!options.dialogues.empty()) return std::filesystem::absolute(options.dialogues);
  return own_program().parent_path() / "tafel_demo_dialogues.jsonl";
}

int complain(int code, const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "tafel_demo: %s\n", message.c_str());
  return code;
}

}  // namespace

int run_demo(const Options& options) {
  take_signals();
  auto dialogues = read_dialogues(file_of(options), options.limit);
  if (!dialogues) return complain(exit_usage, dialogues.error().message);
  auto workspace = Workspace::open(options.data);
  if (!workspace)
    return complain(workspace.error().fault == Fault::bad_config ? exit_usage : exit_failed, workspace.error().message);
  Supervisor supervisor(options, file_of(options), std::move(*dialogues), std::move(*workspace));
  const auto passed = supervisor.run();
  if (passed) return *passed ? 0 : exit_failed;
  if (passed.error().fault == Fault::closed)
    return complain(exit_interrupted, "interrupted; all processes are being stopped");
  return complain(exit_failed, passed.error().message + supervisor.errors());
}

}  // namespace tafel::demo
