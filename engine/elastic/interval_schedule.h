// What the intervals of a run use of its time, and how far the learning rate's schedule is in each:
// it follows the time that is used, not the number of steps.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/elastic/elastic_interval.h"
#include "engine/train/schedule.h"

namespace moil {

// The epoch after the last of these intervals: where the next one begins.
[[nodiscard]] std::int64_t end_epoch(const std::vector<ElasticInterval>& intervals);

// Of a full step's time, summed over the epochs of these intervals.
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

// Steps that each tensor has taken in these intervals, by name (TrainState::updates), of a run that
// has done `steps`.
[[nodiscard]] std::map<std::string, std::int64_t, std::less<>> updates_of(
    const std::vector<ElasticInterval>& intervals, std::int64_t steps);

}  // namespace moil
