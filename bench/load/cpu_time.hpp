// Processor time that this process, another one or the whole machine has used so far, in µs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace tafel::bench {

std::int64_t own_cpu_us();     // of all threads of this process
std::int64_t thread_cpu_us();  // of the calling thread

// Of a process and all that descend from it, from /proc, in steps of 10 ms. nullopt when it is not there.
std::optional<std::int64_t> process_cpu_us(pid_t process);

// Of everything on the machine but idling, and what the hypervisor took away.
std::int64_t machine_cpu_us();

}  // namespace tafel::bench
