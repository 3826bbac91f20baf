// tafel-bench: committed updates per second, the time to a receipt and to the last subscriber, of a running tafeld or
// of a server in this process. Real sockets, real syncs; checked that nothing was lost.
//
//   tafel-bench --server tcp://127.0.0.1:7117 --agents 8 --depth 32 --subs 8 --secs 5
//   tafel-bench --embedded --data /var/tmp --agents 64 --depth 32 --json
#include "bench/load/command.hpp"
#include "bench/tafel/embedded_server.hpp"
#include "bench/tafel/tafel_peer.hpp"
#include "common/base/clock.hpp"
#include "common/base/random.hpp"

int main(int argc, char** argv) {
  using namespace tafel;
  using namespace tafel::bench;
  namespace po = boost::program_options;

  std::string server;
  std::string data;
  bool is_embedded = false;
  std::unique_ptr<EmbeddedServer> embedded;
  CommandLine command;
  command.program = "tafel-bench";
  command.about = "Updates per second of a tafeld, and how long they take";
  command.own_options.add_options()("server", po::value(&server)->default_value("tcp://127.0.0.1:7117"),
                                    "request endpoint")                                //
      ("embedded", po::bool_switch(&is_embedded), "a server in this process instead")  //
      ("data", po::value(&data)->default_value("."), "where the embedded server makes its directory");
  command.make_peer = [&](Settings& settings) -> Result<std::unique_ptr<Peer>> {
    if (is_embedded) {
      auto started = EmbeddedServer::start(data);
      if (!started) return tl::unexpected(started.error());
      embedded = std::move(*started);
      server = embedded->endpoint();
      settings.is_embedded = true;
    }
    SystemClock clock;
    SystemRandom random;
    return std::make_unique<TafelPeer>(server, new_id(clock.wall_ms(), random));
  };
  return run_command(command, argc, argv);
}
