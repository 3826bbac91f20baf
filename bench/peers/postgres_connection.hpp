// One connection to PostgreSQL. After `begin_pipeline` it never waits.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>

#include "bench/peers/peers.hpp"
#include "common/base/result.hpp"

namespace tafel::bench {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PgResult = std::unique_ptr<PGresult, ClearResult>;

class PostgresConnection {
 public:
  static Result<std::unique_ptr<PostgresConnection>> connect(const PeerAddress& address);
  ~PostgresConnection() { PQfinish(connection_); }
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  PGconn* get() const { return connection_; }
  int descriptor() const { return PQsocket(connection_); }

  // One or more statements; waits. The first column of the first row of the last one.
  Result<std::string> run(const std::string& statements);
  Result<void> begin_pipeline();
  Failure failure() const;

 private:
  explicit PostgresConnection(PGconn* connection) : connection_(connection) {}
  PGconn* connection_;
};

}  // namespace tafel::bench
