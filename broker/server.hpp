// The broker as one object: opens the store, binds the endpoints, runs the threads, stops cleanly. Used by tafeld and
// by the embedded SDK.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/retention.hpp"
#include "common/model/rights.hpp"

namespace tafel::net {
class Context;
}

namespace tafel::broker {

struct ServerOptions {
  std::filesystem::path data;  // data directory
  std::vector<std::string> listen{
      "tcp://127.0.0.1:7117"};  // request endpoints: loopback tcp or ipc (inproc when embedded)
  std::string query_listen;     // empty: beside the first request endpoint, port chosen by the system
  std::string feed_listen;
  std::string open_feed_listen;  // XPUB; empty: off
  RoleTable roles;
  std::int64_t heartbeat_ms = 1000;
  std::size_t quota_bytes = 0;     // 0: the default of limits.hpp
  Retention retention;             // of boards that have none of their own
  bool renews_epoch = false;       // the data is a copy that was put back
  bool compacts = false;           // the data is written anew first
  std::filesystem::path erasures;  // a ledger to be carried out before anything is served; empty: none
  bool allow_inproc = false;       // embedded
};

struct Endpoints {
  std::vector<std::string> request;  // as really bound
  std::string query;
  std::string feed;
  std::string open_feed;
};

class Server {
 public:
  // Everything is bound and recovered when it returns. `context` is shared when embedded (null: its own).
  static Result<std::unique_ptr<Server>> start(ServerOptions options, std::shared_ptr<net::Context> context = nullptr);
  virtual ~Server() = default;  // stops

  virtual const Endpoints& endpoints() const = 0;
  virtual const std::string& epoch() const = 0;
  // Commits what is waiting, answers it, closes. Returns the failure that stopped the server before, if one did.
  virtual Result<void> stop() = 0;
  // Blocks until `stop` was asked for on another thread or a fatal failure stopped the server.
  virtual Result<void> wait() = 0;
};

// nullopt when the endpoint may be bound without identities: ipc, tcp on a loopback address, inproc when allowed.
std::optional<std::string> endpoint_defect(const std::string& endpoint, bool allow_inproc);

}  // namespace tafel::broker
