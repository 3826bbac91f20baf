// A server in the process of the load, on a data directory of its own that goes when it goes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "agents_sdk/embedded/embedded.hpp"
#include "common/base/result.hpp"

namespace tafel::bench {

class EmbeddedServer {
 public:
  // `folder`: where the data directory is made. It decides which disk is measured.
  static Result<std::unique_ptr<EmbeddedServer>> start(const std::filesystem::path& folder);
  ~EmbeddedServer();
  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  std::string endpoint() const { return tafel_->endpoints().front(); }

 private:
  EmbeddedServer() = default;

  std::filesystem::path data_;
  std::unique_ptr<sdk::Embedded> tafel_;
};

}  // namespace tafel::bench
