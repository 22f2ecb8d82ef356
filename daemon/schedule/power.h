// Whether the device is fed from outside, and how full its battery is
// (<root>/sys/class/power_supply; Documentation/ABI/testing/sysfs-class-power of Linux).
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace moil::daemon {

struct PowerReading {
  std::optional<bool> on_mains;   // empty: nothing is listed that feeds or holds
  std::optional<double> battery;  // the fullest, 0 to 1
};

// On mains is a device that a supply feeds (mains, USB, wireless: whatever is no battery; online
// may be 2, "programmable"), one whose battery is charging, one whose battery is full or kept from
// charging if no mains supply is listed that says otherwise, and one that has no battery. The
// batteries of mice and the like, and slots without one, do not count.
PowerReading read_power(const std::filesystem::path& supplies);

// The folders of the device's own batteries, by name.
std::vector<std::filesystem::path> own_batteries(const std::filesystem::path& supplies);

}  // namespace moil::daemon
