// How tafeld is told what to do: the command line over the environment (TAFEL_DATA, TAFEL_LISTEN, …) over a file
// (--config) of lines like `listen = tcp://127.0.0.1:7117`. An option that is set in one place hides the same option in
// the places below it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "broker/log.hpp"
#include "broker/server.hpp"

namespace tafel::broker {

struct Config {
  ServerOptions server;
  LogOptions log;
  std::optional<std::string> text;  // --help, --version: to be printed instead of running
};

// The value of an environment variable; nullopt when it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

// `arguments` without the name of the program. Fault::bad_config: the message says what would be right.
Result<Config> read_config(const std::vector<std::string>& arguments, const Environment& environment);

}  // namespace tafel::broker
