// How busy others keep the CPUs: the share of their time, over about the last minute, that
// processes took which were not niced. Niced work gives way by itself, and the worker's own is
// niced; so neither keeps a job from starting, which both do in the kernel's load average.
//
// Time is counted in the kernel's ticks, so there is no clock here. A plain value type.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace moil::daemon {

// Since the device was started, of all CPUs together, in hundredths of a second.
struct CpuTicks {
  std::uint64_t busy = 0;  // neither idle, waiting for a disk, nor niced
  std::uint64_t all = 0;
  unsigned cpus = 0;
  unsigned running = 0;  // tasks that run or could, at this moment
};

// From the text of /proc/stat; empty if it is not understood.
std::optional<CpuTicks> parse_cpu_ticks(const std::string& proc_stat);

// A stand-in for the share until there is one: the tasks that run at this moment beside the one
// that looks, over the CPUs. Unlike the kernel's load average it counts none that waits for a disk
// or a mount that is gone.
double load_at_once(const CpuTicks& now);

class LoadMeter {
 public:
  // Takes the present count along and says the share, 0 to 1; empty in the first seconds.
  std::optional<double> read(const CpuTicks& now);

 private:
  std::deque<CpuTicks> samples_;  // oldest first
};

}  // namespace moil::daemon
