// When the intervals of a run are, what they use of its time, and how far the learning rate's
// schedule is in each: it follows the time that is used, not the number of steps.
//
// Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/elastic/elastic_interval.h"
#include "engine/train/schedule.h"

namespace moil {

class IntervalSchedule {
 public:
  // Each an epoch at least. speedup_ratio: ρ, a step's mean time, of a full step's.
  IntervalSchedule(std::int64_t interval_epochs, std::int64_t total_epochs, double speedup_ratio)
      : interval_epochs_(interval_epochs),
        total_epochs_(total_epochs),
        speedup_ratio_(speedup_ratio) {}

  bool begins_at(std::int64_t epoch, const std::vector<ElasticInterval>& so_far) const;
  // Of the interval that this epoch is in: the epoch after its last.
  std::int64_t end_of(std::int64_t epoch) const;
  std::int64_t epochs_from(std::int64_t first_epoch) const;

  // Of a full step's time, summed over the epochs of these intervals.
  double used(const std::vector<ElasticInterval>& so_far) const;
  // ElasticInterval::schedule_end of the next, whose epoch and share are known: as far on in the
  // rest of the schedule as it is in the rest of the time.
  double schedule_end(const std::vector<ElasticInterval>& so_far,
                      const ElasticInterval& next) const;
  // What the steps of the last interval go through. Expects one.
  ScheduleSpan span_of_last(const std::vector<ElasticInterval>& so_far,
                            std::int64_t steps_of_epoch) const;

 private:
  const std::int64_t interval_epochs_, total_epochs_;
  const double speedup_ratio_;
};

}  // namespace moil
