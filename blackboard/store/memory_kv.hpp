// The store in memory, for tests and simulation: what was committed survives `crash`, nothing else does, and commits
// can be made to fail.
#pragma once

#include <memory>

#include "blackboard/store/kv.hpp"

namespace tafel::store {

class MemoryKv;  // the shared "disk"

// Several handles on one disk are one store opened again. Set a fault with `fail_commit`: the n-th commit from now
// fails with it (1 = the next), leaving the disk as before.
std::shared_ptr<MemoryKv> make_memory_disk();
std::unique_ptr<Kv> open_memory(std::shared_ptr<MemoryKv> disk);
void fail_commit(MemoryKv& disk, std::uint64_t nth, Fault fault);

}  // namespace tafel::store
