#include "agents_sdk/embedded/embedded.hpp"

#include <string>

#include "broker/server.hpp"
#include "common/net/socket.hpp"

namespace tafel::sdk {
namespace {

// Names of inproc endpoints are private to a context, and each Embedded has one of its own.
const std::string inside = "inproc://tafel";

class OpenedBroker final : public Embedded {
 public:
  OpenedBroker(std::shared_ptr<net::Context> context, std::unique_ptr<broker::Server> server)
      : context_(std::move(context)), server_(std::move(server)) {}

  Result<std::unique_ptr<Agent>> connect(const std::string& actor) override {
    AgentOptions options;
    options.server = inside;
    options.actor = actor;
    options.context = context_;
    return Agent::connect(std::move(options));
  }

  std::vector<std::string> endpoints() const override {
    const std::vector<std::string>& bound = server_->endpoints().request;
    return {bound.begin() + 1, bound.end()};
  }

 private:
  const std::shared_ptr<net::Context> context_;
  const std::unique_ptr<broker::Server> server_;
};

}  // namespace

Result<std::unique_ptr<Embedded>> Embedded::open(const EmbeddedOptions& options) try {
  broker::ServerOptions server;
  server.data = options.data;
  server.listen = {inside};
  server.listen.insert(server.listen.end(), options.listen.begin(), options.listen.end());
  server.quota_bytes = options.quota_bytes;
  server.allow_inproc = true;
  auto context = std::make_shared<net::Context>();
  auto started = broker::Server::start(std::move(server), context);
  if (!started) return tl::unexpected<Failure>(started.error());
  return std::make_unique<OpenedBroker>(std::move(context), std::move(*started));
} catch (const std::exception& error) {
  return fail(Fault::io, std::string("the embedded blackboard could not be opened: ") + error.what());
}

}  // namespace tafel::sdk
