// What elastic training takes beside its steps, and what is left for them.
//
// ρ is of the whole time of full training: that reads batches too, but does not choose. A batch is
// read by another thread, on processors that the step would use.
#pragma once

#include <cstdint>
#include <span>

#include "engine/elastic/timing_profile.h"
#include "engine/train/batch_source.h"

namespace moil {

// Seconds.
struct ElasticOverhead {
  double read = 0;    // of a batch
  double choose = 0;  // of a choice: probe, selector and planning
  double probe = 0;   // of that the probe
};

// Of a batch of these samples, the median of some. inputs and targets have room for it.
[[nodiscard]] double read_seconds(BatchSource& source, std::span<const std::int64_t> samples,
                                  std::span<float> inputs, std::span<float> targets);

// What the network's step may take, for a choice and the steps that follow it to take
// speedup_ratio of as many full steps, batches read. The overhead is given a tenth of that at most:
// a run of few steps had better take too long than train hardly anything.
[[nodiscard]] double allowed_step_seconds(const TimingProfile& profile,
                                          const ElasticOverhead& overhead, double speedup_ratio,
                                          std::int64_t steps);

// The share of a full step from which on that leaves a step of smallest_ratio (of profile.step).
[[nodiscard]] double smallest_share(const TimingProfile& profile, const ElasticOverhead& overhead,
                                    double smallest_ratio, std::int64_t steps);

}  // namespace moil
