#include "daemon/process/cpu_limit.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

cpu_set_t usable() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) CPU_SET(0, &set);
  return set;
}

cpu_set_t first_of(const cpu_set_t& all, int count) {
  cpu_set_t some;
  CPU_ZERO(&some);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < count; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &some);
  }
  return some;
}

std::set<pid_t> threads_of(pid_t process) {
  std::set<pid_t> threads;
  std::error_code error;
  fs::directory_iterator entry("/proc/" + std::to_string(process) + "/task", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    threads.insert(std::atoi(entry->path().filename().c_str()));
  return threads;
}

}  // namespace

int usable_cpus() {
  const cpu_set_t all = usable();
  return std::max(1, CPU_COUNT(&all));
}

bool limit_cpus(pid_t process, int count) {
  const cpu_set_t some = first_of(usable(), std::max(1, count));
  std::set<pid_t> done;
  bool any = false;
  // Again, until no thread is found that another started meanwhile.
  for (bool found = true; found;) {
    found = false;
    for (const pid_t thread : threads_of(process)) {
      if (!done.insert(thread).second) continue;
      found = true;
      any |= ::sched_setaffinity(thread, sizeof some, &some) == 0;
    }
  }
  return any;
}

}  // namespace moil::daemon
