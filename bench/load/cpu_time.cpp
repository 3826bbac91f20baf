#include "bench/load/cpu_time.hpp"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace tafel::bench {
namespace {

std::int64_t clock_us(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1'000;
}

std::int64_t tick_us() { return 1'000'000 / ::sysconf(_SC_CLK_TCK); }

struct Stat {
  pid_t parent = 0;
  std::int64_t ticks = 0;  // user and system; of children that have ended too
};

// proc(5): pid (name) state ppid … utime stime cutime cstime, the 14th to the 17th field. The name may hold blanks.
std::optional<Stat> read_stat(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  std::string state;
  Stat stat;
  fields >> state >> stat.parent;
  std::string skipped;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  for (int field = 14; field < 18; ++field) {
    std::int64_t ticks = 0;
    fields >> ticks;
    stat.ticks += ticks;
  }
  return stat;
}

std::map<pid_t, Stat> all_processes() {
  std::map<pid_t, Stat> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) return processes;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ptr != name.data() + name.size()) continue;
    if (const auto stat = read_stat(process)) processes[process] = *stat;
  }
  return processes;
}

}  // namespace

std::int64_t own_cpu_us() { return clock_us(CLOCK_PROCESS_CPUTIME_ID); }
std::int64_t thread_cpu_us() { return clock_us(CLOCK_THREAD_CPUTIME_ID); }

std::optional<std::int64_t> process_cpu_us(pid_t process) {
  const std::map<pid_t, Stat> processes = all_processes();
  if (!processes.contains(process)) return std::nullopt;
  std::int64_t ticks = 0;
  for (const auto& [id, stat] : processes) {
    pid_t ancestor = id;
    for (int steps = 0; steps < 64 && ancestor != process; ++steps) {
      const auto found = processes.find(ancestor);
      if (found == processes.end()) break;
      ancestor = found->second.parent;
    }
    if (ancestor == process) ticks += stat.ticks;
  }
  return ticks * tick_us();
}

// proc(5): cpu user nice system idle iowait irq softirq steal …
std::int64_t machine_cpu_us() {
  std::ifstream file("/proc/stat");
  std::string word;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0;
  file >> word >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts;
  return (user + nice + system + interrupts + soft_interrupts) * tick_us();
}

}  // namespace tafel::bench
