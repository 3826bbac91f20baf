#include "bench/tafel/embedded_server.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tafel::bench {

Result<std::unique_ptr<EmbeddedServer>> EmbeddedServer::start(const std::filesystem::path& folder) {
  std::string made = (folder / "tafel-bench-XXXXXX").string();
  if (mkdtemp(made.data()) == nullptr) {
    return fail(Fault::bad_config, "no directory can be made in " + folder.string() + ": " + std::strerror(errno));
  }
  std::unique_ptr<EmbeddedServer> embedded(new EmbeddedServer);
  embedded->data_ = made;
  broker::ServerOptions options;
  options.data = embedded->data_;
  options.listen = {"tcp://127.0.0.1:0"};
  auto server = broker::Server::start(std::move(options));
  if (!server) return tl::unexpected(server.error());
  embedded->server_ = std::move(*server);
  return embedded;
}

EmbeddedServer::~EmbeddedServer() {
  server_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(data_, ignored);
}

}  // namespace tafel::bench
