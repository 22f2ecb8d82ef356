#include "daemon/doctor/system_checks.h"

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "base/durations.h"
#include "base/gpu_nodes.h"
#include "daemon/schedule/sysfs.h"
#include "daemon/state/job.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

constexpr std::int64_t kEarliest = 1'704'067'200'000;  // 2024-01-01
constexpr std::int64_t kLatest = 4'102'444'800'000;    // 2100-01-01

Finding check_landlock() {
  constexpr const char* kWhat = "landlock";
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi > 0) return ok(kWhat, "the kernel has it, version " + std::to_string(abi));
  if (errno == EPERM) return ok(kWhat, "this service may not ask for it");
  return ok(kWhat, "the kernel has none");  // whether that matters the worker tells
}

Finding check_pressure(const fs::path& root) {
  constexpr const char* kWhat = "pressure";
  std::ifstream in(root / "proc/pressure/memory");
  std::string line;
  if (std::getline(in, line)) return ok(kWhat, "the kernel tells how long work waits (PSI)");
  return warning(kWhat,
                 "the kernel does not tell how long work waits for memory and disks (PSI), so a "
                 "job cannot make way for that",
                 "boot with psi=1, where the kernel is built with CONFIG_PSI");
}

// The service's own group, of the unified hierarchy.
std::string own_group(const fs::path& root) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("0::/")) return line.substr(4);
  }
  return "";
}

// The least of the group and those above it; empty if none counts memory.
std::string memory_limit(const fs::path& hierarchy, const fs::path& own) {
  std::string least;
  for (fs::path group = own; !group.empty(); group = group.parent_path()) {
    const std::string most = sysfs_word(hierarchy / group / "memory.max");
    const bool is_less = least.empty() || least == "max" ||
                         (most != "max" && std::atof(most.c_str()) < std::atof(least.c_str()));
    if (!most.empty() && is_less) least = most;
  }
  return least;
}

Finding check_memory_group(const fs::path& root) {
  constexpr const char* kWhat = "memory-limit";
  constexpr double kUnlimited = 1e18;
  const std::string most = memory_limit(root / "sys/fs/cgroup", own_group(root));
  if (most.empty())
    return warning(kWhat, "the memory of this service is not limited by a control group",
                   "run moild by its unit; on a Raspberry Pi boot with cgroup_enable=memory");
  const double bytes = most == "max" ? kUnlimited : std::atof(most.c_str());
  if (bytes >= kUnlimited) return ok(kWhat, "a control group counts its memory, without a limit");
  return ok(kWhat, "a control group limits its memory to " + size_text(bytes));
}

std::string span_text(std::int64_t milliseconds) {
  const std::int64_t minutes = std::abs(milliseconds) / kMinute;
  if (minutes < 120) return std::to_string(minutes) + " min";
  return minutes < 48 * 60 ? std::to_string(minutes / 60) + " h"
                           : std::to_string(minutes / 60 / 24) + " days";
}

Finding judge_power(const DeviceReading& device, const Conditions& conditions) {
  constexpr const char* kWhat = "power";
  if (!device.on_mains) return ok(kWhat, "the device lists no supply; it is taken as on mains");
  const std::string battery =
      device.battery ? ", battery at " + figure(*device.battery * 100) + " %" : "";
  if (!*device.on_mains && conditions.need_mains)
    return warning(kWhat, "on battery power" + battery + "; no night runs so",
                   "plug it in at night, or set conditions.need_mains to false");
  if (device.battery && *device.battery < conditions.min_battery)
    return warning(kWhat,
                   "the battery is at " + figure(*device.battery * 100) + " %; " +
                       figure(conditions.min_battery * 100) + " % are asked for",
                   "charge it, or lower conditions.min_battery");
  return ok(kWhat,
            (*device.on_mains ? "on mains" : "on battery power, which is allowed") + battery);
}

Finding judge_heat(const DeviceReading& device, const Conditions& conditions) {
  constexpr const char* kWhat = "temperature";
  if (!device.temperature_c) return ok(kWhat, "the device lists no thermal zone");
  const std::string found = (device.hottest.empty() ? "" : device.hottest + " is at ") +
                            figure(*device.temperature_c) + " C";
  const std::string most = figure(conditions.max_temperature_c) + " C are allowed";
  if (*device.temperature_c > conditions.max_temperature_c)
    return warning(kWhat, found + "; " + most,
                   "let it cool, see to its fan, or raise conditions.max_temperature_c");
  return ok(kWhat, found + "; " + most);
}

}  // namespace

Findings check_kernel(const fs::path& root) {
  return {check_landlock(), check_pressure(root), check_memory_group(root)};
}

Finding check_gpu(const fs::path& root) {
  constexpr const char* kWhat = "gpu";
  const std::vector<fs::path> nodes = gpu_nodes(root / "dev");
  if (nodes.empty()) return ok(kWhat, "this service sees none; the CPU computes all");
  for (const fs::path& node : nodes) {
    if (::access(node.c_str(), R_OK | W_OK) == 0)
      return ok(kWhat, node.string() + " may be used, where its OpenCL driver is installed");
  }
  return warning(kWhat, "this service may not open " + nodes.front().string(),
                 "add moild's user to the group that owns it (usermod -aG GROUP moild) and restart "
                 "moild");
}

std::optional<bool> clock_is_synchronised() {
  timex clock{};
  const int state = ::adjtimex(&clock);
  if (state >= 0 && state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0) return true;
  std::error_code error;  // timesyncd's word counts if the kernel has none
  if (fs::exists("/run/systemd/timesync/synchronized", error)) return true;
  return state >= 0 ? std::optional(false) : std::nullopt;
}

Finding judge_clock(const ClockReading& clock) {
  constexpr const char* kWhat = "clock";
  constexpr const char* kSynchronise = "timedatectl set-ntp true; or set the time by hand";
  const std::string now = utc_text(clock.now);
  if (clock.now < kEarliest || clock.now > kLatest)
    return problem(kWhat, "it says " + now + ", which cannot be", kSynchronise);
  if (clock.newest_record > clock.now + kDay)
    return warning(kWhat,
                   "it says " + now + ", but moild noted something at " +
                       utc_text(clock.newest_record) + "; one of them is wrong",
                   kSynchronise);
  if (std::abs(clock.moved) >= kMinute)
    return warning(kWhat,
                   std::string("it was set ") + (clock.moved > 0 ? "forward" : "back") + " by " +
                       span_text(clock.moved) + " since moild was started",
                   "nothing, if that was meant: schedules go by the new time");
  if (clock.is_synchronised == false)
    return warning(kWhat, "it says " + now + " and is not synchronised", kSynchronise);
  return ok(kWhat, "it says " + now +
                       (clock.is_synchronised ? " and is synchronised"
                                              : "; whether it is synchronised is not told"));
}

Findings judge_device(const DeviceReading& device, const Conditions& conditions) {
  Findings findings = {judge_power(device, conditions), judge_heat(device, conditions)};
  if (device.load_per_cpu) {
    const std::string says = "others take " + figure(*device.load_per_cpu) +
                             " of the CPUs' time; " + figure(conditions.max_load_per_cpu) +
                             " is allowed";
    findings.push_back(*device.load_per_cpu <= conditions.max_load_per_cpu
                           ? ok("load", says)
                           : warning("load", says,
                                     "see what runs (top); or raise "
                                     "conditions.max_load_per_cpu"));
  }
  for (const std::string& reading : device.ignored)
    findings.push_back(warning("sensor", reading + ", which cannot be; it is not heeded",
                               "nothing, where another sensor tells the heat"));
  return findings;
}

}  // namespace moil::daemon
