// What a backward pass takes whose layers' parts are known one by one.
//
// The parts of a timing profile are those of trainings in which the error passes everything. Where
// only the last layers learn, the same layer takes more or less: up to a fifth more on one machine
// (what the forward pass has just written lies in the other core's cache), a tenth less on another
// (of less, the caches hold more), and a classifier's kernel alone half or thrice as long. So
// backward passes of all lengths (backward_samples.h) are measured as a whole (BackwardTiming), the
// shorter ones with the last kernel and without, and what lies between is interpolated.
// (ElasticTrainer corrects its profiler's times by one factor for all, §4.1.)
#pragma once

#include <vector>

#include "engine/elastic/timing_profile.h"

namespace moil {

// A value, safe from any thread. Rises strictly with the parts; where none was measured it is the
// parts.
class BackwardTime {
 public:
  explicit BackwardTime(const TimingProfile& profile);

  // kernel: the last kernel learns (last_kernel()).
  double seconds(double parts, bool kernel) const;
  // As many parts as take no longer, whether the last kernel is among them or not.
  double parts(double seconds) const;

 private:
  struct Point {
    double parts = 0, seconds = 0;
  };
  using Curve = std::vector<Point>;  // from nothing on; at least two
  static Curve rising(const Curve& measured);
  static double seconds(const Curve& curve, double parts);
  static double parts(const Curve& curve, double seconds);

  Curve with_, without_;  // the last kernel
};

}  // namespace moil
