// The kernel, the clock, a GPU, power and heat. Functions that look read /proc, /sys, /dev and the
// clock and are quick; those that judge are pure. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "daemon/doctor/finding.h"
#include "daemon/schedule/conditions.h"
#include "daemon/schedule/world.h"

namespace moil::daemon {

// Landlock, pressure stall information, the memory controller of control groups. root:
// where proc and sys are.
Findings check_kernel(const std::filesystem::path& root = "/");

// Whether a GPU is there and may be used; root: where dev is.
Finding check_gpu(const std::filesystem::path& root = "/");

struct ClockReading {
  std::int64_t now = 0;    // milliseconds since 1970
  std::int64_t moved = 0;  // by which the clock was changed since moild was started
  std::optional<bool> is_synchronised = {};  // empty: the system does not tell
  std::int64_t newest_record = 0;  // the latest time that moild noted, milliseconds since 1970
};
// As the kernel or systemd-timesyncd say; empty if neither says anything.
std::optional<bool> clock_is_synchronised();
Finding judge_clock(const ClockReading& clock);

// Power, heat and load against what is asked for.
Findings judge_device(const DeviceReading& device, const Conditions& conditions);

}  // namespace moil::daemon
