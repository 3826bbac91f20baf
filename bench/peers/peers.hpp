// The peers. Each function is defined in a file of its own, which is built where its client library is installed.
#pragma once

#include <memory>
#include <string>

#include "bench/load/peer.hpp"

namespace tafel::bench {

// Where the server listens.
struct PeerAddress {
  std::string host = "127.0.0.1";
  int port = 0;
};

// `variant`: "lua", one EVALSHA an update; "multi", the same commands in MULTI and EXEC.
std::unique_ptr<Peer> make_redis_peer(const PeerAddress& address, const std::string& variant);
// A function on normalised rows; writers queue on an advisory lock.
std::unique_ptr<Peer> make_postgres_peer(const PeerAddress& address);
// One Txn an update; elements and fields are keys.
std::unique_ptr<Peer> make_etcd_peer(const PeerAddress& address);
// A log: an update is one message; no set and no field is kept.
std::unique_ptr<Peer> make_nats_peer(const PeerAddress& address);

}  // namespace tafel::bench
