// The broker without sockets and threads: a memory store that can be opened again, a clock that stands where a test
// puts it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "blackboard/store/memory_kv.hpp"
#include "broker/peer.hpp"
#include "broker/pipeline.hpp"
#include "common/base/random.hpp"
#include "common/codec/protocol.hpp"
#include "tests/temporary_directory.hpp"

namespace tafel::testing {

inline constexpr const char* board = "acme/trips/1";

// A delta from JSON; the board is added. Fails the test when it does not read.
Delta delta(std::string_view json, const std::string& on_board = board);

// The value of a register or counter at `path` as the store has it, nil when absent.
Value value_in(store::Store& store, std::string_view path, const std::string& on_board = board);

class Rig {
 public:
  Rig();

  void open();  // again: what was committed is there
  void reopen();
  void put_under(std::unique_ptr<store::Kv> kv);  // opens the store on another kv

  Receipt commit(std::string_view json, const std::string& actor = "analyst");
  Result<broker::Committed> commit_all(const std::vector<broker::Submission>& batch);

  store::Store& store() { return *store_; }
  broker::Pipeline& pipeline() { return *pipeline_; }

  std::shared_ptr<store::MemoryKv> disk = store::make_memory_disk();
  RoleTable roles;
  TimeMs now = 1'700'000'000'000;

 private:
  SeededRandom random_{7};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<broker::Pipeline> pipeline_;
};

// Messages as they stand on the wire.
broker::Inbound inbound(const std::string& peer, std::string_view type, std::uint64_t id, Value body);
broker::Inbound hello(const std::string& peer, const std::string& actor, std::uint64_t id = 1);
Value json(std::string_view text);
std::vector<Receipt> receipts_in(const codec::Message& message);
std::string error_code_in(const codec::Message& message);  // empty when it is no error

}  // namespace tafel::testing
