// tafel-peer-bench: the load of tafel-bench, driven against another system that is made to do the same work. The server
// is started by others (bench/servers.py, with durable settings).
//
//   tafel-peer-bench --peer redis-lua --port 6400 --agents 64 --depth 32 --json
#include "bench/load/command.hpp"
#include "bench/peers/peers.hpp"

namespace tafel::bench {
namespace {

std::unique_ptr<Peer> make_peer(const std::string& name, const PeerAddress& address) {
#ifdef TAFEL_PEER_REDIS
  if (name == "redis-lua") return make_redis_peer(address, "lua");
  if (name == "redis-multi") return make_redis_peer(address, "multi");
#endif
#ifdef TAFEL_PEER_POSTGRES
  if (name == "postgres") return make_postgres_peer(address);
#endif
#ifdef TAFEL_PEER_ETCD
  if (name == "etcd") return make_etcd_peer(address);
#endif
  if (name == "nats") return make_nats_peer(address);
  return nullptr;
}

}  // namespace
}  // namespace tafel::bench

int main(int argc, char** argv) {
  using namespace tafel;
  using namespace tafel::bench;
  namespace po = boost::program_options;

  std::string name;
  PeerAddress address;
  CommandLine command;
  command.program = "tafel-peer-bench";
  command.about = "The load of tafel-bench against another system";
  command.own_options.add_options()("peer", po::value(&name)->required(),
                                    "redis-lua, redis-multi, postgres, nats or etcd")  //
      ("host", po::value(&address.host)->default_value(address.host), "its address")   //
      ("port", po::value(&address.port)->required(), "port");
  command.make_peer = [&](Settings&) -> Result<std::unique_ptr<Peer>> {
    auto peer = make_peer(name, address);
    if (!peer) return fail(Fault::bad_config, "no peer " + name + ", or its client library was not there at the build");
    return peer;
  };
  return run_command(command, argc, argv);
}
