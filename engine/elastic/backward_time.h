// What a backward pass takes whose layers' parts are known one by one.
//
// The parts of a timing profile are those of trainings in which the error passes everything. Where
// only the last layers learn, the same layer takes more or less: up to a fifth more on one machine
// (what the forward pass has just written lies in the other core's cache), a tenth less on another
// (of less, the caches hold more). So backward passes that train the last layers, some and all of
// them, are measured as a whole (TailTiming), and what lies between is interpolated.
// (ElasticTrainer corrects its profiler's times by one factor for all, §4.1.)
#pragma once

#include <vector>

#include "engine/elastic/timing_profile.h"

namespace moil {

// A value, safe from any thread. Rises strictly with the parts; without tails it is the parts.
class BackwardTime {
 public:
  explicit BackwardTime(const TimingProfile& profile);

  double seconds(double parts) const;
  // The parts that take so long.
  double parts(double seconds) const;

 private:
  struct Point {
    double parts = 0, seconds = 0;
  };
  static double between(double x, double x0, double x1, double y0, double y1);

  std::vector<Point> points_;  // from nothing on; at least two
};

}  // namespace moil
