// What elastic training chose for an interval of epochs, how it went, what the intervals of a run
// use of its time, and how far the learning rate's schedule is in each: it follows the time that is
// used, not the number of steps. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/train/schedule.h"

namespace moil {

// Seconds that an interval really took: an input of the choices behind it.
struct IntervalSeconds {
  double step = 0;   // in the mean, waiting for batches included
  double whole = 0;  // with choosing and computing maps
};

struct ElasticInterval {
  std::int64_t epoch = 0;   // its first, from 0
  std::int64_t epochs = 0;  // that it has
  std::set<std::string> selection;
  std::map<std::string, double> importance;  // of every tensor, as last probed
  std::string cut;                           // the value that steps begin with; empty: the input
  double profile_seconds = 0;                // of a step, by the profile
  double step_seconds = 0;                   // predicted, by what the interval before took
  // What a step takes of a full step's time, and its part of choosing and of computing maps; as
  // predicted, and once the interval has ended as it was.
  double share = 0;
  double schedule_end = 1;        // how far the learning rate's schedule is at its end
  IntervalSeconds measured;       // so far
  std::size_t planned_bytes = 0;  // states that wait and weights before the cut included
  // What choosing took, and of that the probe (0: none) and the selector.
  double choosing_seconds = 0, probe_seconds = 0, selector_seconds = 0;
  double caching_seconds = 0;   // and computing maps
  std::int64_t first_step = 0;  // where the run stood when it began
  double seconds_before = 0;
};

// The epoch after the last of these intervals: where the next one begins.
[[nodiscard]] std::int64_t end_epoch(const std::vector<ElasticInterval>& intervals);

// The shares of a full step's time, summed over the epochs of these intervals.
[[nodiscard]] double used_epochs(const std::vector<ElasticInterval>& intervals);

// ElasticInterval::schedule_end of the next, whose epochs and share are known: as far on in the
// rest of the schedule as it is in the rest of the time. speedup_ratio: ρ, a step's mean time, of a
// full step's.
[[nodiscard]] double schedule_end(const std::vector<ElasticInterval>& so_far,
                                  const ElasticInterval& next, std::int64_t total_epochs,
                                  double speedup_ratio);

// What the steps of the last interval go through. Expects one.
[[nodiscard]] ScheduleSpan span_of_last(const std::vector<ElasticInterval>& intervals,
                                        std::int64_t steps_of_epoch);

}  // namespace moil
