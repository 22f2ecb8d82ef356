#include "engine/elastic/backward_time.h"

#include <algorithm>

namespace moil {
namespace {

double between(double x, double x0, double x1, double y0, double y1) {
  return y0 + (x - x0) * ((y1 - y0) / (x1 - x0));
}

}  // namespace

BackwardTime::BackwardTime(const TimingProfile& profile) {
  const double whole = backward_parts(profile);
  const auto point = [&](const BackwardTiming& b) {
    return Point{b.share * whole, b.share * whole * b.factor};
  };
  Curve with, without;
  for (const BackwardTiming& b : profile.backward) with.push_back(point(b));
  for (const BackwardTiming& b : profile.kernelless_backward) without.push_back(point(b));
  // Among much else the kernel takes what it takes among everything.
  const WeightTiming* last = last_kernel(profile);
  const double kernel = last ? last->gradient + last->apply : 0;
  constexpr double kRounding = 1e-6;
  const double known = without.empty() ? 0 : without.back().parts * (1 + kRounding);
  for (const Point& p : with) {
    if (p.parts - kernel > known) without.push_back({p.parts - kernel, p.seconds - kernel});
  }
  with_ = rising(with);
  without_ = rising(without);
}

// From nothing on. A shorter pass that was measured to take longer was disturbed: of training
// everything, the longest, there are most measurements.
BackwardTime::Curve BackwardTime::rising(const Curve& measured) {
  Curve curve;
  for (auto p = measured.rbegin(); p != measured.rend(); ++p) {
    if (p->parts <= 0 || p->seconds <= 0) continue;
    if (curve.empty() || (p->parts < curve.back().parts && p->seconds < curve.back().seconds))
      curve.push_back(*p);
  }
  if (curve.empty()) curve.push_back({1, 1});
  curve.push_back({});
  std::reverse(curve.begin(), curve.end());
  return curve;
}

double BackwardTime::seconds(double parts, bool kernel) const {
  return seconds(kernel ? with_ : without_, parts);
}

double BackwardTime::parts(double seconds) const {
  return std::min(parts(with_, seconds), parts(without_, seconds));
}

double BackwardTime::seconds(const Curve& curve, double parts) {
  if (parts <= 0) return parts;
  std::size_t i = 1;
  while (i + 1 < curve.size() && curve[i].parts < parts) ++i;
  // What is beyond the longest pass takes as much as it does.
  if (curve[i].parts < parts) return parts * (curve[i].seconds / curve[i].parts);
  return between(parts, curve[i - 1].parts, curve[i].parts, curve[i - 1].seconds, curve[i].seconds);
}

double BackwardTime::parts(const Curve& curve, double seconds) {
  if (seconds <= 0) return seconds;
  std::size_t i = 1;
  while (i + 1 < curve.size() && curve[i].seconds < seconds) ++i;
  if (curve[i].seconds < seconds) return seconds * (curve[i].parts / curve[i].seconds);
  return between(seconds, curve[i - 1].seconds, curve[i].seconds, curve[i - 1].parts,
                 curve[i].parts);
}

}  // namespace moil
