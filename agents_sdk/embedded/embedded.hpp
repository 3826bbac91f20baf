// The whole blackboard inside one process: broker, store and SDK on a data directory, with the same API as over a
// network.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agents_sdk/cpp/agent.hpp"

namespace tafel::sdk {

struct EmbeddedOptions {
  std::filesystem::path data;
  std::vector<std::string> listen;  // further endpoints for other processes (loopback tcp, ipc); empty: none
  std::size_t quota_bytes = 0;
};

class Embedded {
 public:
  static Result<std::unique_ptr<Embedded>> open(const EmbeddedOptions& options);
  virtual ~Embedded() = default;  // stops the broker; agents must be gone by then

  virtual Result<std::unique_ptr<Agent>> connect(const std::string& actor) = 0;
  virtual std::vector<std::string> endpoints() const = 0;  // of `listen`, as really bound
};

}  // namespace tafel::sdk
