// Failures of the world (disk, bytes, peers) as values. A verdict about a delta is not a failure: see
// model/receipt.hpp.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tafel {

enum class Fault {
  bad_bytes,    // bytes that do not decode or do not verify
  bad_config,   // options or files given by the operator
  not_found,    // what was asked for does not exist
  io,           // the disk or the network failed; the state on disk is unknown
  full,         // no room: quota, map or disk
  busy,         // try again later
  locked,       // another process holds it
  unreachable,  // no answer from the peer in time
  refused,      // the peer answered no
  closed,       // used after it was closed
  deleted,      // the board was deleted
};

// The name of a fault as it stands in logs: "bad_bytes", "io", …
const char* fault_name(Fault fault) noexcept;

struct Failure {
  Fault fault;
  std::string message;  // a sentence for a person: what, where, what would be right
};

template <class T>
using Result = tl::expected<T, Failure>;

inline tl::unexpected<Failure> fail(Fault fault, std::string message) {
  return tl::unexpected<Failure>(Failure{fault, std::move(message)});
}

}  // namespace tafel
