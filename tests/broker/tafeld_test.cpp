// The program itself: its ready line, its exit codes, its signals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/broker/rig.hpp"
#include "tests/broker/wire_client.hpp"

namespace tafel {
namespace {

using testing::TemporaryDirectory;

// tafeld as a child process, its stdout in a pipe and its stderr in a file.
class Tafeld {
 public:
  Tafeld(const TemporaryDirectory& folder, std::vector<std::string> arguments) : log_(folder.path() / "stderr") {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    stdout_ = ends[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    arguments.insert(arguments.begin(), TAFELD_PROGRAM);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    EXPECT_EQ(::posix_spawn(&process_, TAFELD_PROGRAM, &actions, nullptr, pointers.data(), environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
  }

  ~Tafeld() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      wait();
    }
    ::close(stdout_);
  }

  // The next line of stdout; what there is of it when the process ends first.
  std::string line() {
    std::string text;
    char c = 0;
    pollfd item{stdout_, POLLIN, 0};
    while (::poll(&item, 1, 60'000) > 0 && ::read(stdout_, &c, 1) == 1 && c != '\n') text.push_back(c);
    return text;
  }
  // All that is left of stdout.
  std::string rest() {
    std::string text;
    char bytes[4096];
    ssize_t count = 0;
    while ((count = ::read(stdout_, bytes, sizeof(bytes))) > 0) text.append(bytes, static_cast<std::size_t>(count));
    return text;
  }
  void signal(int number) { ::kill(process_, number); }
  // The exit code, or 1000 + the signal that ended it.
  int wait() {
    int status = 0;
    EXPECT_EQ(::waitpid(process_, &status, 0), process_);
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  std::string errors() const {
    std::ostringstream text;
    text << std::ifstream(log_).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path log_;
  pid_t process_ = 0;
  int stdout_ = -1;
};

std::vector<std::string> usual(const TemporaryDirectory& folder) {
  return {"--data", (folder.path() / "data").string(), "--listen", "tcp://127.0.0.1:0"};
}

TEST(Tafeld, SaysOnceWhenItIsReadyAndStopsOnSignals) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const TemporaryDirectory folder;
    Tafeld tafeld(folder, usual(folder));
    const std::string ready = tafeld.line();
    std::istringstream words(ready);
    std::string word;
    std::string request;
    words >> word >> request;
    EXPECT_EQ(word, "ready");
    EXPECT_TRUE(request.starts_with("tcp://127.0.0.1:")) << ready;
    EXPECT_EQ(ready.find(":0 "), std::string::npos) << ready;
    for (const char* part : {" query=tcp://127.0.0.1:", " feed=tcp://127.0.0.1:", " epoch="}) {
      EXPECT_NE(ready.find(part), std::string::npos) << ready;
    }
    net::Context context;
    testing::WireClient client(context, request);
    client.greet("analyst");
    ASSERT_TRUE(client.submit(Map{{"board", testing::board}, {"incr", Map{{"n", 1}}}}).has_value());
    tafeld.signal(signal);
    EXPECT_EQ(tafeld.wait(), 0) << tafeld.errors();
    EXPECT_EQ(tafeld.rest(), "");
    EXPECT_NE(tafeld.errors().find("event=stopping"), std::string::npos) << tafeld.errors();
  }
}

TEST(Tafeld, WritesItsLogAsJsonWhenAsked) {
  const TemporaryDirectory folder;
  auto arguments = usual(folder);
  arguments.emplace_back("--log-json");
  Tafeld tafeld(folder, arguments);
  ASSERT_TRUE(tafeld.line().starts_with("ready "));
  tafeld.signal(SIGTERM);
  EXPECT_EQ(tafeld.wait(), 0);
  std::istringstream lines(tafeld.errors());
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_NE(testing::json(line).find("event"), nullptr) << line;
  }
  EXPECT_GE(count, 3U);
}

TEST(Tafeld, KeepsWhatItAcknowledgedWhenItIsKilled) {
  const TemporaryDirectory folder;
  for (int life = 0; life < 5; ++life) {
    Tafeld tafeld(folder, usual(folder));
    std::istringstream words(tafeld.line());
    std::string request;
    words >> request >> request;
    net::Context context;
    testing::WireClient client(context, request);
    client.greet("analyst");
    for (int i = 0; i < 20; ++i) {
      const std::string id = std::to_string(life * 10 + i);  // ten of them again after the kill
      const auto receipt = client.submit(Map{{"id", id}, {"board", testing::board}, {"incr", Map{{"n", 1}}}});
      ASSERT_TRUE(receipt && !receipt->error);
      EXPECT_EQ(receipt->duplicate, life > 0 && i < 10);
      EXPECT_EQ(receipt->version, static_cast<Version>(life * 10 + i + 1));
    }
    tafeld.signal(SIGKILL);
    EXPECT_EQ(tafeld.wait(), 1000 + SIGKILL);
  }
}

TEST(Tafeld, ACopyThatWasPutBackHasAnotherEpochAndItsBoards) {
  const TemporaryDirectory folder;
  std::vector<std::string> epochs;
  for (const bool restored : {true, false, true}) {  // the first time there is nothing yet
    auto arguments = usual(folder);
    if (restored) arguments.emplace_back("--restored");
    Tafeld tafeld(folder, arguments);
    std::istringstream words(tafeld.line());
    std::string request;
    words >> request >> request;
    net::Context context;
    testing::WireClient client(context, request);
    epochs.push_back(client.greet("analyst").epoch);
    const auto receipt = client.submit(Map{{"id", "1"}, {"board", testing::board}, {"incr", Map{{"n", 1}}}});
    ASSERT_TRUE(receipt && !receipt->error);
    EXPECT_EQ(receipt->version, 1U);
    EXPECT_EQ(receipt->epoch, epochs.back());
    tafeld.signal(SIGTERM);
    EXPECT_EQ(tafeld.wait(), 0);
  }
  EXPECT_EQ(epochs[1], epochs[0]);
  EXPECT_NE(epochs[2], epochs[0]);
}

TEST(Tafeld, RefusesWithAReasonAndACode) {
  const TemporaryDirectory folder;
  const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& reason) {
    Tafeld tafeld(folder, std::move(arguments));
    EXPECT_EQ(tafeld.rest(), "");
    EXPECT_EQ(tafeld.wait(), code);
    EXPECT_NE(tafeld.errors().find(reason), std::string::npos) << tafeld.errors();
  };
  const std::string data = (folder.path() / "data").string();
  refused({}, 2, "--data DIR is required");
  refused({"--data", data, "--lisen", "x"}, 2, "did you mean --listen?");
  refused({"--data", data, "--listen", "tcp://0.0.0.0:7117"}, 2, "binds only loopback");
  refused({"--data", data, "--log-level", "loud"}, 2, "log level");
  Tafeld first(folder, usual(folder));
  ASSERT_TRUE(first.line().starts_with("ready "));
  refused(usual(folder), 1, data);
}

TEST(Tafeld, HelpIsNoFailure) {
  const TemporaryDirectory folder;
  Tafeld tafeld(folder, {"--help"});
  EXPECT_NE(tafeld.rest().find("--open-feed"), std::string::npos);
  EXPECT_EQ(tafeld.wait(), 0);
}

}  // namespace
}  // namespace tafel
