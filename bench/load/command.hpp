// The command line of the load programs: options that all of them have, one run, one line of what it found.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <memory>
#include <string>

#include "bench/load/run.hpp"

namespace tafel::bench {

struct CommandLine {
  std::string program;
  std::string about;
  boost::program_options::options_description own_options;  // of this program; the common ones come after them
  // Called when the options are read; may change the settings.
  std::function<Result<std::unique_ptr<Peer>>(Settings& settings)> make_peer;
};

// The exit code: 0 when the run was done and all its checks hold, 1 when not, 2 for a wrong command line.
int run_command(CommandLine& command, int argc, char** argv);

}  // namespace tafel::bench
