#include "daemon/rpc/pace.h"

#include <algorithm>
#include <cmath>

namespace moil::daemon {
namespace {

double at_once(double per_second) { return std::max(1.0, per_second / 5); }

}  // namespace

Pace::Pace(double per_second, Clock::time_point now)
    : per_second_(per_second), room_(at_once(per_second)), since_(now) {}

double Pace::room_at(Clock::time_point now) const {
  const double gone = std::chrono::duration<double>(now - since_).count();
  return std::min(at_once(per_second_), room_ + gone * per_second_);
}

void Pace::take(double requests, Clock::time_point now) {
  room_ = room_at(now) - requests;
  since_ = now;
}

std::chrono::milliseconds Pace::pause(Clock::time_point now) const {
  const double missing = 1 - room_at(now);
  if (missing <= 0) return {};
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(std::ceil(missing / per_second_ * 1000)));
}

}  // namespace moil::daemon
