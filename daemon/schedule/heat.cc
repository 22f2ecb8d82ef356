#include "daemon/schedule/heat.h"

#include <algorithm>

namespace moil::daemon {

int Heat::cpus(std::optional<double> temperature_c, double limit_c, int all,
               std::int64_t steady_milliseconds) {
  const auto left = [&](int halvings) { return std::max(1, all >> halvings); };
  const bool may_change = !changed_ || steady_milliseconds - *changed_ >= kPaceSeconds * 1000;
  const bool warm = temperature_c && *temperature_c > limit_c - kWarmBelow;
  const bool cool = !temperature_c || *temperature_c < limit_c - kCoolBelow;
  const bool fewer = warm && left(halvings_) > 1, more = cool && halvings_ > 0;
  if (may_change && (fewer || more)) {
    halvings_ += fewer ? 1 : -1;
    changed_ = steady_milliseconds;
  }
  return left(halvings_);
}

}  // namespace moil::daemon
