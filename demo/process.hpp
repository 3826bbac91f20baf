// A child process with its standard output read by us. It leads a group of its own, so that Ctrl-C reaches only us, and
// it is ended when we end, however that happens. Start all of them before any thread or ZeroMQ context exists in this
// process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace tafel::demo {

class Process {
 public:
  struct Command {
    std::string name;                    // for messages
    std::vector<std::string> arguments;  // the first is the program's file
    std::filesystem::path error_file;    // where its standard error goes
  };
  static Result<Process> start(const Command& command);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();  // kills it if it still runs

  const std::string& name() const { return name_; }
  int output() const { return output_; }  // to poll; -1 when it is at its end
  // Whole lines that it wrote since; reads without waiting.
  std::vector<std::string> take_lines();
  // True when it has ended. Then `exit_code` is its code, or 128 + the signal that ended it.
  bool has_ended();
  int exit_code() const { return exit_code_.value_or(0); }

  void signal(int number);
  // Waits until it has ended; false when it has not in time.
  bool wait(int timeout_ms);

 private:
  Process() = default;
  void close_output();

  std::string name_;
  pid_t id_ = -1;
  int output_ = -1;
  std::string partial_;  // of a line whose end has not come yet
  std::optional<int> exit_code_;
};

// Asks all of them to stop, waits, and kills those that did not.
void stop(std::vector<Process>& processes, int timeout_ms);

// The file of the program that runs.
std::filesystem::path own_program();

}  // namespace tafel::demo
