#include "bench/peers/postgres_connection.hpp"

#include <fmt/format.h>

namespace tafel::bench {

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::connect(const PeerAddress& address) {
  const std::string words = fmt::format("host={} port={} user=postgres dbname=postgres", address.host, address.port);
  std::unique_ptr<PostgresConnection> made(new PostgresConnection(PQconnectdb(words.c_str())));
  if (PQstatus(made->connection_) != CONNECTION_OK) return tl::unexpected(made->failure());
  return made;
}

Failure PostgresConnection::failure() const {
  return {Fault::unreachable, std::string("PostgreSQL: ") + PQerrorMessage(connection_)};
}

Result<std::string> PostgresConnection::run(const std::string& statements) {
  const PgResult result(PQexec(connection_, statements.c_str()));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK) return std::string();
  if (status != PGRES_TUPLES_OK) return tl::unexpected(failure());
  return PQntuples(result.get()) == 0 ? std::string() : std::string(PQgetvalue(result.get(), 0, 0));
}

Result<void> PostgresConnection::begin_pipeline() {
  if (PQsetnonblocking(connection_, 1) != 0 || PQenterPipelineMode(connection_) != 1) return tl::unexpected(failure());
  return {};
}

}  // namespace tafel::bench
