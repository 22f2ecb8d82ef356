#include "engine/elastic/backward_time.h"

#include <algorithm>

namespace moil {

BackwardTime::BackwardTime(const TimingProfile& profile) : points_{{}} {
  const double whole = backward_parts(profile);
  for (const TailTiming& tail : profile.tails) {
    const Point point{tail.share * whole, tail.share * whole * tail.factor};
    // A shorter tail that was measured to take longer is a disturbance.
    if (point.parts > points_.back().parts && point.seconds > points_.back().seconds)
      points_.push_back(point);
  }
  if (points_.size() == 1) points_.push_back({1, 1});
}

double BackwardTime::seconds(double parts) const {
  if (parts <= 0) return parts;
  std::size_t i = 1;
  while (i + 1 < points_.size() && points_[i].parts < parts) ++i;
  // What is beyond the longest tail takes as much as it does.
  if (points_[i].parts < parts) return parts * (points_[i].seconds / points_[i].parts);
  return between(parts, points_[i - 1].parts, points_[i].parts, points_[i - 1].seconds,
                 points_[i].seconds);
}

double BackwardTime::parts(double seconds) const {
  if (seconds <= 0) return seconds;
  std::size_t i = 1;
  while (i + 1 < points_.size() && points_[i].seconds < seconds) ++i;
  if (points_[i].seconds < seconds) return seconds * (points_[i].parts / points_[i].seconds);
  return between(seconds, points_[i - 1].seconds, points_[i].seconds, points_[i - 1].parts,
                 points_[i].parts);
}

double BackwardTime::between(double x, double x0, double x1, double y0, double y1) {
  return y0 + (x - x0) * ((y1 - y0) / (x1 - x0));
}

}  // namespace moil
