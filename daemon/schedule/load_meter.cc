#include "daemon/schedule/load_meter.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace moil::daemon {
namespace {

constexpr double kTicksASecond = 100;  // USER_HZ, which is what /proc counts in on Linux
constexpr double kSpanSeconds = 60, kLeastSeconds = 3, kApartSeconds = 1;

double seconds_between(const CpuTicks& from, const CpuTicks& to) {
  return static_cast<double>(to.all - from.all) / (kTicksASecond * std::max(1U, to.cpus));
}

// A CPU was taken out, or the device was restored from a snapshot: counts go backwards.
bool goes_back(const CpuTicks& from, const CpuTicks& to) {
  return to.all < from.all || to.busy < from.busy || to.cpus != from.cpus;
}

}  // namespace

std::optional<CpuTicks> parse_cpu_ticks(const std::string& proc_stat) {
  std::istringstream lines(proc_stat);
  std::string name;
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0,
                steal = 0;
  if (!(lines >> name >> user >> nice >> system >> idle) || name != "cpu") return std::nullopt;
  lines >> iowait >> irq >> softirq >> steal;  // old kernels tell fewer
  CpuTicks ticks;
  ticks.busy = user + system + irq + softirq + steal;
  ticks.all = ticks.busy + nice + idle + iowait;
  lines.clear();
  constexpr std::string_view kRunning = "procs_running ";
  for (std::string line; std::getline(lines, line);) {
    ticks.cpus += line.starts_with("cpu") ? 1 : 0;
    if (line.starts_with(kRunning))
      ticks.running = static_cast<unsigned>(std::atoi(line.c_str() + kRunning.size()));
  }
  if (ticks.cpus == 0) return std::nullopt;
  return ticks;
}

double load_at_once(const CpuTicks& now) {
  const unsigned others = now.running - std::min(now.running, 1U);
  return std::min(1.0, static_cast<double>(others) / std::max(1U, now.cpus));
}

std::optional<double> LoadMeter::read(const CpuTicks& now) {
  if (!samples_.empty() && goes_back(samples_.back(), now)) samples_.clear();
  // The oldest that is kept is the youngest that is a whole span old.
  while (samples_.size() > 1 && seconds_between(samples_[1], now) >= kSpanSeconds)
    samples_.pop_front();
  std::optional<double> share;
  if (!samples_.empty() && seconds_between(samples_.front(), now) >= kLeastSeconds) {
    const CpuTicks& then = samples_.front();
    share = static_cast<double>(now.busy - then.busy) / static_cast<double>(now.all - then.all);
  }
  if (samples_.empty() || seconds_between(samples_.back(), now) >= kApartSeconds)
    samples_.push_back(now);
  return share;
}

}  // namespace moil::daemon
