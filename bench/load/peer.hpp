// What the load is driven against: Tafel itself, or another system that is made to do the same work. One file per
// system implements it. Calls come from two threads, as the headings say; every connection is used by one of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/load/updates.hpp"
#include "common/base/result.hpp"

namespace tafel::bench {

struct Shape {
  std::size_t agents = 1;
  std::size_t depth = 1;  // updates of one agent on their way
  std::size_t subscribers = 1;
  std::size_t boards = 1;  // agent i writes to board i % boards; every subscriber follows all boards
};

// An update became durable, or was refused. Acks of one agent come in the order of its updates.
struct Ack {
  std::size_t agent = 0;
  bool made_version = true;  // false: it changed nothing, so that no change will be delivered
  bool is_error = false;
};

// A change has reached a subscriber.
struct Delivery {
  std::size_t subscriber = 0;
  std::size_t board = 0;
  std::uint64_t version = 0;  // 0: the system does not tell; else one more than the delivery before it on this board
  std::uint64_t number = 0;   // of the update
};

class Peer {
 public:
  virtual ~Peer() = default;

  // --- before the run

  virtual std::string name() const = 0;
  // Empty boards, and the first `elements` names in the set of each.
  virtual Result<void> prepare(const Shape& shape, std::uint64_t elements) = 0;
  virtual Result<void> start_agents(std::size_t count) = 0;
  virtual Result<void> start_subscribers(std::size_t count) = 0;

  // --- on the thread of the agents

  virtual void submit(std::size_t agent, const Update& update) = 0;  // may keep it until `flush`
  virtual Result<void> flush() = 0;                                  // sends what was submitted
  // Waits up to `wait` for the first acks, and appends what has come.
  virtual Result<void> poll_acks(std::chrono::milliseconds wait, std::vector<Ack>& acks) = 0;

  // --- on the thread of the subscribers

  virtual Result<void> poll_deliveries(std::chrono::milliseconds wait, std::vector<Delivery>& deliveries) = 0;

  // --- after the run

  // Versions that the boards got since `prepare`, of all boards together, as the system itself counts them.
  virtual Result<std::uint64_t> versions() = 0;
};

}  // namespace tafel::bench
