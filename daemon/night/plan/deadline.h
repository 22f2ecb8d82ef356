// Ending a night in time: how many layers to train, and what share of a full step's time each step
// may take (rho), from a timing profile.
//
// The profile is of the deepest head that may be trained; what a shallower one takes is put
// together from its layers. The deeper of two heads that can be trained in time is taken, as long
// as at least half of a full step is left for it: below that, a shallower head learns more in the
// time.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/elastic/timing_profile.h"
#include "engine/model/freeze.h"
#include "engine/train/trainer.h"

namespace moil::night {

// Seconds of a step with the last trained_units trained, forward pass included.
struct HeadTimes {
  int trained_units = 0;
  double full = 0;      // everything learns
  double smallest = 0;  // of training the classifier alone
  double backbone = 0;  // that a sample takes longer in the backbone than with the deepest head
};

// By trained_units, from 1 to the deepest's. model: whole; batch_norms: whether they are frozen
// (freeze.batch_norms); config: of training. The profile's graph is the deepest head's.
[[nodiscard]] std::vector<HeadTimes> head_times(const ModelDescription& model,
                                                const Freeze& deepest, bool batch_norms,
                                                const TrainerConfig& config,
                                                const TimingProfile& profile);

struct HeadChoice {
  int trained_units = 0;
  double rho = 1;  // at most 1: everything learns
};

// What else a night takes, whatever is chosen.
struct NightCosts {
  double before = 0, after = 0;  // seconds: drawing, decoding and feature maps; judging
  std::int64_t steps = 0;
  std::int64_t feature_maps = 0;  // that the backbone computes
};

// Throws kInvalidArgument for a deadline that no head keeps, with the shortest possible.
[[nodiscard]] HeadChoice choose_head(std::span<const HeadTimes> heads, const NightCosts& costs,
                                     double deadline_seconds);

// rho for a head when its training begins; at least what it needs.
[[nodiscard]] double rho_in_time(const HeadTimes& head, double seconds_left, std::int64_t steps);

}  // namespace moil::night
