#include "daemon/schedule/power.h"

#include <algorithm>

#include "daemon/schedule/sysfs.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

// All batteries together, and all supplies.
struct Supplies {
  bool battery = false, discharging = false, charging = false, at_rest = false;
  bool supply = false, mains = false, online = false;
  std::optional<double> fullest;
};

std::optional<double> fraction(const fs::path& battery, const char* now, const char* full) {
  const auto part = sysfs_number(battery / now), whole = sysfs_number(battery / full);
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return *part / *whole;
}

// Not every driver tells the percentage.
std::optional<double> fullness(const fs::path& battery) {
  if (const auto percent = sysfs_number(battery / "capacity")) return *percent / 100;
  if (const auto energy = fraction(battery, "energy_now", "energy_full")) return energy;
  return fraction(battery, "charge_now", "charge_full");
}

bool is_of_another(const fs::path& supply) { return sysfs_word(supply / "scope") == "Device"; }
bool is_empty_slot(const fs::path& battery) { return sysfs_word(battery / "present") == "0"; }

void add_battery(Supplies& seen, const fs::path& battery) {
  if (is_empty_slot(battery)) return;
  seen.battery = true;
  const std::string status = sysfs_line(battery / "status");
  seen.charging |= status == "Charging";
  seen.discharging |= status == "Discharging";
  seen.at_rest |= status == "Full" || status == "Not charging";
  if (const auto full = fullness(battery))
    seen.fullest = std::max(seen.fullest.value_or(0), std::clamp(*full, 0.0, 1.0));
}

void add_supply(Supplies& seen, const fs::path& supply, const std::string& type) {
  const auto online = sysfs_number(supply / "online");
  if (!online) return;
  seen.supply = true;
  seen.mains |= type == "Mains";
  seen.online |= *online >= 1;
}

std::optional<bool> on_mains(const Supplies& seen) {
  if (seen.online) return true;
  if (!seen.battery) return seen.supply ? std::optional(true) : std::nullopt;
  if (seen.discharging) return false;
  return seen.charging || (seen.at_rest && !seen.mains);
}

}  // namespace

PowerReading read_power(const fs::path& supplies) {
  Supplies seen;
  for (const fs::path& entry : sysfs_entries(supplies)) {
    if (is_of_another(entry)) continue;
    const std::string type = sysfs_word(entry / "type");
    if (type == "Battery" || type == "UPS") {
      add_battery(seen, entry);
    } else {
      add_supply(seen, entry, type);
    }
  }
  return {on_mains(seen), seen.fullest};
}

std::vector<fs::path> own_batteries(const fs::path& supplies) {
  std::vector<fs::path> found = sysfs_entries(supplies);
  std::erase_if(found, [](const fs::path& entry) {
    return sysfs_word(entry / "type") != "Battery" || is_of_another(entry) || is_empty_slot(entry);
  });
  return found;
}

}  // namespace moil::daemon
