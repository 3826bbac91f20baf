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
  auto tafel = sdk::Embedded::open({.data = embedded->data_, .listen = {"tcp://127.0.0.1:0"}, .quota_bytes = 0});
  if (!tafel) return tl::unexpected(tafel.error());
  embedded->tafel_ = std::move(*tafel);
  return embedded;
}

EmbeddedServer::~EmbeddedServer() {
  tafel_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(data_, ignored);
}

}  // namespace tafel::bench
