// Under heat, a night goes on with fewer CPUs before it pauses. How many threads compute does not
// change, only on how many CPUs they take turns; so the weights come out the same.
//
// Within kWarmBelow degrees of the limit the CPUs are halved, at most once in kPaceSeconds, for the
// device needs that long to cool; if it is kCoolBelow degrees below the limit, they double
// again. A plain value type.
#pragma once

#include <cstdint>
#include <optional>

namespace moil::daemon {

class Heat {
 public:
  static constexpr double kWarmBelow = 8, kCoolBelow = 13;
  static constexpr std::int64_t kPaceSeconds = 60;

  // How many of `all` CPUs a job may use now. A device that does not tell its temperature is cool.
  int cpus(std::optional<double> temperature_c, double limit_c, int all,
           std::int64_t steady_milliseconds);

 private:
  int halvings_ = 0;
  std::optional<std::int64_t> changed_;
};

}  // namespace moil::daemon
