// What the device takes, if it shows it: by the kernel's counters of energy
// (<root>/sys/class/powercap; Documentation/power/powercap of Linux), else by a battery that feeds
// it (<root>/sys/class/power_supply). If neither can be believed, it is not known.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace moil::daemon {

struct Energy {
  double joules = 0;
  std::string source;  // of what: "whole machine", "processor package", "battery"; empty: nothing
};

// Counters: the zone "psys" is the whole machine and counts alone, unless it says less than the
// processors do; else the packages of all processors together, without the zones inside them. Since
// Linux 5.10 root alone may read them: what cannot be read is not there. They wrap, so they are to
// be sampled every minute at least. Battery: its power between samples, while nothing else feeds
// the device.
//
// Nothing is known any more once a counter vanishes, stands still or tells more than a machine can
// take, the battery ceases to feed, or a minute goes by without a sample (the device slept).
// One thread at a time.
class EnergyMeter {
 public:
  explicit EnergyMeter(std::filesystem::path root = "/");

  void sample(double seconds);  // by a clock that is never set and goes on while the device sleeps
  std::optional<Energy> energy() const;  // from the first sample to the last; empty: not known

 private:
  struct Counter {
    std::filesystem::path zone;
    std::string name;    // "psys", "package-0"
    double before = 0;   // microjoules
    double counted = 0;  // likewise
  };
  void begin();
  void follow(double seconds);
  void follow_battery(double seconds);
  std::vector<Counter> readable_counters() const;
  double counted(bool machine) const;

  std::filesystem::path zones_, supplies_;
  std::vector<Counter> counters_;  // none: the battery is read
  std::optional<double> watts_;    // of the battery, at the last sample
  double from_battery_ = 0;        // joules
  std::optional<double> first_, last_;
  bool is_known_ = true;
};

}  // namespace moil::daemon
