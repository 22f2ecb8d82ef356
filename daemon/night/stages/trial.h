// One trial: a small night on training samples alone (night_run.h). What stays of it are its
// figures, its maps in the cache and the checkpoint of what it trained.
#pragma once

#include <functional>

#include "daemon/night/settings/search.h"
#include "daemon/night/stages/night_cache.h"
#include "daemon/night/stages/night_context.h"

namespace moil::night {

// What all trials of a night share. All of it outlives them.
struct TrialGround {
  NightContext& night;
  NightCache& maps;
  const data::Mix& mix;                             // trial_mix()
  std::function<double()> seconds_left;             // a trial that is seen to need more is given up
  std::function<void(std::size_t bytes)> forecast;  // what a trial was forecast to take
  bool is_read = false;  // a trial before has read all samples: none needs to be looked at again
};

// Tries the job as it is filled, as the night's trial of this number; `unreadable` names samples
// that cannot be read, and the result is of no meaning then. What cannot be planned, as over a
// budget, or had no time is told in `failed`. `before`, unless null: how good the model before the
// night is on the trials' global held-out samples; left as it is if the trial ends before that is
// known. Throws Stopped.
[[nodiscard]] TrialResult try_settings(const TrialGround& ground, const Candidate& candidate,
                                       std::size_t number, UnreadableSamples& unreadable,
                                       std::optional<Quality>* before = nullptr);

}  // namespace moil::night
