#include "demo/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace tafel::demo {
namespace {

constexpr int exec_failed = 127;
constexpr int wait_step_ms = 10;

Failure system_failure(const std::string& what) {
  return {Fault::io, fmt::format("{}: {}", what, std::strerror(errno))};
}

// Runs in the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* arguments, int output, int error, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(exec_failed);  // it ended before we asked to be told
  ::setpgid(0, 0);
  const int input = ::open("/dev/null", O_RDONLY);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(arguments[0], arguments);
  constexpr char message[] = "cannot be executed\n";
  if (::write(STDERR_FILENO, message, sizeof message - 1) < 0) ::_exit(exec_failed + 1);
  ::_exit(exec_failed);
}

}  // namespace

Result<Process> Process::start(const Command& command) {
  std::vector<std::string> texts = command.arguments;
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);

  std::array<int, 2> pipe{-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return tl::unexpected(system_failure("no pipe"));
  const int error = ::open(command.error_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (error < 0) {
    const Failure failure = system_failure(command.error_file.string());
    ::close(pipe[0]);
    ::close(pipe[1]);
    return tl::unexpected(failure);
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(arguments.data(), pipe[1], error, parent);
  const int fork_error = errno;
  ::close(pipe[1]);
  ::close(error);
  Process process;
  process.name_ = command.name;
  process.output_ = pipe[0];
  errno = fork_error;
  if (child < 0) return tl::unexpected(system_failure("no process for " + command.name));
  process.id_ = child;
  ::setpgid(child, child);  // here too, so that it is done whoever comes first
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  return process;
}

Process::Process(Process&& other) noexcept
    : name_(std::move(other.name_)),
      id_(std::exchange(other.id_, -1)),
      output_(std::exchange(other.output_, -1)),
      partial_(std::move(other.partial_)),
      exit_code_(other.exit_code_) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(id_, other.id_);
  std::swap(output_, other.output_);
  std::swap(partial_, other.partial_);
  std::swap(exit_code_, other.exit_code_);
  return *this;
}

Process::~Process() {
  close_output();
  if (id_ < 0 || has_ended()) return;
  signal(SIGKILL);
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
}

void Process::close_output() {
  if (output_ >= 0) ::close(std::exchange(output_, -1));
}

std::vector<std::string> Process::take_lines() {
  std::array<char, 64 * 1024> buffer;
  while (output_ >= 0) {
    const ssize_t count = ::read(output_, buffer.data(), buffer.size());
    if (count > 0) {
      partial_.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      close_output();
    } else if (errno != EINTR) {
      break;
    }
  }
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(partial_.substr(begin, end - begin));
  }
  partial_.erase(0, begin);
  return lines;
}

bool Process::has_ended() {
  if (exit_code_ || id_ < 0) return true;
  int status = 0;
  const pid_t ended = ::waitpid(id_, &status, WNOHANG);
  if (ended != id_) return false;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

void Process::signal(int number) {
  if (id_ > 0 && !exit_code_) ::kill(id_, number);
}

bool Process::wait(int timeout_ms) {
  for (int waited = 0; !has_ended(); waited += wait_step_ms) {
    if (waited >= timeout_ms) return false;
    ::poll(nullptr, 0, wait_step_ms);
  }
  return true;
}

void stop(std::vector<Process>& processes, int timeout_ms) {
  for (Process& process : processes) process.signal(SIGTERM);
  for (Process& process : processes) {
    if (!process.wait(timeout_ms)) process.signal(SIGKILL);
  }
  processes.clear();  // waits for the killed ones
}

std::filesystem::path own_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace tafel::demo
